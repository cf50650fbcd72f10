#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# spreadsheet.sh - what spreadsheets make of a CSV that nobody edited leaves the binary as it is,
# byte for byte.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,odd512,nan512,edf6_768}.canm "$SRC"
make_game --files 2 --clips 1 --bones 8 --frames 6 --version mix --plain 0
mount_animfs

# Numbers at the ends of what a float32 can be, and a negative zero.
ok "a curve of extremes" sed -i \
	's/^0,0,1.5,-2,0.25,/0,0,-0,0.000000059604645,340282346638528859811704183484516925440,/' \
	"$MNT/wiki512.canm/walk/bones/Bone01.csv"
like "is served without exponents" "$(<"$MNT/wiki512.canm/walk/bones/Bone01.csv")" \
	'0,0,-0,0.000000059604645,3402823466[0-9]*,-180'

cat >"$WORK/rewrite.py" <<'PYTHON'
# rewrite.py WAY FROM TO...: saves the rewritten FROM as TO, and prints what could not be saved.
# Not from the view itself: that says what was saved there last.
import csv, io, math, sys


def number(cell):
    """A cell as LibreOffice keeps it: 15 digits, no negative zero."""
    try:
        value = float(cell)
    except ValueError:
        return cell
    if not math.isfinite(value):
        return cell
    return "0" if value == 0 else "%.15g" % value


def comma(cell):
    return number(cell).replace(".", ",")


def exponent(cell):
    try:
        value = float(cell)
    except ValueError:
        return cell
    return "%.14E" % value if math.isfinite(value) else cell


def no_nan(cell):
    return "" if cell in ("nan", "inf", "-inf") else number(cell)


def each(rows, change):
    return [rows[0]] + [row[:1] + [change(cell) for cell in row[1:]] for row in rows[1:]]


def write(rows, **dialect):
    out = io.StringIO()
    csv.writer(out, **{"lineterminator": "\n", **dialect}).writerows(rows)
    return out.getvalue()


ways = {
    "quoted": lambda t: write(each(t, number), quoting=csv.QUOTE_NONNUMERIC),
    "crlf": lambda t: write(each(t, number), lineterminator="\r\n"),
    "bom": lambda t: "\ufeff" + write(each(t, number)),
    "semicolon": lambda t: write(each(t, comma), delimiter=";"),
    "semicolon-point": lambda t: write(each(t, number), delimiter=";"),
    "tab": lambda t: write(each(t, number), delimiter="\t"),
    "tab-comma": lambda t: write(each(t, comma), delimiter="\t"),
    "exponents": lambda t: write(each(t, exponent)),
    "frames-as-floats": lambda t: write([t[0]] + [[row[0] + ".0"] + row[1:] for row in t[1:]]),
    "trailing-columns": lambda t: write([row + ["", ""] for row in each(t, number)]),
    "thousands-of-blanks": lambda t: write([row + [""] * 1000 for row in each(t, number)])
    + ("," * 1010 + "\n") * 1000,
    "locale-exponents": lambda t: write(each(t, lambda c: exponent(c).replace(".", ",")), delimiter=";"),
    "trailing-lines": lambda t: write(each(t, number)) + "\n\n,,,,\n",
    "no-last-newline": lambda t: write(each(t, number)).rstrip("\n"),
    "columns-reversed": lambda t: write([row[::-1] for row in each(t, number)]),
    "rows-reversed": lambda t: write([t[0]] + each(t, number)[:0:-1]),
    "blanks-for-nan": lambda t: write(each(t, no_nan)),
    "libreoffice": lambda t: write(
        [['"%s"' % name for name in t[0]]] + each(t, number)[1:], quoting=csv.QUOTE_NONE, quotechar=None
    ),
}

if sys.argv[1:] == ["ways"]:
    print(*ways)
for original, view in zip(sys.argv[2::2], sys.argv[3::2]):
    with open(original, newline="") as f:
        table = list(csv.reader(f))
    try:
        with open(view, "w", newline="") as f:
            f.write(ways[sys.argv[1]](table))
    except OSError as error:
        print(view, error.strerror)
PYTHON

stamps()
{
	find "$SRC" -name .animfs -prune -o -name '*.canm' -printf '%P %i %T@ %C@\n' -exec md5sum {} \; | sort
}

mkdir "$WORK/tables"
tables=()
while read -r path; do
	tables+=("$WORK/tables/${#tables[@]}" "$path")
	cp "$path" "${tables[-2]}"
done < <(find "$MNT" -path '*/bones/*.csv')
before=$(stamps)
for way in $(python3 "$WORK/rewrite.py" ways); do
	is "$way: is accepted" "$(python3 "$WORK/rewrite.py" "$way" "${tables[@]}")" ""
	is "$way: the binaries stay" "$(stamps)" "$before"
done
is "nothing was refused" "$(<"$MNT/.animfs/errors")" ""
umount_animfs
