#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# confined.sh - once it is mounted, the daemon can do no more than serve the mount; another process
# unmounts, also when the daemon was killed. (What the confinement stops: tests/unit/sandbox/test_confine.c.)
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
F=$MNT/wiki512.canm/walk/bones/Bone01.csv

fact() { sed -n "s/^$1:[[:space:]]*//p" "/proc/${DAEMON[$MNT]}/status"; }
gone() { ! is_mounted; }
# What is neither SOURCE, as which the state directory is reached, nor its /proc.
others()
{
	local fd
	for fd in "/proc/${DAEMON[$MNT]}/fd"/*; do
		[ "$fd" -ef "$SRC" ] || [ "$(stat -fLc %T "$fd")" = proc ] || readlink "$fd"
	done | sed 's/:\[[0-9]*\]$//' | sort -u
}
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
# Standard input, $LOG, and its own.
is "and nothing else is open" "$(others | grep -vxF -e "$LOG" -e /dev/null -e /dev/fuse \
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

# ---- the file tree ----

# The process that is confined must not reach OUTSIDE, nor VICTIM, by any call that landlock does not
# ask about: tests/tools/intruder.h. What it could do is the target of a link.
INTRUDER_SO=$(dirname "$ANIMFS")/intruder.so
OUTSIDE=$WORK/outside/file
mkdir "$WORK/outside"
touch "$OUTSIDE"
sleep 300 & # in real time: somebody to look at
VICTIM=$!
trap 'kill "$VICTIM"; finish' EXIT
intruded_animfs() { LD_PRELOAD=$INTRUDER_SO INTRUDER=$VICTIM:$OUTSIDE mount_animfs "$@"; }
intruder()
{
	rm -f "$MNT/intruder"
	ln -s intruder "$MNT/intruder"
	readlink "$MNT/intruder"
	rm -f "$MNT/intruder"
}
tampered() { [ "$(stat -c '%a %u %X %Y' "$OUTSIDE")" != "$1" ]; }
unmounter() { pgrep -P "${DAEMON[$MNT]}" animfs-unmount; }
ends_after()
{
	local name=$1 pid=${DAEMON[$MNT]}
	shift
	ok "$name" "$@"
	ok "$name: the daemon ends" wait_for 10 is_gone "$pid"
	wait "$pid"
	is "$name: well" $? 0
	unset "DAEMON[$MNT]"
}

# tree_checks WORDS [OPTION...]: SOURCE is $SRC, mounted on $MNT; `confined` has to have the WORDS
tree_checks()
{
	local word before words=$1
	shift
	before=$(stat -c '%a %u %X %Y' "$OUTSIDE")
	mkdir -p "$SRC/later" "$SRC/plain"
	intruded_animfs "$@"
	for word in $words; do
		ok "status: $word" holds "$word"
	done
	is "an intruder could do" "$(intruder)" nothing
	fails "and has not" tampered "$before"
	ok "it serves" grep -q ^ "$F"
	mount -t tmpfs none "$SRC/later"
	echo new >"$SRC/later/file"
	is "what is mounted below SOURCE now is seen" "$(cat "$MNT/later/file" 2>&1)" new
	umount -l "$SRC/later"
	ok "and gone when it is unmounted" wait_for 10 test ! -e "$MNT/later/file"
	ok "links to what is there" ln "$MNT/note" "$MNT/plain/linked"
	ok "attributes" setfattr -n user.mine -v 1 "$MNT/plain/linked"
	is "are there" "$(getfattr --absolute-names --only-values -n user.mine "$SRC/plain/linked" 2>&1)" 1
	ok "modes" chmod 640 "$MNT/plain/linked"
	ok "times" touch -d @1000 "$MNT/plain/linked"
	is "too" "$(stat -c '%a %Y' "$SRC/plain/linked")" "640 1000"
	rm "$MNT/plain/linked"
	# SYS_ADMIN and DAC_READ_SEARCH
	wait_for 10 unmounter >/dev/null
	is "the unmounter has what that takes" "$(sed -n 's/^\(CapPrm\|CapEff\|NoNewPrivs\|Seccomp\):\t//p' \
		"/proc/$(unmounter)/status" | xargs)" "0000000000200004 0000000000200004 1 2"
	ends_after umount umount "$MNT"
	mount_animfs "$@"
	ends_after "umount -l" umount -l "$MNT"
	mount_animfs "$@"
	ends_after "fusermount3 -u" fusermount3 -u "$MNT"
	mount_animfs "$@"
	ends_after SIGTERM kill "${DAEMON[$MNT]}"
	mount_animfs "$@"
	exec 5<"$MNT"
	umount -l "$MNT"
	exec 5<&-
	ok "umount -l while in use: the daemon ends" wait_for 10 is_gone "${DAEMON[$MNT]}"
	wait "${DAEMON[$MNT]}"
	unset "DAEMON[$MNT]"
}

sanitized() { grep -q -e libasan -e libtsan -e __asan_init -e __tsan_init "$ANIMFS"; }
if [ "$(id -u)" -ne 0 ]; then
	skip "only root's mount loses sight of other folders"
elif sanitized; then
	skip "a sanitized build keeps /proc, and with it the whole file tree"
elif [ ! -e "$INTRUDER_SO" ]; then
	skip "intruder.so is not built"
else
	intruded_animfs -o unconfined
	like "unconfined: an intruder could do" "$(intruder)" 'chmod chown utimensat .*prlimit'
	umount_animfs

	F=$MNT/wiki512.canm/run/bones/Bone01.csv
	# On a mount whose mounts nobody else sees: it stays in the namespace.
	mkdir "$WORK/private" "$WORK/shared"
	mount -t tmpfs --make-private none "$WORK/private"
	mount -t tmpfs none "$WORK/shared"
	mount --make-shared "$WORK/shared"
	for place in private shared; do
		cp -r "$SRC" "$WORK/$place/src"
		words=tree
		if [ $place = shared ] && ! awk '$5 == "/" { found = 1 } END { exit !found }' /proc/self/mountinfo; then
			skip "in a chroot no namespace can be entered whose root is another folder"
		elif [ $place = shared ]; then
			words="tree namespace"
		fi
		SRC=$WORK/$place/src tree_checks "$words"
		# SOURCE itself is covered.
		MNT=$WORK/$place/src SRC=$WORK/$place/src mount_animfs
		MNT=$WORK/$place/src F=$WORK/$place/src/wiki512.canm/run/bones/Bone01.csv
		ok "$place: covered, it serves" grep -q ^ "$F"
		ends_after "$place: umount of SOURCE" umount "$MNT"
		MNT=$WORK/mnt F=$WORK/mnt/wiki512.canm/run/bones/Bone01.csv
		# By a link, and from elsewhere.
		ln -s "$place/src" "$WORK/link.$place"
		(cd "$WORK" && "$ANIMFS" "link.$place" mnt) || not_ok "$place: a link"
		PID=$(sed -n 's/^pid //p' "$MNT/.animfs/status")
		echo "$PID" >>"$WORK/daemons"
		ok "$place: a link, in the background" grep -q ^ "$F"
		is "$place: with nothing but /dev/null" "$(readlink "/proc/$PID/fd/"[012] | sort -u)" /dev/null
		ok "$place: ends" "$ANIMFS" umount "$MNT"
		# What is used cannot be taken away.
		SRC=$WORK/$place/src mount_animfs
		fails "$place: its filesystem stays" umount "$WORK/$place"
		PID=${DAEMON[$MNT]}
		kill -KILL "$PID"
		wait "$PID" 2>/dev/null
		unset "DAEMON[$MNT]"
		ok "$place: killed: nothing stays mounted" wait_for 10 gone
		ok "$place: nor is its filesystem in use" wait_for 10 umount "$WORK/$place"
	done

	# A state directory is another such place, with nothing of what it is in.
	mkdir "$WORK/outside/states"
	OUTSIDE=$WORK/outside/states/file
	touch "$OUTSIDE"
	intruded_animfs --state="$WORK/outside/states/state"
	is "with --state: an intruder could do" "$(intruder)" nothing
	ok "with --state: notes" touch "$MNT/wiki512.canm/noted"
	ok "with --state: are there" test -e "$WORK/outside/states/state/extra/wiki512.canm/noted"
	fails "with --state: that is another filesystem" ln "$MNT/wiki512.canm/noted" "$MNT/linked"
	ok "with --state: for mv that is all the same" mv "$MNT/wiki512.canm/noted" "$MNT/noted"
	ends_after "with --state: umount" umount "$MNT"
	rm -r "$WORK/outside/states/state"
	mount_animfs -o ro --state="$WORK/outside/states/state"
	ok "read-only, with no state yet: it serves" grep -q ^ "$F"
	ok "read-only: status: tree" holds tree
	umount_animfs
	mount_animfs --state="$SRC/states"
	ok "state in SOURCE: a note" touch "$MNT/wiki512.canm/noted"
	ok "state in SOURCE: is a file like others" ln "$MNT/wiki512.canm/noted" "$MNT/linked"
	umount_animfs
	rm -r "$SRC/states" "$SRC/linked"
fi

# ---- the end ----

# The unmount is another's; the daemon must not wait for it for ever, nor leave a dead mount.
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
ok "dirty pages: nothing stays mounted" wait_for 10 gone

# A killed daemon does not end while one of its threads waits for another mount, which has begun to
# answer: here, in its turn, with the help of a third that is stopped.
stuck() { grep -qs 'request_wait_answer\|folio_wait' "/proc/$PID/task"/*/wchan; }
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
	ok "there is an unmounter" wait_for 10 unmounter # which has its name some time after the mount is there
	UNMOUNTER=$(unmounter)
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
