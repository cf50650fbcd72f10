#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# unmount.sh - whatever ends a mount, what was written into a view is then in the binary or kept as
# refused; nothing is lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"

# writer TEXT: writes it into $F and keeps the file open until it is told
writer()
{
	python3 -c '
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
os.write(fd, open(sys.argv[2], "rb").read())
open(sys.argv[3], "w").close()
time.sleep(60)' "$F" "$1" "$WORK/written" &
	WRITER=$!
	wait_for 10 test -e "$WORK/written"
	rm "$WORK/written"
}

begin()
{
	cp "$SAMPLE" "$SRC/$1.canm"
	F=$MNT/$1.canm/$BONE
	mount_animfs
	PID=${DAEMON[$MNT]}
}

# The daemon has to end well, however it was ended.
ended()
{
	ok "$1: the daemon ends" wait_for 10 is_gone "$PID"
	is_gone "$PID" || kill -KILL "$PID"
	[ -z "$WRITER" ] || kill "$WRITER" 2>/dev/null
	wait "$PID"
	is "$1: well" $? 0
	ok "$1: nothing is mounted" sh -c "! grep -q ' $MNT fuse' /proc/self/mounts"
	unset "DAEMON[$MNT]"
	is "$1: no complaint" "$(grep -E 'Sanitizer|runtime error:' "$LOG")" ""
}

sed 2s/5.729578/1..2/ "$OLD" >"$WORK/bad.csv"

begin term
writer "$NEW"
kill -TERM "$PID"
ended SIGTERM
ok "SIGTERM: the edit is in the binary" cmp "$SRC/term.canm" "$EDITED"

# A shell starts what is in the background with SIGINT ignored.
printf '#!/bin/sh\nexec env --default-signal=INT "%s" "$@"\n' "$ANIMFS" >"$WORK/interruptible"
chmod +x "$WORK/interruptible"
ANIMFS=$WORK/interruptible begin int
writer "$NEW"
kill -INT "$PID"
ended SIGINT
ok "SIGINT: the edit is in the binary" cmp "$SRC/int.canm" "$EDITED"

begin bad
writer "$WORK/bad.csv"
kill -TERM "$PID"
ended "a bad text"
ok "a bad text: the binary stays" cmp "$SRC/bad.canm" "$SAMPLE"
ok "a bad text: the text is kept" cmp "$SRC/.animfs/rejected/bad.canm/${BONE%/*}/Bone01.csv.rejected" "$WORK/bad.csv"

begin lazy
writer "$NEW"
fails "fusermount3 -u while open" fusermount3 -u "$MNT"
fusermount3 -uz "$MNT"
kill "$WRITER"
ended "fusermount3 -uz"
ok "fusermount3 -uz: the edit is in the binary" cmp "$SRC/lazy.canm" "$EDITED"

begin command
cp "$NEW" "$F"
sed s/1.5,-2/3.5,-2/ "$OLD" >"$F.new"
mv "$F.new" "$F"
ok "animfs umount" "$ANIMFS" umount "$MNT"
ok "animfs umount: returns when the daemon has ended" is_gone "$PID"
WRITER=
ended "animfs umount"
like "animfs umount: the last edit is in the binary" "$("$ANIMFS" cat "$SRC/command.canm/$BONE")" 0,0,3.5,-2
fails "animfs umount: of what is not mounted" "$ANIMFS" umount "$MNT"
mkdir "$WORK/plain"
like "animfs umount: says so" "$("$ANIMFS" umount "$WORK/plain" 2>&1)" 'not a mount of animfs'

begin killed
cp "$NEW" "$F"
kill -KILL "$PID"
wait "$PID" 2>/dev/null
unset "DAEMON[$MNT]"
ok "SIGKILL: nothing stays mounted" wait_for 10 sh -c "! grep -q ' $MNT fuse' /proc/self/mounts"
ok "SIGKILL: what a close returned for is in the binary" cmp "$SRC/killed.canm" "$EDITED"
is "SIGKILL: no temporary stays past the next mount" "$(mount_animfs; umount_animfs; find "$SRC" -name '.animfs?*')" ""
