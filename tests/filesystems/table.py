# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured as the table that the manual has."""
from facts import STEP_WORDS

TITLES = ("Filesystem", "Works", "Flags", "Links", "Xattrs", "Owners", "Watched", "Leases", "Times", "Ctime")


def yes(has):
    return "yes" if has else "no"


def flags(found):
    return {2: "both", 1: found[0] if found else "", 0: "no"}[len(found)]


def works(result):
    """Of the checks, where the filesystem itself keeps what it is given."""
    bad, lost = (sum(numbers[i] for numbers in result["sums"].values()) for i in (1, 2))
    if lost or not result["facts"]["folders"]:
        return "unsound"
    return "mostly" if bad else "all"


def watched(inotify):
    return {"yes": "yes", "no": "no", "changes made here": "here"}[inotify]


def owners(facts):
    if facts["owners"] and facts["modes"]:
        return "yes"
    return "modes" if facts["modes"] else "no"


def row(name, result):
    facts = result["facts"]
    return (name, works(result), flags(facts["flags"]), yes(facts["links"]), yes(facts["xattrs"]),
            owners(facts), watched(facts["inotify"]), yes(facts["leases"]), STEP_WORDS[facts["step"]],
            yes(facts["ctime"]))


def rows(found):
    return [row(name, result) for name, result in found.items()]


def as_text(table):
    widths = [max(len(line[i]) for line in (TITLES, *table)) for i in range(len(TITLES))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in (TITLES, *table))


def as_mdoc(line):
    return ".It " + " Ta ".join(f'"{cell}"' if " " in cell else cell for cell in line)


def missing(table, manual):
    with open(manual, encoding="utf-8") as file:
        lines = {line.rstrip("\n") for line in file}
    return [line for line in table if as_mdoc(line) not in lines]
