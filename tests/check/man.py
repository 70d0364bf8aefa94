"""Every option and command that a program's --help tells is in its man page, and nothing else is."""

import re
import subprocess

import common

PAGES = {"daemon/cli/man/sockhop.1": "sockhop", "daemon/cli/man/sockhopd.8": "sockhopd"}
OPTION = re.compile(r"(?<![\w/-])--?[a-zA-Z][\w-]*")


def help_of(words):
    return subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=20,
                          check=True).stdout


def told(words):
    """Options of a program and of its commands, and the commands as "profile apply"."""
    options, commands = set(), set()
    section = ""
    for line in help_of(words).splitlines():
        if line and not line.startswith(" "):
            section = line.rstrip(":")
        elif section == "Options" and re.match(r"  -", line):
            options |= set(OPTION.findall(line.split()[0]))
        elif section == "Subcommands" and re.match(r"  \w", line):
            name = line.split()[0]
            below = told([*words, name])
            options |= below[0]
            commands |= {f"{name} {each}" for each in below[1]} or {name}
    return options, commands


def without_markup(text):
    text = re.sub(r"\\f.", "", text.replace("\\-", "-").replace("\\(dq", '"'))
    return re.sub(r'^(\.[A-Z]+ )(.*)$', lambda m: m.group(1) + m.group(2).replace('"', ""), text,
                  flags=re.MULTILINE)


def check_page(root, bin_dir, page, program):
    text = without_markup((root / page).read_text(encoding="utf-8"))
    options, commands = told([str(bin_dir / program)])
    written = set(OPTION.findall(text))
    for option in sorted(options - written):
        yield common.Violation(page, 0, f"does not tell {option}")
    for option in sorted(written - options):
        yield common.Violation(page, 0, f"tells {option}, which {program} does not have")
    for command in sorted(commands):
        if not re.search(rf"^\.B[A-Z]* {command}\b", text, re.MULTILINE):
            yield common.Violation(page, 0, f"does not tell the command {command}")


def check(root, arguments):
    return [violation for page, program in PAGES.items()
            for violation in check_page(root, arguments.bin.resolve(), page, program)]


if __name__ == "__main__":
    common.run(check, __doc__, ["--bin"])
