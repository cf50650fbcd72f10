#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# calc.sh - LibreOffice Calc itself: what it converts is what the view says, and what is edited and
# stored there in place is in the binary, and nothing else changed.
. "$(dirname "$0")/../mount/lib.sh"
. "$(dirname "$0")/edit.bash"
. "$(dirname "$0")/office.bash"

# A PyUNO that crashes when Python ends, in place of LibreOffice's.
mkdir -p "$WORK"/crashing/com/sun/star/{beans,connection,io}
cat >"$WORK/crashing/uno.py" <<'PYTHON'
import atexit, os
from unittest.mock import MagicMock

getComponentContext = MagicMock()
atexit.register(os.abort)
PYTHON
echo 'PropertyValue = dict' >"$WORK/crashing/com/sun/star/beans/__init__.py"
echo 'NoConnectException = OSError' >"$WORK/crashing/com/sun/star/connection/__init__.py"
echo 'IOException = OSError' >"$WORK/crashing/com/sun/star/io/__init__.py"
crashing() { PYTHONPATH=$WORK/crashing /usr/bin/python3 "$HERE/calc.py" pipe "$WORK" "$@"; }
ok "what is done counts, if PyUNO then crashes" crashing store
like "and what failed is said" "$(crashing unknown 2>&1 | tail -n 1)" "^ValueError: .*unknown"
fails "and a failure" crashing unknown

has_office || skip_all "libreoffice-calc or python3-uno is not installed"
TABLE=${TABLES:-$WORK}/calc
mount_animfs
start_office
convert() { timeout 120 soffice "-env:UserInstallation=file://$WORK/converting" --headless "$@" >/dev/null 2>&1; }

FILTER='csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false'
note() { printf '%-44s%s\n' "$1" "$2" >>"$TABLE"; }
: >"$TABLE"

# outcome BEFORE NAME: a line of the table, by whether a check failed since.
outcome() { if [ "$FAILED" -eq "$1" ]; then note "$2" saved; else note "$2" FAILED; fi; }

for view in canm/bone.csv canm/curves.csv cas/bone.csv owanim/curves.csv ff9anim/bone.csv ribbon/curves.csv; do
	prepare "$view"
	fresh "$view"
	before=$FAILED

	names=$(ls -A "${F%/*}")
	stamp=$(stat -c '%i %Y %Z' "$BINARY")
	ok "$view: opened and closed" calc "$F"
	ok "$view: stored as it is" calc "$F" store
	is "$view: changes nothing" "$(stat -c '%i %Y %Z' "$BINARY")" "$stamp"
	ok "$view: a cell, stored" calc "$F" "$(cell_of)" store
	ok "$view: the binary" wait_for 3 cmp -s "$BINARY" "$EDITED"
	is "$view: the folder" "$(ls -A "${F%/*}")" "$names"
	ok "$view: stored twice" calc "$F" store store
	ok "$view: no more" cmp "$BINARY" "$EDITED"
	outcome "$before" "$view, a cell stored in place"

	# What is converted elsewhere and copied back is what was there.
	before=$FAILED
	rm -rf "$WORK/out"
	ok "$view: to xlsx" convert --convert-to xlsx --outdir "$WORK/out" "$F"
	ok "$view: and to csv" convert --convert-to "$FILTER" --outdir "$WORK/out" "$WORK"/out/*.xlsx
	ok "$view: comes back" cp "$WORK/out/${F##*/}" "$F"
	ok "$view: and changes nothing" cmp "$BINARY" "$EDITED"
	ok "$view: to csv" convert --convert-to csv --outdir "$WORK/out" "$F"
	ok "$view: comes back too" cp "$WORK/out/${F##*/}" "$F"
	ok "$view: and changes nothing either" cmp "$BINARY" "$EDITED"
	if [ "$FAILED" -eq "$before" ]; then note "$view, to xlsx and csv and back" "nothing changed"; fi
done

# A row is inserted where its frame belongs: a key more.
cp tests/data/owanim/walk.006 "$SRC/"
before=$FAILED
F=$MNT/walk.006/walk/bones/bone_0F30.csv
ok "a row inserted, stored" calc "$F" insert=2 2,0=1 2,9=2 2,10=3 2,11=4 store
is "is a key more, and nothing else" \
	"$(diff <(curves_of tests/data/owanim/walk.006) <(curves_of "$SRC/walk.006"))" \
	"$(printf '%s\n' 11a12 '> bone_0F30,scale,1,0.033333,2,3,4,')"
outcome "$before" "owanim/bone.csv, a row inserted"

# What cannot be stored is refused: the user is told, and the text is kept.
before=$FAILED
fails "a date for a number, stored" calc "$F" 1,9=1-2-x store
ok "is refused with the text kept" grep -q 1-2-x "$F.rejected"
like "and the reason" "$(<"$F.error")" '"1-2-x" is not a number'
ok "the binary stays" eval "'$ANIMFS' cat '$SRC/walk.006/walk/curves.csv' | grep -q '^bone_0F30,scale,1,0.033333,2,3,4,$'"
if [ "$FAILED" -eq "$before" ]; then note "owanim/bone.csv, a cell that is no number" "refused, said so"; fi

umount_animfs
