#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# late_reply.sh - changes while the reply to a lookup is in flight: attributes from before the change are
# not cached, and a file that is replaced each time can be opened.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
cp tests/data/canm/wiki512.canm "$SRC/a.canm"
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_stopped -o unconfined
CLIP=$MNT/a.canm/walk
holds=0
bone=bones/Bone01.csv

# hold: the first reply to a look-up from now on is held, until the next hold or go
hold()
{
	rm -f "$WORK/fault.held"
	echo "entry hold /dev 1 $((++holds))" >"$WORK/next" && mv "$WORK/next" "$WORK/fault"
}
held() { wait_for 10 test -e "$WORK/fault.held"; }
go() { rm "$WORK/fault"; }

before=$("$ANIMFS" cat "$SRC/a.canm/walk/curves.csv" | wc -c)
sed '2s/^0,0,[^,]*/0,0,0.015625/' "$CLIP/$bone" >"$WORK/new"
stat "$CLIP" >/dev/null
hold
stat -c %s "$CLIP/curves.csv" >"$WORK/first" &
looker=$!
ok "a view is looked up for the first time" held
ok "another one is saved" cp "$WORK/new" "$CLIP/$bone"
after=$("$ANIMFS" cat "$SRC/a.canm/walk/curves.csv" | wc -c)
ok "which changes its size" test "$before" -ne "$after"
go
wait $looker
# The kernel asks once more if it has forgotten any file of the mount meanwhile.
like "the reply is from before the save" "$(<"$WORK/first")" "^($before|$after)$"
advance 0
is "and is not what the kernel keeps" "$(stat -c %s "$CLIP/curves.csv")" "$after"
is "nor what is read by" "$(cat "$CLIP/curves.csv" | wc -c)" "$after"

put() { echo "$1" >"$SRC/new" && mv "$SRC/new" "$SRC/plain"; }
held_or_read() { [ -e "$WORK/fault.held" ] || is_gone "$reader"; }
put 1
hold
cat "$MNT/plain" >"$WORK/read" 2>&1 &
reader=$!
for ((i = 2; i < 10; i++)); do
	wait_for 10 held_or_read
	[ -e "$WORK/fault.held" ] || break
	put $i
	hold
done
go
wait $reader
is "a file that is replaced after each look-up is opened" $? 0
like "as it was at one of them" "$(<"$WORK/read")" '^[1-9]$'
ok "of which there were two at least" test $i -gt 3
is "then it is the last one" "$(cat "$MNT/plain")" $((i - 1))
umount_animfs
