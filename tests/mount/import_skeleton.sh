#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# import_skeleton.sh - a file's bones and its skeleton are imported together: if the skeleton cannot be
# saved, the file stays as it was, or the import says that it changed.
. "$(dirname "$0")/lib.sh"
SAMPLE=tests/data/canm/wiki512.canm
STATE=$WORK/state
OUT=$WORK/out/w.canm
mkdir "$STATE"
cp "$SAMPLE" "$SRC/w.canm"
"$ANIMFS" export "$SRC" "$WORK/out" >/dev/null
sed -i 's/,1.5,-2,/,2.5,-2,/' "$OUT/walk/bones/Bone01.csv"
python3 - "$OUT/skeleton.csv" <<'EOF'
import sys
lines = open(sys.argv[1]).read().split("\n")
cells = lines[1].split(",")
cells[2] = "9.5"
lines[1] = ",".join(cells)
open(sys.argv[1], "w").write("\n".join(lines))
EOF
import() { "$ANIMFS" import --state="$STATE" "$WORK/out" "$SRC" 2>&1; }

printf 'this, is no\nskeleton "x' >"$SRC/w.canm.skeleton.csv"
said=$(import)
is "a skeleton that cannot be saved: refused" $? 1
like "is counted" "$said" '0 changed, 1 rejected'
ok "the file is as it was" same_file "$SRC/w.canm" "$SAMPLE"
rm "$SRC/w.canm.skeleton.csv"

if has_faults; then
	# Renames in SRC: the file's, and then that of the skeleton's text.
	echo "rename 5 $SRC 2" >"$WORK/fault"
	said=$(FAULT=$WORK/fault LD_PRELOAD=$FAULTS import)
	ok "a skeleton whose file cannot be written: status" test $? -ne 0
	like "is counted as both" "$said" '1 changed, 1 rejected'
	like "the file is named" "$said" 'changed w\.canm'
	fails "which it is" cmp -s "$SRC/w.canm" "$SAMPLE"
	fails "the skeleton is not" test -e "$SRC/w.canm.skeleton.csv"
	said=$(import)
	is "the next import" $? 0
	ok "saves it" test -e "$SRC/w.canm.skeleton.csv"
fi
