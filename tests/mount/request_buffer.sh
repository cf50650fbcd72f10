# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# request_buffer.sh - a thread that has no memory for the kernel's requests tries again, and the
# others go on. They do not begin anew, in which a request that one has just read would be lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
reason=$(can_mount) || skip_all "$reason"
has_faults || exit
FILES=({1..12}) # fewer than the threads that are kept when there is nothing to do
for i in "${FILES[@]}"; do cp "$SAMPLE" "$SRC/$i.canm"; done
ok "a save makes the state directory" "$ANIMFS" put "$SRC/1.canm/$BONE" "$NEW"
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o unconfined
PID=${DAEMON[$MNT]}
threads() { ls "/proc/$PID/task"; }

ok "threads read" cat "$MNT"/*/walk/curves.csv
before=$(threads)
# Saves that wait, until another thread is needed.
exec {gate}>"$SRC/.animfs/lock"
ok "the lock is taken" flock -w 60 "$gate"
echo "buffer 12 /" >"$WORK/fault"
for i in "${FILES[@]}"; do
	cp "$NEW" "$MNT/$i.canm/$BONE" 2>/dev/null &
	savers+=($!)
done
ok "one has no memory" wait_for 60 grep -q "failed to allocate read buffer" "$LOG"
rm "$WORK/fault"
flock -u "$gate"
wait "${savers[@]}"
ok "then it answers" cmp "$MNT/6.canm/$BONE" "$NEW"
is "none of the others has ended" "$(comm -23 <(echo "$before") <(threads))" ""
umount_animfs
