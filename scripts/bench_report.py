#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench_report.py WORK ROUNDS TABLE [PICTURE] - the table of bench.sh, from the rows and samples that
it left in WORK. With PICTURE: the table of all rows, with what they mean, and the same drawn.

bench_report.py --base COMMIT WORK ROUNDS TABLE - what WORK/now has, against what WORK/base has."""

import html
import math
import os
import platform
import re
import statistics
import subprocess
import sys


class Row:
    def __init__(self, work, what, unit, mine, bar, theirs=None, name=None):
        self.what, self.unit, self.bar, self.name = what, unit, bar, name
        self.mine = samples(work, mine)
        self.theirs = samples(work, theirs) if theirs else []
        sense, limit = bar.split()
        self.limit = float(limit)
        self.least = sense == ">="
        self.figures = [a / b for a, b in zip(self.mine, self.theirs)] if theirs else self.mine
        self.median = statistics.median(self.figures)

    def met(self):
        return self.median >= self.limit if self.least else self.median <= self.limit

    def share(self, figure):
        """How much of the bar a figure takes: at most 1 where it is met."""
        if self.limit == 0:
            return 2.0 if figure > 0 else 0.0
        if self.least:
            return self.limit / figure if figure > 0 else math.inf
        return figure / self.limit


def samples(work, name):
    with open(os.path.join(work, "t." + name)) as file:
        return [float(line) for line in file]


def number(value):
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def amount(values, unit):
    return f"{number(statistics.median(values))} {unit}".strip()


def ratio(row):
    low, high = min(row.figures), max(row.figures)
    spread = f" ({number(low)} to {number(high)})" if len(row.figures) > 1 else ""
    return f"**{number(row.median)}**{spread}"


def bar(row):
    sense = "at least" if row.least else "at most"
    return f"{sense} {number(row.limit)}" + ("" if row.theirs else f" {row.unit}".rstrip())


def line(row):
    theirs = f"{row.name}: {amount(row.theirs, row.unit)}" if row.theirs else ""
    cells = (row.what, amount(row.mine, row.unit), theirs, ratio(row), bar(row),
             "yes" if row.met() else "**no**")
    return "| " + " | ".join(cells) + " |\n"


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    fuse = subprocess.run(["pkg-config", "--modversion", "fuse3"], capture_output=True, text=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{model.group(1) if model else platform.machine()}, {os.cpu_count()} cores, "
            f"{memory:.0f} GiB, Linux {re.match('[0-9.]*', platform.release()).group()}, "
            f"libfuse {fuse.stdout.strip()}")


INTRODUCTION = """# Measurements

Made by `make bench` in one run: {rounds} rounds (of long rows fewer), in which the sides of a
comparison take turns. Times are medians; a ratio is taken within each round, its median is printed
bold, with the least and the greatest beside it.

Machine: {machine}.
SOURCE lies on a disk (W2 and W4, which are many files: on tmpfs) and is in the page cache; texts to
compare with lie on tmpfs.

* W1: 100 CANM files of 4 clips of 40 bones and 45 frames, half of them with Euler angles and half
  with quaternions: 16,000 bone CSVs. W2: ten times that.
* W3: one CANM file of 10 MB: 40 clips of 200 bones and 245 frames.
* W4: 100,000 ordinary small files and 1,000 animations, 64 animations to a folder.
* tmpfs: the same text, copied out. passthrough_ll: libfuse's example, `cache=always`, over that copy.
  plain files: `sed -i` on a copy of the text, and `cp`, fsync and `mv` of the binary.
* cold: the first use of a fresh mount; warm: done at least once before, of folders twice. Text is
  rendered and parsed, and files are decoded, in memory on one core.

