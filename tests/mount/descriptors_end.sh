#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# descriptors_end.sh - programs that want more open files than the daemon may have are refused, and others
# do not notice: names are looked up, folders are listed, and views are read and saved.
. "$(dirname "$0")/lib.sh"
LIMIT=1000
[ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -gt $((LIMIT + 20)) ] ||
	skip_all "no more than $(ulimit -n) descriptors for a program"
cp tests/data/canm/wiki512.canm "$SRC"
cp tests/data/canm/wiki512.canm "$SRC/wiki512.x"
mkdir "$SRC/many" "$SRC/folders"
(cd "$SRC/many" && seq 1200 | xargs touch)
(cd "$SRC/folders" && seq 300 | xargs mkdir && seq -f %g/inner 300 | xargs mkdir)
printf '#!/bin/sh\nulimit -n %s && exec "%s" "$@"\n' $LIMIT "$ANIMFS" >"$WORK/limited"
chmod +x "$WORK/limited"

# Opens 990 files, says how many it got and why no more, and goes on trying until its input ends.
hold()
{
	python3 - "$1" "$MNT/many" "$WORK/$1" 3<&0 <<'PYTHON'
import errno, os, select, sys

kind, folder, said = sys.argv[1:]
held, why = [], "none"

def take():
    global why
    number = len(held) + 1
    try:
        if kind == "open":
            held.append(os.open("%s/%d" % (folder, number), os.O_RDONLY))
        else:
            held.append(os.open("%s/new%d" % (folder, number), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except OSError as error:
        why = errno.errorcode[error.errno]

for i in range(990):
    take()
with open(said + "~", "w") as out:
    out.write("%d %s\n" % (len(held), why))
os.rename(said + "~", said)
while not select.select([3], [], [], 0.002)[0]:
    if len(held) < 1010:
        take()
with open(said, "w") as out:
    out.write("%d\n" % len(held))
PYTHON
}
list_all() { [ "$(find "$MNT/folders" | wc -l)" = 601 ]; }
# In place: an ordinary file beside it would be one more.
edit()
{
	local text
	text=$(sed "2s/0,0,$2,/0,0,$3,/" "$1/bones/Bone01.csv") && echo "$text" >"$1/bones/Bone01.csv" &&
		grep -q "0,0,$3," "$1/bones/Bone01.csv"
}

# while_held KIND CLIP OLD NEW: what works while they are held; a number in a view of the clip
# changes from OLD to NEW
while_held()
{
	local got why name=$1 clip=$MNT/$2 holder end
	rm -f "$WORK/end.$name" "$WORK/$name"
	mkfifo "$WORK/end.$name"
	hold "$name" <"$WORK/end.$name" &
	holder=$!
	exec {end}>"$WORK/end.$name"
	wait_for 20 test -e "$WORK/$name" || not_ok "$name: they are held"
	read -r got why <"$WORK/$name"
	is "$name: no more than there are" "$why" EMFILE
	ok "$name: but most of them" [ "$got" -gt 700 ]
	ok "$name: a folder is listed" ls -l "$MNT"
	ok "$name: that of the open files" ls -l "$MNT/many"
	ok "$name: folders that nobody has looked at, more than are kept" list_all
	ok "$name: a view is read" cat "$clip/bones/Bone01.csv"
	ok "$name: all of them are" grep -rq Bone01 "$clip"
	ok "$name: one is saved" edit "$clip" "$3" "$4"
	exec {end}>&-
	wait "$holder"
	ok "$name: a file is opened when there is room" wait_for 5 cat "$MNT/many/1"
}

ANIMFS=$WORK/limited mount_animfs
while_held open wiki512.canm/walk 1.5 2.5
while_held create wiki512.canm/walk 2.5 3.5
is "what was refused was not made" "$(find "$SRC/many" -name 'new*' | wc -l)" "$(<"$WORK/create")"
umount_animfs


# Where changes are not heard of (here SOURCE is a FUSE mount), programs open folders, too.
mount_animfs
FIRST=$MNT
mkdir "$WORK/second"
MNT=$WORK/second
SRC=$FIRST ANIMFS=$WORK/limited mount_animfs --type '*.x=canm' --state="$WORK/state"
while_held open wiki512.x/walk 1.5 2.5
umount_animfs
MNT=$FIRST
umount_animfs
