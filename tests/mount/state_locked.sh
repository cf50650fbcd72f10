#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# state_locked.sh - another process holds the lock of the state directory: a save waits for it, and is
# refused after 10 seconds; readers do not wait, and nothing typed is lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
reason=$(can_mount) || skip_all "$reason"
STATE=$WORK/state
cp "$SAMPLE" "$SRC"
F=$MNT/wiki512.canm/$BONE
errors() { cat "$MNT/.animfs/errors"; }
mount_animfs --state="$STATE"
ok "a save makes the state directory" cp "$NEW" "$F"
ok "and another one restores the file" cp "$OLD" "$F"
cp "$SRC/wiki512.canm" "$WORK/was"

locked()
{
	exec {gate}>"$STATE/lock"
	flock -w 60 "$gate" || not_ok "the lock is taken"
}
release() { flock -u "$gate" && exec {gate}>&-; }
# A save in the background, which has begun to wait: its text is the view's.
save_in_background()
{
	save_errno "$1" "$F" "$(<"$NEW")"$'\n' >"$WORK/verdict" &
	saver=$!
	wait_for 5 cmp -s "$F" "$NEW"
}
changed() { ! cmp -s "$SRC/wiki512.canm" "$WORK/was"; }
waits() { kill -0 "$saver"; }

locked
save_in_background close
ok "while the save waits, its view is read" cmp "$F" "$NEW"
ok "and others of the file" cat "$MNT"/wiki512.canm/*/curves.csv
ok "and the folder is listed" ls -lR "$MNT"
ok "the save still waits" waits
release
wait "$saver"
is "the lock is free: it is saved" "$(<"$WORK/verdict")" 0
ok "in the file" changed
ok "back again" cp "$OLD" "$F"
ok "to the byte" cmp "$SRC/wiki512.canm" "$WORK/was"

for way in fsync close; do
	locked
	save_in_background "$way"
	wait "$saver"
	is "$way: held too long, the save is refused" "$(<"$WORK/verdict")" EBUSY
	ok "$way: the file is as it was" cmp "$SRC/wiki512.canm" "$WORK/was"
	like "$way: .animfs/errors says who is in the way" "$(errors)" \
		'another process has held .*lock for 10 seconds'
	ok "$way: what was typed is kept" cmp "$F.rejected" "$NEW"
	release
	ok "$way: free again, it is saved" cp "$F.rejected" "$F"
	ok "$way: in the file" changed
	ok "$way: and back" cp "$OLD" "$F"
	ok "$way: to the byte" cmp "$SRC/wiki512.canm" "$WORK/was"
done

# The lock is not free before the end, so whatever waits for the save is answered after it.
sed s/1.5,-2/8.5,-2/ "$OLD" >"$WORK/other.csv"
locked
save_in_background close
python3 - "$F" "$WORK/other.csv" >"$WORK/second" <<'PYTHON'
import errno, os, sys
view, text = sys.argv[1:]
fd = os.open(view, os.O_WRONLY | os.O_TRUNC)
os.write(fd, open(text, "rb").read())
try:
    os.fsync(fd)
    print(0)
except OSError as error:
    print(errno.errorcode[error.errno])
try:
    os.close(fd)
except OSError:
    pass
PYTHON
wait "$saver"
is "fsync waits for a save of the view that waits" "$(<"$WORK/second")" EBUSY
release
ok "it is saved again" cp "$NEW" "$F"
ok "and back" cp "$OLD" "$F"

locked
save_in_background close
mv "$MNT/wiki512.canm" "$MNT/other.canm"
is "the file is renamed" "$?" 0
wait "$saver"
is "once the save was answered" "$(<"$WORK/verdict")" EBUSY
ok "whose text goes with it" cmp "$MNT/other.canm/$BONE.rejected" "$NEW"
release
ok "and is saved there" cp "$NEW" "$MNT/other.canm/$BONE"
ok "and back" cp "$OLD" "$MNT/other.canm/$BONE"
ok "and renamed back" mv "$MNT/other.canm" "$MNT/wiki512.canm"

locked
save_in_background close
mv "$F" "$F~"
is "a view is moved away" "$?" 0
wait "$saver"
is "once its save was answered" "$(<"$WORK/verdict")" EBUSY
release
ok "its text is there" test -s "$F~"
umount_animfs

locked
mount_animfs --state="$STATE"
ok "a mount does not wait for the lock for ever" cat "$F"
release
ok "and once it is free, its saves go on" cp "$NEW" "$F"
umount_animfs
