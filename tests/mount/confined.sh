#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# confined.sh - once it is mounted, the daemon can do no more than serve the mount; another process
# unmounts, also when the daemon was killed. (What the confinement stops: tests/test_confine.c.)
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
F=$MNT/wiki512.canm/walk/bones/Bone01.csv

fact() { sed -n "s/^$1:[[:space:]]*//p" "/proc/${DAEMON[$MNT]}/status"; }
descriptors() { readlink "/proc/${DAEMON[$MNT]}/fd"/* | sed 's/:\[[0-9]*\]$//' | sort -u; }
holds() { sed -n 's/^confined //p' "$MNT/.animfs/status" | grep -qw "$1"; }
# CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID LEASE
FILES_ONLY=000000001000001f

mount_animfs 9</etc/passwd
is "nothing gives the daemon new rights" "$(fact NoNewPrivs)" 1
if holds calls; then
	is "its calls are filtered" "$(fact Seccomp)" 2
else
	skip "this kernel has no filters of calls"
fi
if [ "$(id -u)" -eq 0 ]; then
	is "of root's rights those to files are left" "$(fact CapEff) $(fact CapPrm)" "$FILES_ONLY $FILES_ONLY"
fi
for word in capabilities privileges core; do
	ok "status: $word" holds $word
done
is "no core" "$(awk '/^Max core/ { print $5, $6 }' "/proc/${DAEMON[$MNT]}/limits")" "0 0"
is "what it was started with is closed" "$(descriptors | grep -c passwd)" 0
# Standard input, $LOG, SOURCE, and its own.
is "and nothing else is open" "$(descriptors | grep -vxF -e "$LOG" -e /dev/null -e "$SRC" -e /dev/fuse \
	-e anon_inode -e 'anon_inode:[eventfd]' -e 'anon_inode:[eventpoll]' -e anon_inode:inotify -e pipe)" ""
ok "it serves" grep -q 0,0,1.5,-2 "$F"
ok "and saves" sed -i 2s/1.5,/2.5,/ "$F"
ok "keeps notes" sh -c "echo note >'$MNT/wiki512.canm/note'"
ok "moves what it keeps" mv "$MNT/wiki512.canm/note" "$MNT/note"
ok "makes links and folders" sh -c "mkdir '$MNT/folder' && ln -s note '$MNT/link' && ln '$MNT/note' '$MNT/folder/hard'"
ok "and FIFOs" mkfifo "$MNT/fifo"
if [ "$(id -u)" -eq 0 ]; then
	fails "but no devices" mknod "$MNT/device" c 1 3
	fails "which are not there" test -e "$SRC/device"
fi
ok "a clip" mv "$MNT/wiki512.canm/walk" "$MNT/wiki512.canm/run"
ok "a copy that becomes a file" cp -r "$MNT/wiki512.canm" "$MNT/second.canm"
ok "is one" wait_for 6 test -f "$SRC/second.canm"
umount_animfs
like "what was saved is in the binary" "$("$ANIMFS" cat "$SRC/wiki512.canm/run/bones/Bone01.csv")" 0,0,2.5,

# A file must not become the daemon's standard input, which is /dev/null in the background.
without_input()
{
	"$ANIMFS" "$SRC" "$MNT" <&- || return
	sed -n 's/^pid //p' "$MNT/.animfs/status" >>"$WORK/daemons"
}
ok "mounted without a standard input" without_input
ok "SOURCE is SOURCE" test -d "$MNT/wiki512.canm"
ok "unmounted from there" "$ANIMFS" umount "$MNT"

# The folder of the state is one that the daemon may use; what that is in is not.
mount_animfs --state="$WORK/state"
ok "a note" touch "$MNT/wiki512.canm/note"
ok "is in the state directory" test -e "$WORK/state/extra/wiki512.canm/note"
rm -r "$WORK/state"
if holds files; then
	fails "nothing can be made elsewhere" touch "$MNT/wiki512.canm/other"
	fails "and is not" test -e "$WORK/state"
else
	skip "this kernel cannot confine to folders"
fi
umount_animfs

rm -rf "$WORK/state"
mount_animfs -o unconfined --state="$WORK/state" 9</etc/passwd
is "unconfined: all is as it was" "$(fact NoNewPrivs) $(fact Seccomp)" "0 0"
is "unconfined: status" "$(sed -n 's/^confined //p' "$MNT/.animfs/status")" no
is "unconfined: what it was started with is open" "$(descriptors | grep -c passwd)" 1
ok "unconfined: anything can be made" touch "$MNT/wiki512.canm/other"
umount_animfs

# ---- the end ----

# The unmount is another's; the daemon must not wait for it for ever, nor leave a dead mount.
gone() { ! is_mounted; }
mount_animfs
PID=${DAEMON[$MNT]}
exec 5<"$MNT/wiki512.canm/run/clip.json"
kill -KILL "$PID"
wait "$PID" 2>/dev/null
unset "DAEMON[$MNT]"
ok "killed: nothing stays mounted" wait_for 10 gone
exec 5<&-

# Pages that nobody has written yet must not keep it from ending.
mount_animfs
cp "$SRC/note" "$MNT/mapped"
python3 - "$MNT/mapped" "${DAEMON[$MNT]}" <<'PYTHON'
import mmap, os, signal, sys
fd = os.open(sys.argv[1], os.O_RDWR)
page = mmap.mmap(fd, 5)
page[0:4] = b"NOTE"
os.kill(int(sys.argv[2]), signal.SIGTERM)
PYTHON
PID=${DAEMON[$MNT]}
ok "dirty pages: the daemon ends" wait_for 10 is_gone "$PID"
unset "DAEMON[$MNT]"
ok "dirty pages: nothing stays mounted" gone

# A killed daemon does not end while one of its threads waits for another mount, which has begun to
# answer: here, in its turn, with the help of a third that is stopped.
stuck() { grep -qs request_wait_answer "/proc/$PID/task"/*/wchan; }
if [ "$(id -u)" -eq 0 ]; then
	BELOW=$WORK/below
	LOWEST=$WORK/lowest
	mkdir "$BELOW" "$LOWEST"
	MNT=$LOWEST mount_animfs
	SRC=$LOWEST MNT=$BELOW mount_animfs -o ro
	SRC=$BELOW mount_animfs -o ro
	PID=${DAEMON[$MNT]}
	kill -STOP "${DAEMON[$LOWEST]}"
	cat "$MNT/note" >/dev/null 2>&1 &
	READER=$!
	ok "a thread waits in the kernel" wait_for 10 stuck
	kill -KILL "$PID"
	ok "killed then: nothing stays mounted" wait_for 10 gone
	ok "and nobody waits for it" wait_for 10 is_gone "$READER"
	kill -CONT "${DAEMON[$LOWEST]}"
	wait "$PID" 2>/dev/null
	unset "DAEMON[$MNT]"
	MNT=$BELOW umount_animfs
	MNT=$LOWEST umount_animfs
fi

# Somebody else's mount in the same place is not the daemon's to unmount.
if [ "$(id -u)" -eq 0 ]; then
	mount_animfs
	PID=${DAEMON[$MNT]}
	UNMOUNTER=$(pgrep -P "$PID" animfs-unmount)
	ok "there is an unmounter" test -n "$UNMOUNTER"
	kill -STOP "$PID"
	umount -l "$MNT"
	mount -t tmpfs none "$MNT"
	kill -KILL "$PID"
	wait "$PID" 2>/dev/null
	unset "DAEMON[$MNT]"
	ok "which ends" wait_for 10 is_gone "$UNMOUNTER"
	ok "another mount stays" mountpoint -q "$MNT"
	umount "$MNT"
fi
