"""The answer "run the call yourself" is constructed in exactly one place of the tree."""

import common

FLAG = "SECCOMP_USER_NOTIF_FLAG_CONTINUE"


def check(root, _arguments):
    places = [common.Violation(path, number, f"constructs {FLAG}")
              for path in common.sources(root, ("daemon", "hook"))
              for number, line in common.numbered_lines(root, path) if FLAG in line]
    if len(places) == 1:
        return []
    return places or [common.Violation("daemon", 0, f"nobody constructs {FLAG}")]


if __name__ == "__main__":
    common.run(check, __doc__)
