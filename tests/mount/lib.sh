# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# lib.sh - what every mount test sources:
#
#   . "$(dirname "$0")/lib.sh"
#   cp tests/data/canm/wiki512.canm "$SRC"
#   mount_animfs
#   is "one clip" "$(ls "$MNT/wiki512.canm" | grep -c walk)" 1
#   umount_animfs
#
# run.sh starts it (V=1 tests/mount/run.sh tests/mount/NAME.sh for one) in the top folder of the
# project with a fresh folder $WORK, in it an empty $SRC and $MNT. Daemons and mounts that a test
# leaves behind end with it.
#
#   mount_animfs [OPTION...]     animfs -f OPTION... "$SRC" "$MNT"; returns when it is mounted. The
#                                daemon's words are in $LOG. For a second mount:
#                                SRC=... MNT=... mount_animfs
#   umount_animfs                unmounts $MNT and waits for the daemon; a crash, a status other
#                                than 0 or a word of a sanitizer is a failed check
#   mount_stopped [OPTION...]    the same with a clock that stands still: no time of the rules passes
#                                (2 s without a change, say), however long the test takes, until
#   advance MS                   moves it on, and returns when all that is due by then is done and
#                                the kernel knows; `advance 1999` is "nothing happens within 2 s".
#                                What a program's end makes due, or a change in SOURCE within
#                                40 ms, is done then, too: after one of them at least `advance 0`,
#                                or `advance 250` (after another program's change)
#   after MS COMMAND...          for ok: the same, and then COMMAND succeeds
#   copying FROM TO COMMAND...   for ok: a program copies a tree, and runs COMMAND before it ends
#   settle DIR                   ends everything unfinished below a folder now (fsync), as
#                                `sync DIR` does for users; fails if something there is refused
#   make_game OPTION...          fills $SRC with generated animation files and others
#   ok NAME COMMAND...           a check: COMMAND succeeds
#   fails NAME COMMAND...        a check: COMMAND ends with a status other than 0 (and no signal)
#   is NAME GOT WANT             a check: two texts are equal
#   like NAME TEXT REGEX         a check: TEXT matches the extended regular expression
#   same_file A B                for ok: equal bytes
#   wait_for SECONDS COMMAND...  for ok: COMMAND succeeds within that time
#   save_errno HOW FILE TEXT     prints 0 or the name of the errno with which a save ends: HOW is
#                                close, fsync or rename
#   skip REASON                  counts a check that this machine cannot run; make test ends with all
#                                reasons and, by the table in scripts/test.sh, how to have what lacks
#   skip_all REASON              ends the test
#   has_terminals                can a program be given a terminal? Skips a check where not
#   has_faults                   can calls of the daemon be made to fail, by $FAULTS (fault.so)? Skips
#                                a check where not

set -u
: "${WORK:?run it through tests/mount/run.sh}"
SRC=$WORK/src
MNT=$WORK/mnt
FAULTS=$(dirname "$ANIMFS")/fault.so
mkdir "$SRC" "$MNT"

CHECKS=0
FAILED=0
declare -A DAEMON=() LOGS=()

pass() { echo "ok $((++CHECKS)) - $1"; }

# not_ok NAME [DETAIL...]
not_ok()
{
	echo "not ok $((++CHECKS)) - $1"
	((++FAILED))
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/#   /'
	return 1
}

skip() { echo "ok $((++CHECKS)) - # SKIP $1"; }

skip_all()
{
	skip "$1"
	exit 0
}

has_terminals()
{
	python3 -c 'import pty; pty.openpty()' 2>/dev/null && return
	skip "there are no pseudo-terminals (/dev/pts)"
	return 1
}

has_faults()
{
	if [ ! -e "$FAULTS" ]; then
		skip "fault.so is not built"
	elif readelf -W --dyn-syms "$ANIMFS" | grep -qE '__(asan|tsan|msan)_'; then
		skip "fault.so and sanitizers take each other's calls"
	else
		return 0
	fi
	return 1
}

ok()
{
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -eq 0 ]; then
		pass "$name"
	else
		not_ok "$name" "status $status of: $*" "$output"
	fi
}

fails()
{
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -gt 0 ] && [ "$status" -lt 126 ]; then
		pass "$name"
	else
		not_ok "$name" "status $status of: $*" "$output"
	fi
}

is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

