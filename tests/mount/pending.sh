#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pending.sh - a text that is incomplete when it is flushed is neither a change nor an error; if no program
# continues it, the view shows its old text again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_stopped
F=$MNT/wiki512.canm/$BONE
J=${F%.csv}.json
cp "$J" "$WORK/old.json"
unchanged() { cmp -s "$SRC/wiki512.canm" "$SAMPLE" && [ -z "$(find "$MNT" -name '*.rejected' -o -name '*.error')" ]; }

: >"$F"
ok "an empty text changes nothing" unchanged
is "and is what the view says" "$(wc -c <"$F")" 0
ok "until 2 seconds later" after 2000 cmp -s "$F" "$OLD"
ok "truncate -s 0 changes nothing" truncate -s 0 "$F"
ok "either" unchanged
ok "until 2 seconds later, either" after 2000 cmp -s "$F" "$OLD"

# What each child of a shell flushes, with a look at it before the next one writes.
{
	head -n 1 "$OLD"
	unchanged && echo header >&2
	sed -n 2,4p "$OLD" | head -c -30
	unchanged && echo half >&2
	tail -c 30 "$OLD"
} >"$F" 2>"$WORK/looks"
is "a header alone and half a row are no change" "$(<"$WORK/looks")" $'header\nhalf'
ok "and the whole is the old text" unchanged
{
	head -n 8 "$WORK/old.json"
	unchanged && echo half >&2
	tail -n +9 "$WORK/old.json"
} >"$J" 2>"$WORK/looks"
is "half a JSON text is no change" "$(<"$WORK/looks")" half
ok "and the whole is the old one" unchanged

ok "half a text at the last close is refused" test "$(save_errno fsync "$F" "$(head -n 1 "$OLD")")" = EBADMSG
like "and the error says how keys are removed" "$(<"$F.error")" 'blank'
rm "$F.error" "$F.rejected"
is "an empty text at fsync is refused" "$(save_errno fsync "$F" "")" EBADMSG
rm -f "$F.error" "$F.rejected"
is "an empty text by rename is refused" "$(save_errno rename "$F" "")" EBADMSG
ok "all that changed nothing" cmp "$SRC/wiki512.canm" "$SAMPLE"
rm -f "$F.error" "$F.rejected" "$F.new~"

ok "what is pending" after 2000 cmp -s "$F" "$OLD"
: >"$F"
head -n 1 "$NEW" >>"$F" 2>/dev/null
tail -n +2 "$NEW" >>"$F"
ok "is gone on with by appending" cmp "$SRC/wiki512.canm" "$EDITED"
ok "and then it is saved" cmp "$F" "$NEW"
ok "without an error left" test ! -e "$F.rejected" -a ! -e "$F.error"

cp "$SRC/wiki512.canm" "$WORK/before"
: >"$F"
umount_animfs
ok "an empty text at the end of the mount changes nothing" cmp "$SRC/wiki512.canm" "$WORK/before"

mount_stopped
: >"$F"
head -n 1 "$NEW" >>"$F"
umount_animfs
ok "a header alone changes nothing then" cmp "$SRC/wiki512.canm" "$WORK/before"
ok "but it is kept" cmp "$SRC/.animfs/rejected/wiki512.canm/$BONE.rejected" <(head -n 1 "$NEW")
