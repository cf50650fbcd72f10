#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bursts.sh - a folder is copied out, one cell is edited there, and it is copied back over the
# original: that edit is in the binary, and nothing else is changed, whatever the order of the
# copies. A text that is saved twice is taken at its word.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_animfs
TOP=$MNT/wiki512.canm
cp -r "$TOP" "$WORK/out"
cp "$NEW" "$WORK/out/$BONE"
cd "$WORK/out" && find . -type f ! -path '*/frames/*' | sort >"$WORK/forth" && cd - >/dev/null || exit 1
sort -r "$WORK/forth" >"$WORK/back"

fresh()
{
	sleep 2.3
	cp "$SAMPLE" "$SRC"
	wait_for 3 cmp -s "$TOP/raw.canm" "$SAMPLE"
}

# edited NAME: the edit is in the binary, and nothing else
edited()
{
	ok "$1: the edit is in the binary, and nothing else" cmp "$SRC/wiki512.canm" "$EDITED"
	ok "$1: the view says it" cmp "$TOP/$BONE" "$NEW"
	ok "$1: so does the JSON" grep -q '2\.5, -2' "$TOP/${BONE%.csv}.json"
	is "$1: nothing was refused" "$(find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""
}

# copy_list LIST [SECONDS]: one text after the other, with a pause between them
copy_list()
{
	local name
	while read -r name; do
		cat "$WORK/out/$name" >"$TOP/$name" || return 1
		sleep "${2:-0}"
	done <"$1"
}

ok "forth" copy_list "$WORK/forth"
edited forth
ok "forth: what was passed over is told" wait_for 5 grep -q 'wiki512.canm: passed over: [0-9]' "$MNT/.animfs/errors"
fresh
ok "back" copy_list "$WORK/back"
edited back
fresh
ok "slowly" copy_list "$WORK/forth" 0.05
edited slowly
fresh
ok "cp -r" cp -r "$WORK/out/." "$TOP"
edited cp
fresh
ok "rsync -a" rsync -aI "$WORK/out/" "$TOP"
edited rsync
fresh
ok "tar" sh -c "tar -C '$WORK/out' -c . | tar -C '$TOP' -x"
edited tar
fresh
ok "a clip alone" cp -r "$WORK/out/walk" "$TOP"
edited clip
fresh
ok "removed before" sh -c "rm -r '$TOP/walk' && cp -r '$WORK/out/walk' '$TOP'"
edited removed

fresh
ok "an edit and its undoing" sh -c "cat '$NEW' >'$TOP/$BONE' && cat '$OLD' >'$TOP/$BONE'"
is "undo: the clip says what it said" "$(<"$TOP/walk/curves.csv")" "$("$ANIMFS" cat "$SAMPLE/walk/curves.csv")"
ok "undo: the view, too" cmp "$TOP/$BONE" "$OLD"
ok "an edit, and later the old text of the JSON" sh -c "
	'$ANIMFS' cat '$SAMPLE/${BONE%.csv}.json' >'$WORK/old.json'
	cat '$NEW' >'$TOP/$BONE' && sleep 2.5 && cat '$WORK/old.json' >'$TOP/${BONE%.csv}.json'"
ok "later: is an edit" cmp "$TOP/$BONE" "$OLD"
umount_animfs
