#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# handles.sh - file handles are valid as long as the kernel knows the file, stale after it was forgotten,
# and never another file's.
# alone: it makes the kernel forget the files of all mounts
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] && [ -w /proc/sys/vm/drop_caches ] || skip_all "only root can open by handle"

cp tests/data/canm/wiki512.canm "$SRC/a.canm"
mkdir -p "$SRC/sub/deep"
echo plain >"$SRC/sub/deep/file"
echo other >"$SRC/other"
echo gone >"$SRC/gone"

HANDLES=$(realpath "$(dirname "$0")/handles.py")
forget() { echo 2 >/proc/sys/vm/drop_caches; }
# keep NAME...: their handles, and those in virtual folders, in $WORK/handles
keep() { (cd "$MNT" && python3 "$HANDLES" keep "$@") >"$WORK/handles"; }
# again: what each handle says now, a line for each
again() { python3 "$HANDLES" open "$MNT" <"$WORK/handles"; }

view=$(cd "$SRC" && "$ANIMFS" ls a.canm | sed -n 's,/$,,p' | head -n 1)
bone=$("$ANIMFS" ls "$SRC/a.canm/$view/bones" | grep -m 1 '\.csv$')
names=(sub sub/deep sub/deep/file other a.canm "a.canm/$view" "a.canm/$view/bones"
	"a.canm/$view/bones/$bone" a.canm/file.json)
want() { python3 "$HANDLES" say "$MNT" "${names[@]}"; }

mount_animfs
keep "${names[@]}" gone
is "handles of all kinds" "$(again)" "$(want)
gone file gone"
rm "$MNT/gone"
is "what was removed is stale" "$(again | tail -n 1)" "gone ESTALE"
mv "$MNT/sub" "$MNT/moved"
mv "$MNT/moved/deep/file" "$MNT/moved/deep/new"
is "what was renamed is not" "$(again | sed -n 3p)" "sub/deep/file file plain"
is "nor what is below it" "$(again | sed -n 2p)" "sub/deep folder new"
mv "$MNT/moved/deep/new" "$MNT/moved/deep/file"
mv "$MNT/moved" "$MNT/sub"
mv "$SRC/other" "$SRC/kept" && echo another >"$SRC/other"
like "a file that others put in its place is not it" "$(again | sed -n 4p)" \
	'^other (ESTALE|file other)$'
mv "$SRC/kept" "$SRC/other"
all_are_stale() { forget && [ "$(again | grep -vc ESTALE)" -eq 0 ]; }
ok "all are stale when forgotten" wait_for 5 all_are_stale
is "names are found as ever" "$(cat "$MNT/sub/deep/file")" plain
for i in $(seq 200); do
	echo "$i" >"$MNT/new$i" && rm "$MNT/new$i"
done
nodes() { sed -n 's/^nodes //p' "$MNT/.animfs/status"; }
forget
few_nodes() { [ "$(nodes)" -lt 60 ]; }
ok "what has no name any more is not kept" wait_for 5 few_nodes
keep "${names[@]}"
umount_animfs

mount_animfs
find "$MNT" >/dev/null
is "handles of an earlier mount are stale" "$(again | grep -vc ESTALE)" 0
umount_animfs
