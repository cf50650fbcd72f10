#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bounded.sh - unsaved texts have bounds: the memory of all drafts together (--drafts-max), and the refused
# texts beside the views (--rejected-max).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
F=$MNT/wiki512.canm/$BONE
full="No space left on device"

errno_of() { LC_ALL=C "$@" 2>&1 | sed -n '1s/.*: //p'; }
# long N: a text of about N kilobytes that is no table
long() { head -c "$(($1 * 1024))" /dev/zero | tr '\0' x; }

# ---- drafts ----

mount_stopped --drafts-max=256K
is "a text that is too long for all drafts" "$(long 400 | errno_of dd of="$F" status=none)" "$full"
ok "is not the view's" same_file <(cat "$F") "$OLD"
ok "nothing else fails: a save" cp "$NEW" "$F"
ok "which is there" same_file "$F" "$NEW"
exec 3>"$MNT/wiki512.canm/walk/curves.csv"
long 200 >&3
is "two at once" "$(long 200 | errno_of dd of="$F" status=none conv=notrunc)" "$full"
ok "reading goes on" test -s "$MNT/wiki512.canm/walk/clip.json"
exec 3>&-
ok "and writing, when one is given up" after 2000 cp "$OLD" "$F"
ok "for as often as one likes" sh -c "for i in 1 2 3 4 5 6; do cp '$NEW' '$F' && cp '$OLD' '$F' || exit; done"
umount_animfs

# A text that was saved takes room only if it differs from the view's own, and makes room for others.
rm -rf "${SRC:?}"/* "$SRC/.animfs"
make_game --files 1 --clips 1 --bones 140 --frames 60 --plain 0
mount_stopped --drafts-max=256K
bones=$(find "$MNT" -type d -name bones)
mkdir "$WORK/bones"
cp "$bones"/*.csv "$WORK/bones"
ok "more texts than there is room for" test "$(cat "$WORK"/bones/*.csv | wc -c)" -gt $((300 << 10))
saved()
{
	for text in "$WORK"/bones/*.csv; do
		cp "$text" "$bones" && advance 2000 || return
	done
}
ok "are saved one after the other" saved
sed -i 's/,/;/g' "$WORK"/bones/*.csv
ok "with other separators, too" saved
umount_animfs
rm -rf "${SRC:?}"/* "$SRC/.animfs"
cp "$SAMPLE" "$SRC"

# ---- texts that are kept as they were saved ----

mount_stopped --drafts-max=256K
saved=0
for view in "$MNT"/wiki512.canm/walk/bones/*.csv; do
	view=${view%.csv}.json
	printf '%s%*s' "$(<"$view")" 100000 '' >"$WORK/long"
	cp "$WORK/long" "$view" && ((++saved))
	((saved == 2)) || advance 2000
done
is "many are saved, each by a long text" "$saved" 4
ok "the last one is kept as it was saved" same_file "$view" "$WORK/long"
ok "others are rendered" test "$(cat "$MNT"/wiki512.canm/walk/bones/*.json | wc -c)" -lt 250000
ok "the binary is as it was" same_file "$SRC/wiki512.canm" "$SAMPLE"
umount_animfs
rm -rf "$SRC/.animfs"

# ---- refusals ----

mount_stopped --rejected-max=144K
refuse() { { echo "frame,time"; long "$1"; } >"$WORK/bad"; errno_of cp "$WORK/bad" "$F"; }
is "a refused text" "$(refuse 20)" "Bad message"
ok "is kept" same_file "$F.rejected" "$WORK/bad"
is "another one, too" "$(refuse 21)" "Bad message"
ok "beside the first" test -s "$F.rejected.~2~"
is "until there is no room" "$(refuse 120)" "$full"
ok "then the text stays the view's" same_file "$F" "$WORK/bad"
like "and .animfs/errors says so" "$(<"$MNT/.animfs/errors")" 'not saved: .*cannot be put beside the view'
ok "the binary is as it was" same_file "$SRC/wiki512.canm" "$SAMPLE"
ok "removing refused ones" rm "$F.rejected" "$F.rejected.~2~"
is "makes room" "$(refuse 22)" "Bad message"
ok "for the next" same_file "$F.rejected" "$WORK/bad"
ok "a save" cp "$NEW" "$F"
fails "takes what was refused away" test -e "$F.rejected"
umount_animfs