"""


def write_table(file, rows):
    file.write("| what | animfs | compared with | ratio, or figure | bar | met |\n")
    file.write("|---|---|---|---|---|---|\n")
    for row in rows:
        file.write(line(row))


LEFT, WIDTH, HEIGHT, TOP = 400, 360, 18, 34
LOWEST, HIGHEST = 1 / 16, 8.0


def place(share):
    """On a logarithmic axis; the bar stands at 1."""
    share = min(max(share, LOWEST), HIGHEST)
    return LEFT + WIDTH * math.log(share / LOWEST) / math.log(HIGHEST / LOWEST)


def picture_row(row, y):
    colour = "#2a7" if row.met() else "#c33"
    shares = sorted(row.share(figure) for figure in row.figures)
    middle = place(row.share(row.median))
    plain = html.escape(row.what.replace("`", ""))
    against = f" / {row.name}" if row.theirs else f" {row.unit}".rstrip()
    figure = html.escape(f"{number(row.median)}{against}, {bar(row)}")
    return (f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{plain}</text>'
            f'<rect x="{LEFT}" y="{y + 4}" width="{middle - LEFT:.1f}" height="10" fill="{colour}"/>'
            f'<path d="M{place(shares[0]):.1f} {y + 9}H{place(shares[-1]):.1f}" stroke="#222"/>'
            f'<text x="{LEFT + WIDTH + 8}" y="{y + 13}">{figure}</text>\n')


def write_picture(file, rows):
    height = TOP + HEIGHT * len(rows) + 8
    one = place(1)
    file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1040 {height}" '
               'font-family="sans-serif" font-size="11">\n'
               '<rect width="100%" height="100%" fill="#fff"/>\n'
               f'<text x="{one:.1f}" y="22" text-anchor="middle">the bar; shorter is better</text>\n')
    for i, row in enumerate(rows):
        file.write(picture_row(row, TOP + HEIGHT * i))
    file.write(f'<path d="M{one:.1f} {TOP - 6}V{height - 4}" stroke="#222" stroke-dasharray="3 2"/>\n'
               '</svg>\n')


# ---- two programs ----

COMPARISON = """# Against an earlier version

Made by `make bench BASE={base}` in one run: {rounds} rounds, in which that program and this one
take turns. Figures are medians; a ratio is taken within each round, its median is printed bold, with
the least and the greatest beside it, so that less than 1 is better than before. "cpu" is the
processor time of the daemon, user and system.

Machine: {machine}.

"""


def ratio_of(before, now, least):
    """The cost now, as a multiple of the cost before."""
    pairs = [(b, n) if not least else (n, b) for b, n in zip(before, now)]
    ratios = [n / b if b else (1.0 if n == b else math.inf) for b, n in pairs]
    return (f"**{number(statistics.median(ratios))}** "
            f"({number(min(ratios))} to {number(max(ratios))})")


def compared(work, row):
    sides = [samples(os.path.join(work, side), row["mine"]) for side in ("base", "now")]
    cells = [row["what"], *(amount(side, row["unit"]) for side in sides),
             ratio_of(*sides, row["least"])]
    try:
        sides = [samples(os.path.join(work, side), row["mine"] + ".cpu")
                 for side in ("base", "now")]
        cells += [*(amount(side, "ms") for side in sides), ratio_of(*sides, False)]
    except FileNotFoundError:
        cells += ["", "", ""]
    return "| " + " | ".join(cells) + " |\n"


def rows_of(work):
    """Each measured thing once: rows may hold it against several others."""
    seen = set()
    with open(os.path.join(work, "now", "rows")) as file:
        for text in file:
            what, unit, mine, bar_text = text.rstrip("\n").split("\t")[:4]
            if mine in seen:
                continue
            seen.add(mine)
            yield {"what": what, "unit": unit, "mine": mine, "least": bar_text.startswith(">=")}


def compare(base, work, rounds, table):
    with open(table, "w") as file:
        file.write(COMPARISON.format(base=base, rounds=rounds, machine=machine()))
        file.write("| what | before | now | ratio | cpu before | cpu now | ratio |\n")
        file.write("|---|---|---|---|---|---|---|\n")
        for row in rows_of(work):
            file.write(compared(work, row))


def main():
    if sys.argv[1] == "--base":
        compare(*sys.argv[2:])
        return
    work, rounds, table, *picture = sys.argv[1:]
    with open(os.path.join(work, "rows")) as file:
        rows = [Row(work, *text.rstrip("\n").split("\t")) for text in file]
    with open(table, "w") as file:
        if picture:
            file.write(INTRODUCTION.format(rounds=rounds, machine=machine()))
        write_table(file, rows)
    for path in picture:
        with open(path, "w") as file:
            write_picture(file, rows)


main()
