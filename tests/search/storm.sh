#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# storm.sh - all ways to save beside all ways to read, while clips and files are renamed and moved
# (tests/search/storm/storm.c says what is checked): the daemon lives, nothing hangs, no acknowledged save
# is lost, and no call gets an errno that a bare filesystem would not give. $STORM_SAVES (2000) is
# how many saves the whole matrix takes, $STORM_SECONDS (10) when its last round may begin at the
# latest, $STORM_SEED (1) what they are, $STORM_STRUCTURES which changes it makes (all). With
# $STORM_EACH each change has that many seconds to itself before that. With $STORM_FORGET the kernel
# is made to forget names and files meanwhile, those of all mounts.
# limit: 7200
. "$(dirname "$0")/../mount/lib.sh"
STORM=$(dirname "$ANIMFS")/storm
# What the storm keeps hangs on memory that its processes share, where LeakSanitizer does not look.
STORM_ASAN=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
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
write_on_hang()
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
write_on_hang

# storm NAME OPTION...: what it found is in $FOUND; a status below 2 leaves the mount.
storm()
{
	local name=$1 status=0
	shift
	FOUND=$WORK/found.$MOUNTS
	ASAN_OPTIONS=$STORM_ASAN \
		"$STORM" --source="$SRC" --daemon="${DAEMON[$MNT]}" --seed="$SEED" --state="$WORK/state" \
		--animfs="$ANIMFS" ${STORM_FORGET:+--forget} \
		--on-hang="$WORK/on-hang ${DAEMON[$MNT]}" "$@" "$MNT" >"$FOUND" 2>&1 || status=$?
	if [ $status -eq 0 ]; then
		pass "$name"
	else
		not_ok "$name" "status $status of: storm $*" \
			"$(grep -vE '^(habit|reader|structure|both|bare|open|by-name|by-handle|fsync)' "$FOUND" |
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
	ok "$1: all is there after a remount" env ASAN_OPTIONS="$STORM_ASAN" \
		"$STORM" --verify="$WORK/state" "$MNT"
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

# bare NAME OPTION...
bare()
{
	local name=$1
	shift
	ASAN_OPTIONS=$STORM_ASAN timeout 120 "$STORM" --bare "$@" "$WORK/bare" >"$WORK/found.bare" 2>&1
	like "$name" "$(grep -E '^(WRONG|wrong|storm|HANG)' "$WORK/found.bare")" '^storm: .*: 0 wrong$'
}
bare "on a bare filesystem nothing is wrong" --seed="$SEED" --saves=1500 --seconds=5
# A text that is renamed onto one that is saved in place is truncated there, whoever has mapped it;
# and who links a file while another one is renamed onto it may find none.
bare "nor where a text is renamed onto one that is saved in place" --seed=2 --first=4 --rounds=1 \
	--habits=perl-bak,tee --structures=view-across --each=2000
# Of two savers in the one file of its format, none has a view that could go to another file.
bare "what a structure needs is dealt" --savers=2 --each=1 --structures=view-across --rounds=20

# ---- what crashed or hung ----

reproducer "vim saves, cat reads" --habits=vim --readers=cat --structures=none --saves=240
reproducer "vim saves, grep -r reads" --habits=vim --readers=grep --structures=none --saves=240
reproducer "a view is moved onto another file's, beside readers" --habits=sed --savers=2 \
	--readers=cat,grep,ls,kept --structures=view-across --saves=160

# Each file has one folder of versions, wherever the folder that it is in was when a save began.
fresh
if storm "a folder is renamed and back, beside savers" --habits=cp,tee,perl --savers=4 --each=100 \
	--structures=folder-rename --saves=800 --seconds=20; then
	is "old versions stay together" "$(find "$SRC/.animfs/history" -mindepth 1 -maxdepth 1 -name "*-*" 2>/dev/null)" ""
	umount_animfs
fi
[ -z "${DAEMON[$MNT]-}" ] || umount_animfs

# ---- what others may not lose ----

reproducer "an old copy of all texts comes back, beside savers" --structures=tree-back --readers=cat,grep \
	--habits=tee,cp,vscode,sed,rsync,vim --saves=240
reproducer "animfs undo, beside savers" --structures=undo --readers=cat,grep --saves=240

reproducer "a file is removed and comes back, beside savers" --structures=remove --savers=4 --saves=160

# ---- two mounts ----

# second: another mount of the same SOURCE, at $SECOND
second()
{
	SECOND=$WORK/second.$MOUNTS
	mkdir "$SECOND"
	MNT=$SECOND mount_animfs
}
umount_second() { MNT=$SECOND umount_animfs; }

fresh
second
storm "savers by two mounts" --second="$SECOND" --structures=none,outside,copy,undo --saves=640 --seconds=20
like "some savers use the second one" "$(grep '^both mounts:' "$FOUND")" ': [1-9]'
umount_second
[ -z "${DAEMON[$MNT]-}" ] || umount_animfs

# Each change by itself, beside savers of all habits: in the matrix a pair of them meets too seldom.
structures=
[ -z "${STORM_EACH:-}" ] ||
	structures=$("$STORM" --list | sed -n 's/^structure //p' | grep -vx none)
for structure in $structures; do
	fresh
	second
	storm "$structure by itself" --second="$SECOND" --structures="$structure" --saves=4000 --seconds="$STORM_EACH"
	umount_second
	[ -z "${DAEMON[$MNT]-}" ] || umount_animfs
done

# ---- the matrix ----

# strict NAME CALLS: none of the matrix's got an ENOENT or ESTALE that a bare filesystem would not give.
strict() { like "$1" "$(sed -n "s/^$2: //p" "$FOUND")" '^0 of [1-9]'; }

fresh
second
storm "the matrix, seed $SEED" --second="$SECOND" --saves="$SAVES" --seconds="$LAST" \
	${STORM_STRUCTURES:+--structures="$STORM_STRUCTURES"}
strict "a name is there while something is renamed onto it" by-name
strict "a handle reads on when its name is gone" by-handle
strict "fsync is not refused" fsync
umount_second
[ -z "${DAEMON[$MNT]-}" ] || after_remount "the matrix"
[ "${V:-0}" != 1 ] || grep -E '^(storm|habit|reader|structure|both|open|by-name|by-handle|fsync)' "$FOUND"
