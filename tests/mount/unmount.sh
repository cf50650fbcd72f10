#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# unmount.sh - however a mount ends, a text that was written into a view is then in the binary or kept as
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
time.sleep(60)  # in real time: until it is killed
' "$F" "$1" "$WORK/written" &
	WRITER=$!
	wait_for 10 test -e "$WORK/written"
	rm "$WORK/written"
}

# begin NAME [OPTION...]
begin()
{
	cp "$SAMPLE" "$SRC/$1.canm"
	F=$MNT/$1.canm/$BONE
	mount_animfs "${@:2}"
	PID=${DAEMON[$MNT]}
}

# The daemon has to end well, however it was ended.
ended()
{
	ok "$1: the daemon ends" wait_for 10 is_gone "$PID"
	is_gone "$PID" || kill -KILL "$PID"
	[ -z "$WRITER" ] || kill "$WRITER" 2>/dev/null
	wait "$PID"
	is "$1: well" $? 0 || sed 's/^/    # /' "$LOG"
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

# What read(2) of the connection says when the kernel ends it while it hands a request over.
if has_faults; then
	LD_PRELOAD=$FAULTS FAULT=$WORK/fault begin aborted -o unconfined
	writer "$NEW"
	echo "read 103 /dev 1" >"$WORK/fault"
	ls "$MNT" >/dev/null 2>&1
	ended "a connection that ends within a request"
	ok "a connection that ends within a request: the edit is in the binary" cmp "$SRC/aborted.canm" "$EDITED"
	rm "$WORK/fault"

	LD_PRELOAD=$FAULTS FAULT=$WORK/fault begin becoming -o unconfined
	WRITER=
	cp -r "$MNT/becoming.canm" "$WORK/copy"
	echo "unwatch hold / 1" >"$WORK/fault"
	cp -r "$WORK/copy" "$MNT/new.canm"
	ok "a folder becomes a file" wait_for 10 test -e "$WORK/fault.held"
	fusermount3 -u "$MNT"
	no_thread_serves() { ! grep -qs fuse_dev /proc/"$PID"/task/*/wchan; }
	ok "the daemon has begun to end" wait_for 10 no_thread_serves
	sleep 0.2 # as far as it can
	rm "$WORK/fault"
	ended "meanwhile unmounted"
	ok "meanwhile unmounted: it is a file" cmp "$SRC/new.canm" "$SAMPLE"
fi

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

# The unmounter of a killed daemon is slow: meanwhile somebody unmounts and mounts again.
if [ "$(id -u)" -ne 0 ]; then
	skip "only root unmounts without fusermount3"
elif has_faults; then
	echo "unmount hold $MNT" >"$WORK/slow"
	FAULT=$WORK/slow LD_PRELOAD=$FAULTS mount_animfs
	PID=${DAEMON[$MNT]}
	unset "DAEMON[$MNT]"
	UNMOUNTER=$(pgrep -P "$PID")
	kill -KILL "$PID"
	wait "$PID" 2>/dev/null
	ok "a slow unmounter is at work" wait_for 10 test -e "$WORK/slow.held"
	umount -l "$MNT"
	mount_animfs
	rm "$WORK/slow"
	ok "a slow unmounter ends" wait_for 10 is_gone "$UNMOUNTER"
	ok "a slow unmounter: the next mount stays" test -e "$MNT/killed.canm/$BONE"
	umount_animfs
fi

# Killed while it notifies the kernel of the folder that a rename has locked. (fusectl may be missing.)
notifies() { cat "/proc/$PID"/task/*/wchan 2>/dev/null | grep -q fuse_reverse_inval_entry; }
if [ "$(id -u)" -ne 0 ]; then
	skip "only root aborts a connection without fusectl"
elif ! grep -q fuse_reverse_inval_entry /proc/kallsyms; then
	skip "the kernel does not say where a thread waits"
elif has_faults; then
	cp "$SAMPLE" "$SRC/notifying.canm"
	F=$MNT/notifying.canm/$BONE
	LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
	PID=${DAEMON[$MNT]}
	ls -l "${F%/*}" >"$WORK/listed"
	cp "$NEW" "$F.new"
	echo "rename hold $SRC" >"$WORK/fault"
	mv "$F.new" "$F" 2>"$WORK/moved" &
	mover=$!
	ok "killed while it notifies: a save is under way" wait_for 10 test -e "$WORK/fault.held"
	ok "killed while it notifies: it notifies" wait_for 10 notifies
	kill -KILL "$PID"
	unset "DAEMON[$MNT]"
	ok "killed while it notifies: it ends" wait_for 10 is_gone "$PID"
	ok "killed while it notifies: so does who waits for it" wait_for 10 is_gone "$mover"
	ok "killed while it notifies: nothing stays mounted" wait_for 10 sh -c "! grep -q ' $MNT fuse' /proc/self/mounts"
	rm -f "$WORK/fault" "$WORK/fault.held"
fi

# The same when it ends by itself: it reads no request any more, but one has come that the kernel has
# locked a folder for. The folder's attributes are known, so that the program asks for nothing else.
asks() { grep -qs request_wait_answer "/proc/$1/wchan"; }
if [ "$(id -u)" -ne 0 ]; then
	skip "only root aborts a connection without fusectl"
elif ! grep -q fuse_reverse_inval_entry /proc/kallsyms; then
	skip "the kernel does not say where a thread waits"
elif has_faults; then
	cp "$SAMPLE" "$SRC/other.canm"
	cp "$SAMPLE" "$WORK/renamed.canm"
	ok "another clip" "$ANIMFS" clip rename "$WORK/renamed.canm/${BONE%%/*}" other
	LD_PRELOAD=$FAULTS FAULT=$WORK/fault begin ending -o unconfined
	ls -l "$MNT/other.canm" >"$WORK/listed"
	echo "rename hold $SRC" >"$WORK/fault"
	cp "$NEW" "$F" &
	saver=$!
	ok "ended while it notifies: a save is under way" wait_for 10 test -e "$WORK/fault.held"
	(
		cd "$MNT/other.canm" || exit
		: >"$WORK/there"
		until [ -e "$WORK/go" ]; do sleep 0.1; done
		exec mkdir folder
	) 2>"$WORK/made" &
	maker=$!
	ok "ended while it notifies: a program is in a folder" wait_for 10 test -e "$WORK/there"
	kill -TERM "$PID"
	ok "ended while it notifies: no request is read" wait_for 10 no_thread_serves
	: >"$WORK/go"
	ok "ended while it notifies: one comes" wait_for 10 asks $maker
	cp "$WORK/renamed.canm" "$SRC/other.canm"
	ok "ended while it notifies: it notifies" wait_for 10 notifies
	rm "$WORK/fault"
	WRITER=
	ended "ended while it notifies"
	ok "ended while it notifies: so does who waits for it" wait_for 10 is_gone "$maker"
	wait "$saver"
	ok "ended while it notifies: what was saved is in the binary" cmp "$SRC/ending.canm" "$EDITED"
fi

# A daemon goes on as long as its mount is anywhere, also in a namespace of another process.
SIM=$(dirname "$ANIMFS")/sim
# sees_no_mount PID MNT REGEX: in the mounts of a process, one of which matches, MNT is no mount
sees_no_mount()
{
	awk -v mnt="$2" -v regex="$3" '$0 ~ regex { made = 1 } $5 == mnt && / - fuse.animfs / { sees = 1 }
		END { exit !made || sees }' "/proc/$1/mountinfo"
}
none_sees_mount()
{
	local pid
	for pid in $(pgrep -P "$1"); do
		sees_no_mount "$pid" "$MNT" ' - tmpfs sim ' 2>/dev/null && return
	done
	return 1
}
if [ "$(id -u)" -ne 0 ]; then
	skip "only root has namespaces of its own"
elif [ ! -x "$SIM" ]; then
	skip "sim is not built"
else
	mount_animfs
	"$SIM" --runs 1000 >/dev/null 2>&1 &
	PID=$!
	ok "the simulation keeps no mount" wait_for 20 none_sees_mount "$PID"
	kill "$PID"
	wait "$PID" 2>/dev/null
	umount_animfs
fi

SHARED=$WORK/shared
mkdir -p "$SHARED/over" "$SHARED/src" "$SHARED/mnt"
if [ "$(id -u)" -eq 0 ] && mount --bind "$SHARED" "$SHARED" && mount --make-shared "$SHARED"; then
	cp "$SAMPLE" "$SHARED/over"
	SRC=$SHARED/over MNT=$SHARED/over mount_animfs
	SRC=$SHARED/src MNT=$SHARED/mnt mount_animfs
	"$ANIMFS" log --follow "$SHARED/over/wiki512.canm" >/dev/null &
	PID=$!
	ok "a command looks below a mount over its SOURCE" \
		wait_for 20 sees_no_mount "$PID" "$SHARED/over" " $SHARED "
	MNT=$SHARED/mnt umount_animfs
	pass "meanwhile another mount can end"
	kill "$PID"
	wait "$PID" 2>/dev/null
	MNT=$SHARED/over umount_animfs
	umount "$SHARED"
else
	skip "no shared mount can be made"
fi
