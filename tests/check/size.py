"""Files and functions stay short enough to be read at once."""

import re

import common

MAX_FILE = {".h": 250}
MAX_OTHER_FILE = 400
MAX_FUNCTION = 60
# What an opening brace follows when it begins a scope that may hold functions.
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^;()]*$")
FUNCTION = re.compile(r"\)\s*(const|noexcept|override|final|mutable|->\s*[\w:<>,&*\s]+|&&?|\s)*$")
# A constructor: its list of members stands between the parameters and the body.
CONSTRUCTOR = re.compile(r"\)\s*(noexcept\s*)?:\s*\w.*[)}]\s*$", re.DOTALL)


def functions(text):
    """(first line, last line) of each function body at namespace or class level."""
    stack, start, line, statement_line = [], 0, 1, 1
    for position, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char in ";}" or (char == "{" and all(stack)):
            head = text[start:position]
            start = position + 1
            if char == "{":
                scope = bool(SCOPE.search(head))
                body = bool(FUNCTION.search(head) or CONSTRUCTOR.search(head))
                statement_line = line - head.strip().count("\n") if body and not scope else 0
                stack.append(scope)
        elif char == "{":
            stack.append(False)
        if char == "}" and stack:
            scope = stack.pop()
            if not scope and all(stack) and statement_line:
                yield statement_line, line
                statement_line = 0


def check(root, _arguments):
    found = []
    for path in common.sources(root, suffixes=(*common.CXX, ".c", ".py", ".sh")):
        text = (root / path).read_text(encoding="utf-8")
        limit = MAX_FILE.get(path.suffix, MAX_OTHER_FILE)
        lines = text.count("\n")
        if lines > limit:
            found.append(common.Violation(path, lines, f"longer than {limit} lines"))
        if path.suffix not in common.CXX:
            continue
        for first, last in functions(common.without_comments(text)):
            if last - first + 1 > MAX_FUNCTION:
                found.append(common.Violation(
                    path, first, f"a function of {last - first + 1} lines, over {MAX_FUNCTION}"))
    return found


if __name__ == "__main__":
    common.run(check, __doc__)
