#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ordinary_user.sh - an ordinary user mounts through fusermount3, edits and unmounts; where SOURCE
# cannot be written the mount is read-only.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"
needs_fusermount

cp tests/data/canm/wiki512.canm "$SRC"
chown -R $USER_ID:$USER_ID "$SRC" "$MNT"
F=$MNT/wiki512.canm/walk/bones/Bone01.csv

ok "mounts" as_user "$USER_ANIMFS" "$SRC" "$MNT"
ok "reads" as_user grep -q 0,0,1.5,-2 "$F"
ok "edits" as_user sed -i s/1.5,-2/2.5,-2/ "$F"
like "the edit is in the binary" "$("$ANIMFS" cat "$SRC/wiki512.canm/walk/bones/Bone01.csv")" 0,0,2.5,-2
is "which is the user's" "$(stat -c %U "$SRC/wiki512.canm")" nobody
is "a bad save is refused" "$(as_user sed -i s/2.5,-2/x,-2/ "$F" 2>&1 | grep -c 'Bad message')" 1
ok "and kept" as_user grep -q 'x,-2' "$F.rejected"
ok "unmounts" as_user "$USER_ANIMFS" umount "$MNT"

ok "mounts again" as_user "$USER_ANIMFS" "$SRC" "$MNT"
ok "unmounts with fusermount3" as_user fusermount3 -u "$MNT"

chown 0:0 "$SRC" "$SRC"/*
rm -rf "$SRC/.animfs"
as_user "$USER_ANIMFS" "$SRC" "$MNT" 2>"$WORK/words"
is "mounts what it cannot write" $? 0
like "and says that it is read-only" "$(<"$WORK/words")" 'read-only'
ok "which can be read" as_user grep -q 0,0,2.5,-2 "$F"
is "and not written" "$(as_user touch "$F" 2>&1 | grep -c 'Read-only file system')" 1
ok "unmounts that" as_user "$USER_ANIMFS" umount "$MNT"

chmod 700 "$SRC"
fails "what it cannot read is not mounted" as_user "$USER_ANIMFS" "$SRC" "$MNT"

# ---- confined as root's is, with nothing but the user's own rights ----

chmod 755 "$SRC"
chown -R $USER_ID:$USER_ID "$SRC"
fact() { sed -n "s/^$1:[[:space:]]*//p" "/proc/${2:-$PID}/status"; }
gone() { ! is_mounted; }
ok "mounts once more" as_user "$USER_ANIMFS" "$SRC" "$MNT"
PID=$(as_user sed -n 's/^pid //p' "$MNT/.animfs/status")
echo "$PID" >>"$WORK/daemons"
is "without capabilities, or a way to new ones" "$(fact CapPrm) $(fact NoNewPrivs)" "0000000000000000 1"
like "which status tells" "$(as_user cat "$MNT/.animfs/status")" 'confined .*privileges'
fails "others, root too, are not let in" ls "$MNT"
is "errors are the mounter's" "$(as_user stat -c '%a %u' "$MNT/.animfs/errors")" "400 $USER_ID"
unmounter() { pgrep -P "$PID" animfs-unmount || pgrep -u $USER_ID -n animfs-unmount; }
wait_for 10 unmounter >/dev/null # which has its name some time after the mount is there
UNMOUNTER=$(unmounter)
is "nor has what unmounts" "$(fact CapPrm "$UNMOUNTER") $(fact CapEff "$UNMOUNTER")" \
	"0000000000000000 0000000000000000"
fails "it sees the file tree" as_user grep -Eqw 'confined.* (tree|namespace)' "$MNT/.animfs/status"
kill -TERM "$PID"
ok "SIGTERM: ends" wait_for 10 is_gone "$PID"
ok "SIGTERM: nothing stays mounted" wait_for 10 gone
ok "mounts again after it" as_user "$USER_ANIMFS" "$SRC" "$MNT"
PID=$(as_user sed -n 's/^pid //p' "$MNT/.animfs/status")
kill -KILL "$PID"
ok "SIGKILL: nothing stays mounted" wait_for 10 gone

# However it is unmounted, the daemon ends.
for how in "fusermount3 -u" "fusermount3 -uz" "umount" "umount -l"; do
	ok "mounts for $how" as_user "$USER_ANIMFS" "$SRC" "$MNT"
	PID=$(as_user sed -n 's/^pid //p' "$MNT/.animfs/status")
	echo "$PID" >>"$WORK/daemons"
	read -ra unmount <<<"$how"
	[ "${unmount[0]}" = umount ] || unmount=(as_user "${unmount[@]}")
	ok "$how" "${unmount[@]}" "$MNT"
	ok "$how: the daemon ends" wait_for 10 is_gone "$PID"
done

# What the manual says is left: files of the user's own. Others' processes' limits are not.
INTRUDER_SO=$(dirname "$ANIMFS")/intruder.so
OUTSIDE=$WORK/outside/file
mkdir "$WORK/outside"
touch "$OUTSIDE" "$WORK/outside/others"
chown $USER_ID:$USER_ID "$OUTSIDE"
setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups -- sleep 300 & # in real time: somebody to look at
VICTIM=$!
if [ -e "$INTRUDER_SO" ]; then
	cp "$INTRUDER_SO" "$WORK/bin"
	ok "mounts, taken over" as_user env LD_PRELOAD="$WORK/bin/intruder.so" INTRUDER=$VICTIM:"$OUTSIDE" "$USER_ANIMFS" "$SRC" "$MNT"
	as_user ln -s intruder "$MNT/intruder"
	like "its user's own files elsewhere, and nothing more" "$(as_user readlink "$MNT/intruder")" \
		'^chmod chown utimensat( setxattr)?$'
	ok "unmounts" as_user "$USER_ANIMFS" umount "$MNT"
	as_user rm "$SRC/intruder"
	as_user env LD_PRELOAD="$WORK/bin/intruder.so" INTRUDER=$VICTIM:"$WORK/outside/others" "$USER_ANIMFS" "$SRC" "$MNT"
	as_user ln -s intruder "$MNT/intruder"
	is "others' not" "$(as_user readlink "$MNT/intruder")" nothing
	ok "unmounts that" as_user "$USER_ANIMFS" umount "$MNT"
else
	skip "intruder.so is not built"
fi
kill "$VICTIM"
