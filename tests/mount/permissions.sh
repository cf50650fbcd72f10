#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# permissions.sh - with allow_other every user may do in the mount exactly what SOURCE allows: with files,
# texts, ordinary files beside them, and names that take a text with them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"

cp tests/data/canm/wiki512.canm "$SRC/mine.canm"
cp tests/data/canm/wiki512.canm "$SRC/shared.canm"
cp tests/data/canm/wiki512.canm "$SRC/team.canm"
echo secret >"$SRC/secret"
echo shown >"$SRC/shown"
chmod 600 "$SRC/mine.canm" "$SRC/secret"
chmod 644 "$SRC/shared.canm" "$SRC/shown"
chmod 640 "$SRC/team.canm"
mkdir -m 700 "$SRC/closed"
mkdir -m 1777 "$SRC/sticky"
mkdir -m 777 "$SRC/open" "$SRC/open/group"
echo inside >"$SRC/closed/file"
chown $OTHER_ID:$USER_ID "$SRC/team.canm"
chown 0:$USER_ID "$SRC/open/group"
chmod 2775 "$SRC/open/group"
BONE=walk/bones/Bone01.csv

refused() { fails "$@"; }
mount_animfs -o allow_other

# ---- reading and writing ----

refused "a file of mode 600 is not read" as_user cat "$MNT/secret"
refused "nor its folder of mode 700 entered" as_user cat "$MNT/closed/file"
ok "one of mode 644 is read" as_user cat "$MNT/shown"
refused "and not written" as_user sh -c "echo x >'$MNT/shown'"
refused "nor removed" as_user rm -f "$MNT/shown"
refused "nor moved" as_user mv "$MNT/shown" "$MNT/open/shown"
refused "its mode is its owner's" as_user chmod 666 "$MNT/shown"
refused "so are its xattrs" as_user setfattr -n user.x -v 1 "$MNT/shown"
setfattr -n user.x -v 1 "$SRC/secret" "$SRC/shown"
refused "and of what cannot be read not even seen" as_user getfattr -n user.x "$MNT/secret"
ok "else they are" as_user getfattr -n user.x "$MNT/shown"

for text in "$BONE" walk/bones/Bone01.json walk/clip.json walk/curves.csv file.json raw.canm skeleton.csv walk/clip.gltf; do
	refused "mode 600: $text is not read" as_user cat "$MNT/mine.canm/$text"
	ok "mode 644: $text is read" as_user cat "$MNT/shared.canm/$text"
	refused "mode 644: and not written" as_user sh -c ": >>'$MNT/shared.canm/$text'"
	refused "mode 644: nor removed" as_user rm -f "$MNT/shared.canm/$text"
	ok "mode 640: read by the group" as_user cat "$MNT/team.canm/$text"
	refused "mode 640: not written by it" as_user sh -c ": >>'$MNT/team.canm/$text'"
done
refused "mode 600: nothing is listed" as_user ls "$MNT/mine.canm"
refused "mode 644: nothing is put beside the texts" as_user touch "$MNT/shared.canm/note"
refused "mode 644: no clip is made" as_user mkdir "$MNT/shared.canm/new"
refused "mode 644: nor renamed" as_user mv "$MNT/shared.canm/walk" "$MNT/shared.canm/run"
ok "mode 640: its owner writes" as_other sed -i 2s/1.5,/2.5,/ "$MNT/team.canm/$BONE"
is "mode 640: and it stays his, and the group's" "$(stat -c '%u %g %a' "$SRC/team.canm")" "$OTHER_ID $USER_ID 640"
is "mode 600: nothing was changed" "$(cmp "$SRC/mine.canm" tests/data/canm/wiki512.canm)" ""
is "mode 644: neither" "$(cmp "$SRC/shared.canm" tests/data/canm/wiki512.canm)" ""

# ---- what lies beside the texts ----

ok "a note by the owner" as_other sh -c "umask 077; echo note >'$MNT/team.canm/note'"
is "is his" "$(stat -c '%u %a' "$MNT/team.canm/note")" "$OTHER_ID 600"
refused "and nobody else's to read" as_user cat "$MNT/team.canm/note"
as_other sh -c "cat >'$MNT/team.canm/$BONE'" <<<"nonsense" 2>/dev/null
ok "what was refused is there" test -s "$MNT/team.canm/$BONE.rejected"
ok "for the group" as_user cat "$MNT/team.canm/$BONE.error"
is "which is the file's" "$(stat -c '%u %g %a' "$MNT/team.canm/$BONE.rejected")" "$OTHER_ID $USER_ID 640"
save_errno close "$MNT/mine.canm/$BONE" nonsense >/dev/null
ok "and where it was root's" test -s "$MNT/mine.canm/$BONE.rejected"
refused "for root" as_user cat "$MNT/mine.canm/$BONE.rejected"
refused "errors quote it: they are the mounter's" as_user cat "$MNT/.animfs/errors"
ok "who reads them" grep -q mine.canm "$MNT/.animfs/errors"
ok "status is everybody's" as_user cat "$MNT/.animfs/status"
refused "the state directory is not" as_user ls "$SRC/.animfs"

