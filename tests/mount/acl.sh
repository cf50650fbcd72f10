#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# acl.sh - POSIX ACLs of SOURCE are kept, shown and, with allow_other, enforced: those of files, of the
# texts of an animation file, and of new files in a folder with a default ACL.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"

cp tests/data/canm/wiki512.canm "$SRC/a.canm"
echo text >"$SRC/file"
chmod 600 "$SRC/a.canm" "$SRC/file"
setfacl -m u:$USER_ID:rw "$SRC/a.canm" "$SRC/file" || skip_all "$SRC has no ACLs"
mkdir -m 755 "$SRC/folder"
setfacl -m u:$USER_ID:rwx,d:u:$USER_ID:rwx,d:o::- "$SRC/folder"
BONE=walk/bones/Bone01.csv
acl_of() { getfacl -cnE "$1" 2>/dev/null | sort | xargs; }

mount_animfs -o allow_other

ok "a user whom the ACL names reads" as_user cat "$MNT/file"
ok "and writes" as_user sh -c "echo more >>'$MNT/file'"
fails "another does not" as_other cat "$MNT/file"
is "getfacl" "$(acl_of "$MNT/file")" "$(acl_of "$SRC/file")"
is "getfacl of an animation" "$(acl_of "$MNT/a.canm/raw.canm")" "$(acl_of "$SRC/a.canm")"
is "getfacl of its folder: x with r" "$(acl_of "$MNT/a.canm")" "group::--- mask::rwx other::--- user:$USER_ID:rwx user::rwx"
for text in $BONE walk/clip.json file.json raw.canm; do
	ok "$text is read" as_user cat "$MNT/a.canm/$text"
	fails "$text is not read by another" as_other cat "$MNT/a.canm/$text"
done
ok "the folder is listed" as_user ls "$MNT/a.canm/walk/bones"
fails "not by another" as_other ls "$MNT/a.canm"
ok "a save" as_user sed -i 2s/1.5,/2.5,/ "$MNT/a.canm/$BONE"
is "keeps the ACL" "$(acl_of "$SRC/a.canm")" "group::--- mask::rw- other::--- user:$USER_ID:rw- user::rw-"
ok "a note beside it" as_user touch "$MNT/a.canm/note"
as_user sh -c "echo nonsense >'$MNT/a.canm/$BONE'" 2>/dev/null
is "what is refused is not the group's, of which the mode says the mask" \
	"$(stat -c '%u %a' "$MNT/a.canm/$BONE.rejected")" "$USER_ID 600"
rm "$MNT/a.canm/$BONE.rejected" "$MNT/a.canm/$BONE.error"

# ---- ACLs that change ----

ok "setfacl through the mount" setfacl -m u:$OTHER_ID:r "$MNT/file"
like "is in SOURCE" "$(acl_of "$SRC/file")" "user:$OTHER_ID:r--"
ok "and holds" as_other cat "$MNT/file"
fails "for reading" as_other sh -c "echo x >>'$MNT/file'"
ok "setfacl of an animation's folder" setfacl -m u:$OTHER_ID:r-x "$MNT/a.canm"
like "is the file's, without x" "$(acl_of "$SRC/a.canm")" "user:$OTHER_ID:r--"
ok "another reads its texts now" wait_for 2 as_other cat "$MNT/a.canm/$BONE"
fails "and does not write them" as_other sh -c ": >>'$MNT/a.canm/$BONE'"
setfacl -x u:$USER_ID "$SRC/a.canm"
no_more() { ! as_user cat "$MNT/a.canm/$BONE" 2>/dev/null; }
ok "taken away in SOURCE, it holds no longer" wait_for 3 no_more
ok "chmod is the mask's" chmod 600 "$MNT/a.canm"
no_more_other() { ! as_other cat "$MNT/a.canm/$BONE" 2>/dev/null; }
ok "and closes it" wait_for 3 no_more_other
like "with the ACL kept" "$(acl_of "$SRC/a.canm")" "mask::--- .*user:$OTHER_ID:r--"
fails "only the owner sets one" as_user setfacl -m u:$USER_ID:rw "$MNT/a.canm"

# ---- handed down ----

made() { as_user sh -c "umask 077; echo x >'$1/new'; mkdir '$1/inner'"; }
ok "made in a folder that hands an ACL down" made "$MNT/folder"
mkdir "$WORK/bare"
getfacl -p "$SRC/folder" 2>/dev/null | setfacl --set-file=- "$WORK/bare"
as_user sh -c "umask 077; echo x >'$WORK/bare/new'; mkdir '$WORK/bare/inner'"
is "it has that, whatever the umask" "$(acl_of "$SRC/folder/new")" "$(acl_of "$WORK/bare/new")"
is "so has a folder" "$(acl_of "$SRC/folder/inner")" "$(acl_of "$WORK/bare/inner")"
is "whose default is shown" "$(getfacl -cnd "$MNT/folder/inner" 2>/dev/null | sort | xargs)" \
	"$(getfacl -cnd "$WORK/bare/inner" 2>/dev/null | sort | xargs)"
mkdir -m 777 "$SRC/plain"
ok "elsewhere the umask holds" made "$MNT/plain"
is "for both" "$(stat -c %a "$SRC/plain/new" "$SRC/plain/inner" | xargs)" "600 700"

# A text that only an ACL keeps from somebody is not his by a move either.
echo secret >"$SRC/folder/secret"
chmod 644 "$SRC/folder/secret"
setfacl -m u:$USER_ID:- "$SRC/folder/secret"
cp tests/data/canm/wiki512.canm "$SRC/folder/b.canm"
chmod 666 "$SRC/folder/b.canm"
is "an unreadable file is not moved onto a text" \
	"$(as_user mv -f "$MNT/folder/secret" "$MNT/folder/b.canm/$BONE" 2>&1 | grep -c 'Permission denied')" 1
setfacl -m u:$USER_ID:r "$SRC/folder/secret"
ok "with the right to read it is read" wait_for 3 as_user cat "$MNT/folder/secret"
is "moved onto a text, and refused" \
	"$(as_user mv -f "$MNT/folder/secret" "$MNT/folder/b.canm/$BONE" 2>&1 | grep -c 'Bad message')" 1
umount_animfs

mount_animfs -o allow_other,uid=$USER_ID,gid=$USER_ID,umask=077
ok "with uid= everything is that user's" as_user cat "$MNT/a.canm/$BONE"
ok "errors, too" as_user cat "$MNT/.animfs/errors"
fails "and nobody else's, whatever an ACL says" as_other cat "$MNT/file"
umount_animfs
