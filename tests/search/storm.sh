#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# storm.sh - all ways to save beside all ways to read, while clips and files are renamed and moved
# (tests/storm/storm.c says what is checked): the daemon lives, nothing hangs, no acknowledged save
# is lost, and no call gets an errno that a bare filesystem would not give. $STORM_SAVES (2000) is
# how many saves the whole matrix takes, $STORM_SECONDS (10) when its last round may begin at the
# latest, $STORM_SEED (1) what they are.
#
# Three faults of the live layer are known, and expected: STRICT=1 makes them fail the test.
# limit: 3600
. "$(dirname "$0")/../mount/lib.sh"
STORM=$(dirname "$ANIMFS")/storm
SAVES=${STORM_SAVES:-2000}
LAST=${STORM_SECONDS:-10}
SEED=${STORM_SEED:-1}

fresh()
{
	MNT=$WORK/mnt.$((++MOUNTS)) SRC=$WORK/src.$MOUNTS
	mkdir "$MNT" "$SRC"
	make_game --files 2 --clips 2 --bones 3 --frames 4 --plain 2 --version 512
	cp tests/data/cas/v203.cas "$SRC"
	mount_animfs
}
MOUNTS=0

# A daemon that is dead or hangs cannot be unmounted as others are. One that waits in the kernel for
# somebody who waits for it does not even die before their connection is aborted.
bury()
{
	local pid=${DAEMON[$MNT]} id
	id=$(awk -v mount="$MNT" '$5 == mount { sub("0:", "", $3); print $3 }' /proc/self/mountinfo)
	kill -KILL "$pid" 2>/dev/null
	{ echo 1 >"/sys/fs/fuse/connections/$id/abort"; } 2>/dev/null || umount -f "$MNT" 2>/dev/null
	fusermount3 -uz "$MNT" 2>/dev/null
	wait_for 20 is_gone "$pid"
	unset "DAEMON[$MNT]"
	sed '/^animfs: /d' "$LOG" | head -n 60
}

# Where a daemon stands that hangs. gdb, where there is one, must not hang itself.
describe_hang()
{
	cat >"$WORK/on-hang" <<'SCRIPT'
#!/bin/bash
for task in "/proc/$1/task"/*; do
	echo "  thread ${task##*/}: $(cat "$task/wchan" 2>/dev/null)"
	cat "$task/stack" 2>/dev/null
done
! command -v gdb >/dev/null || timeout -s KILL 30 gdb -p "$1" -batch -ex 'thread apply all bt 12' 2>&1 |
	grep -E '^(#|Thread)'
exit 0
SCRIPT
	chmod +x "$WORK/on-hang"
}
describe_hang

# storm NAME OPTION...: what it found is in $FOUND; a status below 2 leaves the mount.
storm()
{
	local name=$1 status=0
	shift
	FOUND=$WORK/found.$MOUNTS
	# What it keeps hangs on memory that its processes share, where LeakSanitizer does not look.
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		"$STORM" --source="$SRC" --daemon="${DAEMON[$MNT]}" --seed="$SEED" --state="$WORK/state" \
		--on-hang="$WORK/on-hang ${DAEMON[$MNT]}" "$@" "$MNT" >"$FOUND" 2>&1 || status=$?
	if [ $status -eq 0 ]; then
		pass "$name"
	else
		not_ok "$name" "status $status of: storm $*" \
			"$(grep -vE '^(habit|reader|structure|known|by-name|by-handle|fsync)' "$FOUND" |
				head -n 100)"
	fi
	[ $status -lt 2 ] || bury
	return $status
}

# after_remount NAME: the views hold what they held, and the binaries are sound.
after_remount()
{
	umount_animfs
	mount_animfs
	ok "$1: all is there after a remount" "$STORM" --verify="$WORK/state" "$MNT"
	umount_animfs
	ok "$1: the binaries are sound" "$ANIMFS" check "$SRC"
}

# reproducer NAME OPTION...
reproducer()
{
	local name=$1
	shift
	fresh
	storm "$name" "$@" && umount_animfs
	[ -z "${DAEMON[$MNT]-}" ] || umount_animfs
}

# ---- is the storm itself right? ----

fresh
mkdir "$WORK/bare"
cp -r "$MNT/." "$WORK/bare"
umount_animfs
"$STORM" --bare --seed="$SEED" --saves=1500 --seconds=5 "$WORK/bare" >"$WORK/found.bare" 2>&1
is "on a bare filesystem nothing is wrong" \
	"$(grep -E '^(WRONG|wrong|by-name|by-handle|fsync|storm|HANG)' "$WORK/found.bare" |
		sed 's/^storm: .*: 0 wrong$//')" ""

# ---- what crashed or hung ----

reproducer "vim saves, cat reads" --habits=vim --readers=cat --structures=none --saves=240
reproducer "vim saves, grep -r reads" --habits=vim --readers=grep --structures=none --saves=240
reproducer "a clip is moved into another file and back, beside readers" --habits=sed --savers=2 \
	--readers=cat,grep,ls,kept --structures=clip-across --saves=160
reproducer "a view is moved onto another file's, beside readers" --habits=sed --savers=2 \
	--readers=cat,grep,ls,kept --structures=view-across --saves=160

# ---- the matrix ----

known()
{
	local numbers
	numbers=$(sed -n "s/^known $2: \\([0-9]*\\) of \\([0-9]*\\)\$/\\1 \\2/p" "$FOUND")
	# shellcheck disable=SC2086
	expected_failure "$1" ${numbers:-0 0}
}

fresh
storm "the matrix, seed $SEED" --saves="$SAVES" --seconds="$LAST" && whole=1 || whole=
[ -z "${DAEMON[$MNT]-}" ] || after_remount "the matrix"
[ "${V:-0}" != 1 ] || grep -E '^(habit|reader|structure|by-name|by-handle|fsync) ?' "$FOUND"
# What was counted until a crash says little.
if [ -n "$whole" ]; then
	known "a name is there while something is renamed onto it" by-name
	known "a handle reads on when its name is gone" by-handle
	known "fsync is not refused" fsync
fi
