#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# File handles, as an NFS server keeps them: good while the kernel knows the file, stale when it was
# forgotten, and good for the life of the mount with -o noforget. Never another file's.
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

mount_animfs -o noforget
keep "${names[@]}" gone
is "handles of all kinds" "$(again)" "$(want)
gone file gone"
forget
is "after the kernel forgot the files" "$(again)" "$(want)
gone file gone"
rm "$MNT/gone"
forget
is "what was removed is stale" "$(again | tail -n 1)" "gone ESTALE"
mv "$MNT/sub" "$MNT/moved"
mv "$MNT/moved/deep/file" "$MNT/moved/deep/new"
forget
is "what was renamed is not" "$(again | sed -n 3p)" "sub/deep/file file plain"
is "nor what is below it" "$(again | sed -n 2p)" "sub/deep folder new"
mv "$MNT/moved/deep/new" "$MNT/moved/deep/file"
mv "$MNT/moved" "$MNT/sub"
for i in $(seq 200); do
	echo "$i" >"$MNT/new$i" && rm "$MNT/new$i"
done
nodes() { sed -n 's/^nodes //p' "$MNT/.animfs/status"; }
forget
few_nodes() { [ "$(nodes)" -lt 60 ]; }
ok "what has no name any more is not kept" wait_for 5 few_nodes
ok "a view that is open for writing is written to after another save" \
	timeout -s KILL 20 python3 - "$MNT/a.canm/$view/bones/${bone%.csv}" <<'PYTHON'
import os, re, sys
bone = sys.argv[1]
text = re.sub(r"\n0,0,[^,]*", "\n0,0,9.5", open(bone + ".csv").read())
with open(bone + ".json") as file:
    json = file.read()
fd = os.open(bone + ".csv", os.O_RDWR)
with open(bone + ".json", "w") as file:
    file.write(re.sub(r'"value": \[[^,]*', '"value": [7.25', json, count=1))
os.ftruncate(fd, 0)
assert os.pwrite(fd, text.encode(), 0) == len(text)
os.close(fd)
assert open(bone + ".csv").read() == text
PYTHON
mv "$SRC/other" "$SRC/kept" && echo another >"$SRC/other"
forget
like "a file that others put in its place is not it" "$(again | sed -n 4p)" \
	'^other (ESTALE|file other)$'
mv "$SRC/kept" "$SRC/other"
cp "$WORK/handles" "$WORK/earlier"
umount_animfs

mount_animfs -o noforget
find "$MNT" >/dev/null
is "handles of an earlier mount are stale" \
	"$(python3 "$HANDLES" open "$MNT" <"$WORK/earlier" | sort | uniq -c | grep -vc ESTALE)" 0
umount_animfs

mount_animfs
keep "${names[@]}"
is "without noforget, while they are known" "$(again)" "$(want)"
# A folder stays while something below it does.
forget
is "and stale when forgotten" "$(again | grep -vc ESTALE)" 0
is "names are found as ever" "$(cat "$MNT/sub/deep/file")" plain
umount_animfs
