#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# folder_moves.sh - renaming an ordinary folder changes nothing but its name: no program waits for it, no
# view gets another time, and later saves below it go to its new place.
. "$(dirname "$0")/lib.sh"
mkdir "$SRC/one" "$SRC/two"
cp tests/data/canm/wiki512.canm "$SRC/one/a.canm"
cp tests/data/canm/wiki512.canm "$SRC/two/b.canm"
touch -d '2001-02-03 04:05:06' "$SRC"/*/*.canm
echo plain >"$SRC/plain.txt"
mount_animfs

times() { (cd "$1" && find . -type f ! -name 'frame_*' -printf '%P %T@\n' | sort); }

moved() { diff "$1" <(times "$2") | sed -n 's/^> [a-z.]*\/\(.*\) .*/\1/p' | grep '^Idle' | paste -sd ' '; }

# The kernel keeps the times that it was given until a save makes it ask again.
ok "an edit of one bone" sed -i 2s/1.5,/2.5,/ "$MNT/one/a.canm/walk/bones/Bone01.csv"
times "$MNT/one" >"$WORK/one"
times "$MNT/two" >"$WORK/two"
ok "mv of the folder" mv "$MNT/one" "$MNT/uno"
ok "an edit below it" sed -i 2s/2.5,/2.75,/ "$MNT/uno/a.canm/walk/bones/Bone01.csv"
ok "an edit elsewhere" sed -i 2s/1.5,/2.5,/ "$MNT/two/b.canm/walk/bones/Bone01.csv"
is "no view of another clip moved below it" "$(moved "$WORK/one" "$MNT/uno")" ""
is "nor elsewhere" "$(moved "$WORK/two" "$MNT/two")" ""

# Has the state's lock until $WORK/done is there. Whoever opens the lock meanwhile closes it without
# having got it, and waits: that makes $WORK/wanted.
hold_lock()
{
	python3 - "$SRC/.animfs/lock" "$WORK" <<'PYTHON'
import ctypes, fcntl, os, select, sys, time

path, work = sys.argv[1:]
IN_CLOSE_WRITE = 8
libc = ctypes.CDLL(None)
lock = os.open(path, os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
watch = libc.inotify_init()
assert libc.inotify_add_watch(watch, os.fsencode(path), IN_CLOSE_WRITE) >= 0
open(work + "/locked", "w").close()
if select.select([watch], [], [], 100)[0]:
    open(work + "/wanted", "w").close()
while not os.path.exists(work + "/done"):
    time.sleep(0.05)
PYTHON
}

# A save waits for another program that has the state's lock; the folder's name does not.
hold_lock &
locker=$!
ok "another program has the lock" wait_for 10 test -e "$WORK/locked"
sed -i 2s/2.75,/3.5,/ "$MNT/uno/a.canm/walk/bones/Bone01.csv" &
saver=$!
ok "a save waits for it" wait_for 100 test -e "$WORK/wanted"
ok "mv of a folder while a save waits" timeout 60 mv "$MNT/two" "$MNT/due"
is "nobody else waits" "$(timeout 60 cat "$MNT/plain.txt")" plain
ok "the save still waits" kill -0 $saver
touch "$WORK/done"
wait $locker
wait $saver
is "the save is done" $? 0
like "and there" "$(sed -n 2p "$MNT/uno/a.canm/walk/bones/Bone01.csv")" '3\.5,'

# Messages and temporaries have the path of today.
fails "a save that is refused" cp "$MNT/plain.txt" "$MNT/uno/a.canm/walk/bones/hip.csv"
ok "is told with the new path" grep -q 'uno/a.canm/walk/bones/hip.csv' "$MNT/.animfs/errors"
rm "$MNT/uno/a.canm/walk/bones/hip.csv.rejected" "$MNT/uno/a.canm/walk/bones/hip.csv.error"
ok "the file is sound" "$ANIMFS" check "$SRC/uno/a.canm"
is "no temporary is left" "$(find "$SRC" -name '.animfs?*')" ""
umount_animfs
