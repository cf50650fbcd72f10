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
    "names-in-capitals": lambda t: write([[name.upper() for name in t[0]]] + each(t, number)[1:]),
    "cr": lambda t: write(each(t, number), lineterminator="\r"),
    "excel-separator": lambda t: "sep=;\r\n" + write(each(t, comma), delimiter=";", lineterminator="\r\n"),
    "sheets-europe": lambda t: write(each(t, comma)),
    "pandas-index": lambda t: write([[""] + t[0]] + [[str(i)] + row for i, row in enumerate(each(t, number)[1:])]),
    "pandas-index-read-and-written": lambda t: write(
        [["", "Unnamed: 0"] + t[0]] + [[str(i), str(i)] + row for i, row in enumerate(each(t, number)[1:])]
    ),
    "utf-16": lambda t: write(each(t, comma), delimiter="\t", lineterminator="\r\n"),
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
        with open(view, "w", newline="", encoding="utf-16" if sys.argv[1] == "utf-16" else "utf-8") as f:
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
indexed=$(find "$MNT" -path '*/bones/*.csv' -exec sed -n '$=' {} \; | grep -vcx 1) # those with rows to count
before=$(stamps)
for way in $(python3 "$WORK/rewrite.py" ways); do
	is "$way: is accepted" "$(python3 "$WORK/rewrite.py" "$way" "${tables[@]}")" ""
	is "$way: the binaries stay" "$(stamps)" "$before"
	case $way in
	pandas-*) is "$way: is named" "$(grep -c ': saved: ignored the first column' "$MNT/.animfs/errors")" "$indexed" ;;
	*) is "$way: nothing is refused or ignored" "$(<"$MNT/.animfs/errors")" "" ;;
	esac
done

# ---- an index column beside an edit, wherever it is saved ----

index() { awk 'NR == 1 { print "," $0; next } { print NR - 2 "," $0 }' "$1"; }

BONE=walk/bones/Bone01.csv
ignored='ignored the first column, which has no name and counts the rows; pandas writes none with to_csv\(index=False\), R none with row.names=FALSE'
sed '2s/,1,1,1$/,2,2,2/' "$MNT/wiki512.canm/$BONE" >"$WORK/edit"
index "$WORK/edit" >"$WORK/indexed"
ok "a save with an index" cp "$WORK/indexed" "$MNT/wiki512.canm/$BONE"
like "is an edit" "$(sed -n 2p "$MNT/wiki512.canm/$BONE")" ',2,2,2$'
like "its index is named" "$(<"$MNT/.animfs/errors")" "^wiki512.canm/$BONE: saved: $ignored\$"
ok "a save without one" cp "$WORK/edit" "$MNT/wiki512.canm/$BONE"
is "has nothing to name" "$(<"$MNT/.animfs/errors")" ""
cp -r "$MNT/wiki512.canm/walk" "$WORK/walk"
cp "$WORK/indexed" "$WORK/walk/bones/Bone01.csv"
ok "a folder with one" cp -r "$WORK/walk" "$MNT/wiki512.canm/walk2"
ok "becomes a clip" wait_for 10 grep -q ,2,2,2 "$MNT/wiki512.canm/walk2/bones/Bone01.csv"
said() { grep -Eq "^wiki512.canm/walk2/bones/Bone01.csv: saved: $ignored\$" "$MNT/.animfs/errors"; }
ok "its index is named" wait_for 10 said

# ---- edits in each form, seen in the binary by a reader that shares no code with the program ----

own() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/filesystems python3 -c "import oracle, sys; $1" "$2"; }
own 'open(sys.argv[1], "wb").write(oracle.write(oracle.sample()))' "$SRC/own.canm"
ok "a file that is made independently" wait_for 10 test -d "$MNT/own.canm/walk"
utf16() { printf '%b' "$2" && iconv -f UTF-8 -t "$1"; }