# ---- whose what is made is ----

ok "made by a user" as_user sh -c "umask 027; touch '$MNT/open/file'; mkdir '$MNT/open/folder'; ln -s x '$MNT/open/link'; mkfifo '$MNT/open/fifo'"
is "is the user's, less his umask" "$(cd "$SRC/open" && stat -c '%n %u %g %a' file folder fifo)" \
	"$(printf '%s\n' "file $USER_ID $USER_ID 640" "folder $USER_ID $USER_ID 750" "fifo $USER_ID $USER_ID 640")"
is "a link, too" "$(stat -c '%u %g' "$SRC/open/link")" "$USER_ID $USER_ID"
ok "in a set-gid folder" setpriv --reuid=$OTHER_ID --regid=$OTHER_ID --groups=$USER_ID -- sh -c "umask 022; touch '$MNT/open/group/file'; mkdir '$MNT/open/group/folder'"
is "it is the folder's group's" "$(cd "$SRC/open/group" && stat -c '%n %u %g %a' file folder)" \
	"$(printf '%s\n' "file $OTHER_ID $USER_ID 644" "folder $OTHER_ID $USER_ID 2755")"
# By a member whose own group is another, by one who is none, and below one another: as in SOURCE.
made_in() # FOLDER
{
	local member="setpriv --reuid=$OTHER_ID --regid=$OTHER_ID --groups=$USER_ID --"
	umask 022
	$member mkdir "$1/made" "$1/made/below" && $member mkdir -m 2770 "$1/asked" &&
		$member install -d -m 2755 "$1/installed" && $member mkdir "$1/changed" &&
		$member chmod 2750 "$1/changed" && $member cp -a "$1/made" "$1/copied" &&
		$member mkdir "$1/animation.canm" "$1/animation.canm/below" &&
		as_other mkdir "$1/stranger" && as_other chmod 2755 "$1/stranger"
}
in_folder() { (cd "$1" && find . -mindepth 1 -printf '%P %U %G %m\n' | sort); }
for place in "$SRC/open/native" "$MNT/open/mounted"; do
	mkdir -p "$place"
	chown 0:$USER_ID "$place"
	chmod 2777 "$place"
	ok "set-gid folders: $(basename "$place")" made_in "$place"
done
is "what is made in them is as anywhere" "$(in_folder "$SRC/open/mounted")" "$(in_folder "$SRC/open/native")"
is "and shown so" "$(in_folder "$MNT/open/mounted")" "$(in_folder "$SRC/open/native")"
rm -r "$SRC/open/native" "$SRC/open/mounted"
as_user touch "$MNT/sticky/file"
refused "what is another's in a sticky folder stays" as_other rm -f "$MNT/sticky/file"
ok "a copied animation" as_user cp "$MNT/shared.canm/raw.canm" "$MNT/open/copy.canm"
is "is the copier's" "$(stat -c '%u' "$SRC/open/copy.canm")" "$USER_ID"
ok "who edits it" as_user sed -i 2s/1.5,/2.5,/ "$MNT/open/copy.canm/$BONE"
is "after which it still is" "$(stat -c '%u %g' "$SRC/open/copy.canm")" "$USER_ID $USER_ID"

# ---- names that take a text with them ----

# In a folder of his own a user may move what he may not read. It must not become readable by that.
cp "$SRC/secret" "$SRC/open/secret"
chmod 600 "$SRC/open/secret"
F=$MNT/open/copy.canm/$BONE
is "an unreadable file is not moved onto a text" "$(as_user mv -f "$MNT/open/secret" "$F" 2>&1 | grep -c 'Permission denied')" 1
is "nor beside it" "$(as_user mv -f "$MNT/open/secret" "$F.txt" 2>&1 | grep -c 'Permission denied')" 1
ok "it is still where it was" test -f "$SRC/open/secret"
refused "and nobody reads it" as_user grep -rq secret "$MNT/open"
is "nothing of it was kept" "$(grep -rl secret "$SRC/.animfs")" ""
as_user mkdir "$MNT/open/filling.canm"
is "nor put where a file is filled" "$(as_user mv -f "$MNT/open/secret" "$MNT/open/filling.canm/raw.canm" 2>&1 | grep -c 'Permission denied')" 1
ok "it is moved elsewhere" as_user mv "$MNT/open/secret" "$MNT/open/other"
ok "a readable one is moved onto a text" as_user sh -c "sed 2s/2.5,/3.5,/ '$F' >'$MNT/open/new' && mv '$MNT/open/new' '$F'"
like "and is saved" "$("$ANIMFS" cat "$SRC/open/copy.canm/$BONE")" 0,0,3.5,
as_user sed 2s/3.5,/4.5,/ "$F" >"$WORK/new"
install -o $OTHER_ID -g $USER_ID -m 640 "$WORK/new" "$SRC/open/new"
ok "one that a group may read" setpriv --reuid=$USER_ID --regid=$OTHER_ID --groups=$USER_ID -- mv -f "$MNT/open/new" "$F"
like "is saved, too" "$("$ANIMFS" cat "$SRC/open/copy.canm/$BONE")" 0,0,4.5,
umount_animfs
