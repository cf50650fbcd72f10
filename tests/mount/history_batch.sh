#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_batch.sh - undo --batch=ID FOLDER takes back the changes below that folder, and nothing else.
. "$(dirname "$0")/lib.sh"
SAMPLE=tests/data/canm/wiki512.canm
mkdir "$SRC/.animfs" "$SRC/one" "$SRC/one more"
cp "$SAMPLE" "$SRC/one/w.canm"
cp "$SAMPLE" "$SRC/one more/w.canm"
"$ANIMFS" export "$SRC" "$WORK/out" >/dev/null
sed -i 's/,1.5,-2,/,2.5,-2,/' "$WORK/out"/*/w.canm/walk/bones/Bone01.csv
"$ANIMFS" import "$WORK/out" "$SRC" >"$WORK/said" 2>&1
id=$("$ANIMFS" log "$SRC/one/w.canm" | sed -n 's/.*batch \([0-9a-f]*\).*/\1/p' | head -1)
fails "both are imported" cmp -s "$SRC/one more/w.canm" "$SAMPLE"
ok "undo below a folder" "$ANIMFS" undo --batch="$id" "$SRC/one"
ok "its file is as it was" same_file "$SRC/one/w.canm" "$SAMPLE"
fails "that of a folder beside it is not" cmp -s "$SRC/one more/w.canm" "$SAMPLE"
ok "undo of the rest" "$ANIMFS" undo --batch="$id" "$SRC/one more"
ok "that one, too" same_file "$SRC/one more/w.canm" "$SAMPLE"