# edited NAME VALUES: standard input is saved as a bone's table; the binary then has these values
edited()
{
	cat >"$WORK/cells"
	ok "$1: is saved" cp "$WORK/cells" "$MNT/own.canm/walk/bones/hips.csv"
	is "$1: the binary" "$(own 'print(oracle.read(open(sys.argv[1], "rb").read())[0].bones["hips"])' "$SRC/own.canm")" "$2"
}
columns=frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz
edited "Google Sheets in Europe" '[(1.75, -2.0, 0.25)]' \
	< <(printf '%s\n0,0,"1,75",-2,"0,25",,,,,,\n' $columns)
edited "every cell in quotes" '[(2.75, -2.0, -1.25)]' \
	< <(printf '"%s"\n"0","0","2,75","-2","-1,25","","","","","",""\n' "${columns//,/\",\"}")
edited "Excel with a sep= line" '[(3.75, -2.0, 0.25)]' \
	< <(printf 'sep=;\r\n%s\r\n0;0;3,75;-2;0,25;;;;;;\r\n' "${columns//,/;}")
edited "one that names the comma" '[(4.75, -2.0, 0.25)]' \
	< <(printf 'sep=,\r\n%s\r\n0,0,4.75,-2,0.25,,,,,,\r\n' $columns)
edited "Excel's Unicode text" '[(5.75, -2.0, 0.25)]' \
	< <(printf '%s\r\n0\t0\t5,75\t-2\t0,25\t\t\t\t\t\t\r\n' "${columns//,/$'\t'}" |
		utf16 UTF-16LE '\xff\xfe')
edited "the same from a big-endian program" '[(6.75, -2.0, 0.25)]' \
	< <(printf '%s\r\n0\t0\t6.75\t-2\t0.25\t\t\t\t\t\t\r\n' "${columns//,/$'\t'}" |
		utf16 UTF-16BE '\xfe\xff')
edited "names in any case" '[(7.75, -2.0, 0.25)]' \
	< <(printf 'Frame,TIME,Tx,tY,TZ,rX,RY,Rz,sx,SY,Sz\n0,0,7.75,-2,0.25,,,,,,\n')
edited "an index" '[(8.75, -2.0, 0.25)]' \
	< <(printf ',%s\n0,0,0,8.75,-2,0.25,,,,,,\n' $columns)
python=python3 # one's own lacks Debian's packages
$python -c 'import pandas' 2>"$WORK/why" || python=/usr/bin/python3
if $python -c 'import pandas' 2>"$WORK/why"; then
	$python - "$MNT/own.canm/walk/bones/hips.csv" >"$WORK/pandas" <<-'PYTHON'
	import pandas, sys
	table = pandas.read_csv(sys.argv[1])
	table.loc[0, "tx"] = 9.75
	table.to_csv(sys.stdout)
	PYTHON
	edited "pandas" '[(9.75, -2.0, 0.25)]' <"$WORK/pandas"
else
	skip "pandas is not installed: apt-get install python3-pandas"
fi
umount_animfs

cp tests/data/canm/wiki512.canm "$SRC/put.canm"
like "put names it" "$("$ANIMFS" put "$SRC/put.canm/$BONE" "$WORK/indexed" 2>&1)" "^animfs: $WORK/indexed: $ignored\$"
like "and saves" "$("$ANIMFS" cat "$SRC/put.canm/$BONE")" ,2,2,2
is "without one it is silent" "$("$ANIMFS" put "$SRC/put.canm/$BONE" "$WORK/edit" 2>&1)" ""
mkdir "$WORK/one"
cp tests/data/canm/wiki512.canm "$WORK/one/a.canm"
"$ANIMFS" export "$WORK/one" "$WORK/texts" >"$WORK/export" 2>&1
cp "$WORK/indexed" "$WORK/texts/a.canm/$BONE"
like "import names it" "$("$ANIMFS" import "$WORK/texts" "$WORK/one" 2>&1 >"$WORK/import")" \
	"animfs: .*/a.canm/$BONE: $ignored"
like "and saves" "$("$ANIMFS" cat "$WORK/one/a.canm/$BONE")" ,2,2,2