like()
{
	if [[ $2 =~ $3 ]]; then
		pass "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

same_file() { cmp "$1" "$2"; }

wait_for()
{
	local end=$((SECONDS + $1 + 60))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

make_game() { "$(dirname "$ANIMFS")/make_game" "$SRC" "$@"; }

save_errno()
{
	python3 "$(dirname "${BASH_SOURCE[0]}")/writers.py" errno "$@"
}

# save_around FILE NEW COMMAND...: an editor has FILE open for writing while the command runs, then saves what
# is in NEW. Prints 0, or the errno with which that fails.
save_around()
{
	python3 - "$1" "$2" "${@:3}" <<'PYTHON'
import errno, os, subprocess, sys
path, new = sys.argv[1:3]
fd = os.open(path, os.O_RDWR)
subprocess.run(sys.argv[3:], check=True)
try:
    os.ftruncate(fd, 0)
    os.pwrite(fd, open(new, "rb").read(), 0)
    os.fsync(fd)
    print(0)
except OSError as error:
    print(errno.errorcode[error.errno])
PYTHON
}

# Can this machine mount at all? Asked without animfs, so that a broken one is not taken for "no".
can_mount()
{
	if ! { : <>/dev/fuse; } 2>/dev/null; then
		echo "/dev/fuse is missing or may not be opened"
	elif ! command -v fusermount3 >/dev/null; then
		echo "fusermount3 is not installed"
	elif [ "$(id -u)" -eq 0 ]; then
		mkdir -p "$WORK/probe"
		if mount -t tmpfs none "$WORK/probe" 2>/dev/null; then
			umount "$WORK/probe"
			return 0
		fi
		echo "mounting is not permitted here"
	else
		return 0
	fi
	return 1
}

# Not by asking the mount itself: a daemon that hangs would hang the test.
is_mounted() { grep -q " $MNT fuse" /proc/self/mounts; }
mounted_or_gone() { is_mounted || ! kill -0 "$1" 2>/dev/null; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

mount_animfs()
{
	local reason pid
	reason=$(can_mount) || skip_all "$reason"
	LOG=$WORK/log.${#LOGS[@]}
	# A shell starts what is in the background with SIGINT ignored.
	env --default-signal=INT "$ANIMFS" -f "$@" "$SRC" "$MNT" >"$LOG" 2>&1 &
	pid=$!
	DAEMON[$MNT]=$pid
	LOGS[$MNT]=$LOG
	echo "$pid" >>"$WORK/daemons"
	if ! wait_for 10 mounted_or_gone "$pid" || ! is_mounted; then
		not_ok "mount $*" "$(cat "$LOG")"
		exit 1
	fi
	# The mount is there before the daemon is confined; it answers when it is.
	timeout 60 stat -f "$MNT" >/dev/null 2>&1
	return 0
}

mount_stopped() { mount_animfs -o stopped_clock "$@"; }

advance() { echo "$1" >"$MNT/.animfs/clock" || not_ok "advance $1"; }

after()
{
	advance "$1" || return 1
	shift
	"$@"
}

settle() { sync "$1"; }

copying()
{
	python3 - "$@" <<'PYTHON'
import shutil, subprocess, sys
shutil.copytree(sys.argv[1], sys.argv[2], copy_function=shutil.copyfile)
sys.exit(subprocess.run(sys.argv[3:]).returncode)
PYTHON
}

unmounted() { fusermount3 -u "$MNT" 2>/dev/null || ! is_mounted; }

# What a daemon that does not end waits for: a copy of its mount in another namespace, or a thread.
describe_hang()
{
	local info task
	for info in $(grep -ls " $MNT fuse\| $MNT .* fuse.animfs" /proc/[0-9]*/mountinfo); do
		echo "process ${info//[!0-9]/} has the mount: $(tr '\0' ' ' <"${info%mountinfo}cmdline")"
	done
	for task in "/proc/$1/task"/*; do
		echo "thread ${task##*/} waits in $(cat "$task/wchan" 2>/dev/null)"
	done
	! command -v gdb >/dev/null || timeout -s KILL 30 gdb -p "$1" -batch -ex 'thread apply all bt 12' 2>&1 |
		grep -E '^(#|Thread)'
}

umount_animfs()
{
	local pid=${DAEMON[$MNT]} status=0 complaint
	wait_for 10 unmounted || {
		not_ok "unmount" "$(fusermount3 -u "$MNT" 2>&1)"
		return
	}
	wait_for 20 is_gone "$pid" || {
		not_ok "the daemon ends after the unmount" "$(describe_hang "$pid")"
		return
	}
	wait "$pid" || status=$?
	unset "DAEMON[$MNT]"
	complaint=$(grep -E 'Sanitizer|runtime error:' "${LOGS[$MNT]}")
	if [ "$status" -ne 0 ] || [ -n "$complaint" ]; then
		not_ok "the daemon ends well" "status $status" \
			"$(sed '1,/ERROR: .*Sanitizer/!b
				/^Shadow bytes/,$d' "${LOGS[$MNT]}" | head -n 60)"
	fi
}

finish()
{
	local status=$? mount
	trap - EXIT
	# A daemon that a test left behind must not have died either.
	for mount in "${!DAEMON[@]}"; do
		MNT=$mount umount_animfs
	done
	if [ "$status" -ne 0 ] && [ "$FAILED" -eq 0 ]; then
		not_ok "the test ended with status $status"
	fi
	echo "1..$CHECKS"
	exit $((FAILED > 0))
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
