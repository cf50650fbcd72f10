#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# files_owned.sh - a file that is made from a folder has the owner, group, mode, times, ACL and
# extended attributes that the same program would have given to a copy of the file itself: of every
# user, in set-gid folders and those that hand an ACL down, and after a kill.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"

NATIVE=$WORK/native
TREES=$WORK/trees
OLD='2001-02-03 04:05:06'
STRANGER=1234
mkdir "$NATIVE" "$TREES"
cp tests/data/canm/wiki512.canm "$SRC/original.canm"
acls=1
setfacl -m u:$STRANGER:r "$SRC/original.canm" && setfattr -n user.tag -v 1 "$SRC/original.canm" || acls=0
setfacl -b "$SRC/original.canm"

as_root() { "$@"; }
as_member() { setpriv --reuid=$OTHER_ID --regid=$OTHER_ID --groups=$USER_ID -- "$@"; }
declare -A uid=([root]=$STRANGER [user]=$USER_ID [member]=$OTHER_ID)

# The same places in the mount and elsewhere.
places=(plain setgid)
[ $acls -eq 0 ] || places+=(acl both)
for top in "$SRC" "$NATIVE"; do
	mkdir -m 777 "${places[@]/#/$top/}"
	chown 0:$USER_ID "$top/setgid"
	chmod 2777 "$top/setgid"
	if [ $acls -eq 1 ]; then
		setfacl -m "u:$STRANGER:rwx,d:u:$STRANGER:rwx,d:g::r-x,d:o::-" "$top/acl" "$top/both"
		setfacl -m o:rwx,m:rwx "$top/acl" "$top/both"
		chown 0:$USER_ID "$top/both"
		chmod g+s "$top/both"
	fi
done

mount_animfs -o allow_other

# Copies outside the mount, as somebody may have them: each user's own; root's are a stranger's.
for who in root user member; do
	for mode in 600 664; do
		tree=$TREES/$who.$mode
		mkdir "$tree"
		cp -r "$MNT/original.canm" "$tree/a.canm"
		chmod -R u=rwX,go=X "$tree/a.canm"
		find "$tree/a.canm" -type f -exec chmod $mode {} +
		[ $mode -eq 600 ] || find "$tree/a.canm" -type d -exec chmod 775 {} +
		[ $acls -eq 0 ] || setfattr -n user.tag -v "$who" "$tree/a.canm/raw.canm"
		chown -R "${uid[$who]}:${uid[$who]}" "$tree"
		touch -d "$OLD" "$tree/a.canm/raw.canm" "$tree/a.canm"
	done
done
chmod 755 "$TREES" "$TREES"/*

# copy HOW FROM TO: FROM is a folder or a file, and TO becomes it.
copy()
{
	umask 027
	case $1 in
	cp_r) cp -r "$2" "$3" ;;
	cp_a) cp -a "$2" "$3" ;;
	rsync_a) if [ -d "$2" ]; then rsync -a "$2/" "$3"; else rsync -a "$2" "$3"; fi ;;
	rsync_aAX) if [ -d "$2" ]; then rsync -aAX "$2/" "$3"; else rsync -aAX "$2" "$3"; fi ;;
	tar) tar -C "${2%/*}" -c "${2##*/}" | tar -C "${3%/*}" -x --transform "s,^${2##*/},${3##*/}," ;;
	tar_p)
		tar --xattrs --acls -C "${2%/*}" -c "${2##*/}" |
			tar --xattrs --acls -C "${3%/*}" -xp --transform "s,^${2##*/},${3##*/},"
		;;
	esac
}
export -f copy
hows=(cp_r cp_a rsync_a tar tar_p)
[ $acls -eq 0 ] || hows+=(rsync_aAX)

# facts HOW FILE: those that HOW keeps, or makes.
facts()
{
	local when=
	[ "$1" = cp_r ] || when=' %Y'
	stat -c "%u %g %a$when" "$2" &&
		getfacl -cnpE "$2" 2>/dev/null | sort | xargs &&
		getfattr --absolute-names --only-values -d -m user "$2" 2>/dev/null
}

copies=()
for place in "${places[@]}"; do
	for who in root user member; do
		for mode in 600 664; do
			for how in "${hows[@]}"; do
				tree=$TREES/$who.$mode/a.canm name=$place/$who.$mode.$how.canm
				copies+=("$how $name")
				ok "$name" as_$who bash -c "copy $how '$tree' '$MNT/$name'"
				as_$who bash -c "copy $how '$tree/raw.canm' '$NATIVE/$name'"
			done
		done
	done
done

# ---- what is given while it is filled ----

RAW=$TREES/root.600/a.canm/raw.canm
cd "$MNT/plain" || exit 1
umask 022
chmod 644 "$RAW"
ok "chmod of the folder, then of nothing else" sh -c "mkdir given.canm && cp '$RAW' given.canm && chmod 664 given.canm"
ok "a folder that nobody else may enter" sh -c "mkdir -m 700 private.canm && cp '$RAW' private.canm"
ok "chmod of raw.canm" sh -c "mkdir raw.canm && cp '$RAW' raw.canm/raw.canm && chmod 640 raw.canm/raw.canm"
ok "chmod of raw.canm after the folder's" sh -c "mkdir both.canm && cp '$RAW' both.canm/raw.canm && chmod 755 both.canm && chmod 600 both.canm/raw.canm"
ok "chown of the folder" sh -c "mkdir chown.canm && cp '$RAW' chown.canm/raw.canm && chown $USER_ID:$OTHER_ID chown.canm"
ok "chown of raw.canm" sh -c "mkdir chown_raw.canm && cp '$RAW' chown_raw.canm/raw.canm && chown $USER_ID:$OTHER_ID chown_raw.canm/raw.canm"
ok "a time of the folder" sh -c "mkdir time.canm && cp '$RAW' time.canm/raw.canm && touch -d '$OLD' time.canm"
cp -a "${RAW%/*}" "$TREES/odd.canm"
chmod 755 "$TREES/odd.canm"
chmod 600 "$TREES/odd.canm/raw.canm"
ok "a folder for everybody and a raw.canm that is private" cp -a "$TREES/odd.canm" odd.canm
ok "by cp -r" cp -r "$TREES/odd.canm" odd_r.canm
ok "and opened afterwards" sh -c "cp -a '$TREES/odd.canm' opened.canm && chmod g+r,g-w,o= opened.canm"
ok "a folder that gets its name when it is full" sh -c "mkdir moved && cp -p '$RAW' moved/raw.canm && chown $USER_ID:$OTHER_ID moved && mv moved moved.canm"
ok "one whose raw.canm is somebody else's" sh -c "mkdir -m 777 others.canm"
as_user cp "$RAW" others.canm/raw.canm
cp -a "${RAW%/*}" "$TREES/edited.canm"
sed -i 2s/1.5,/2.5,/ "$TREES/edited.canm/walk/bones/Bone01.csv"
started=$(date +%s)
ok "with an edited text" cp -a "$TREES/edited.canm" edited.canm
if [ $acls -eq 1 ]; then
	ok "an ACL of the folder" sh -c "mkdir acl.canm && cp '$RAW' acl.canm/raw.canm && setfacl -m u:$USER_ID:rwx acl.canm"
	ok "an ACL of raw.canm" sh -c "mkdir acl_raw.canm && cp '$RAW' acl_raw.canm/raw.canm && setfacl -m u:$USER_ID:rw acl_raw.canm/raw.canm"
	ok "extended attributes" sh -c "mkdir x.canm && cp '$RAW' x.canm/raw.canm && setfattr -n user.a -v folder x.canm && setfattr -n user.b -v folder x.canm && setfattr -n user.b -v raw x.canm/raw.canm"
fi
cd - >/dev/null || exit 1
umount_animfs

for copy in "${copies[@]}"; do
	how=${copy%% *} name=${copy#* }
	is "$name has what a copied file has" "$(facts "$how" "$SRC/$name")" "$(facts "$how" "$NATIVE/$name")"
done

has() { is "$1: $2" "$(stat -c "$2" "$SRC/plain/$1.canm")" "$3"; }
has given %a 664
has private %a 600
has raw %a 640
has both %a 600
has chown '%u %g' "$USER_ID $OTHER_ID"
has chown_raw '%u %g' "$USER_ID $OTHER_ID"
has time %Y "$(date -d "$OLD" +%s)"
has odd '%u %a' "$STRANGER 600"
has odd_r '%u %a' "0 600"
has opened %a 640
has moved '%u %g %a %Y' "$USER_ID $OTHER_ID 644 $(stat -c %Y "$RAW")"
has others %u 0
has edited '%u %g' "$STRANGER $STRANGER"
ok "one that an edit changed is as old as that" test "$(stat -c %Y "$SRC/plain/edited.canm")" -ge "$started"
if [ $acls -eq 1 ]; then
	acl_of() { getfacl -cnpE "$1" 2>/dev/null | sort | xargs; }
	is "the folder's ACL, without x" "$(acl_of "$SRC/plain/acl.canm")" "group::r-- mask::rw- other::r-- user:$USER_ID:rw- user::rw-"
	is "that of raw.canm" "$(acl_of "$SRC/plain/acl_raw.canm")" "group::r-- mask::rw- other::r-- user:$USER_ID:rw- user::rw-"
	is "attributes of both, raw.canm's last" \
		"$(getfattr --absolute-names -d -m user "$SRC/plain/x.canm" | grep -v '^#' | xargs)" "user.a=folder user.b=raw"
fi

# ---- killed while it is filled ----

mount_stopped -o allow_other
# By two programs, so that it is still a folder for 2 s, which do not pass.
ok "filled by a user" as_user bash -c "mkdir '$MNT/plain/killed.canm' && copy cp_r '$TREES/user.664/a.canm/.' '$MNT/plain/killed.canm'"
ok "and by another" as_member bash -c "mkdir '$MNT/setgid/killed.canm' && copy cp_r '$TREES/member.664/a.canm/.' '$MNT/setgid/killed.canm'"
kill -KILL "${DAEMON[$MNT]}"
wait "${DAEMON[$MNT]}" 2>/dev/null
unset "DAEMON[$MNT]"
wait_for 10 unmounted
ok "both are folders" test -d "$SRC/plain/killed.canm" -a -d "$SRC/setgid/killed.canm"
mount_animfs -o allow_other
is_file() { [ -f "$1" ]; }
ok "the next mount makes the file" wait_for 10 is_file "$SRC/plain/killed.canm"
ok "both" wait_for 10 is_file "$SRC/setgid/killed.canm"
is "which is the user's" "$(stat -c '%u %g %a' "$SRC/plain/killed.canm")" "$USER_ID $USER_ID 640"
is "and the member's, in the folder's group" "$(stat -c '%u %g %a' "$SRC/setgid/killed.canm")" "$OTHER_ID $USER_ID 640"
umount_animfs

# ---- of what its maker may not read ----

# A folder's owner can move others' files into it, but not learn what they say.
mkdir "$SRC/his"
cp "$RAW" "$SRC/his/secret"
chmod 600 "$SRC/his/secret"
chown $USER_ID:$USER_ID "$SRC/his"
mount_animfs -o allow_other
ok "a user moves root's file into a folder of his" \
	as_user sh -c "mkdir '$MNT/his/new.canm' && mv '$SRC/his/secret' '$SRC/his/new.canm/raw.canm'"
fails "which does not become a file" as_user sync "$MNT/his/new.canm"
is "but stays as it is" "$(stat -c '%u %a' "$SRC/his/new.canm/raw.canm")" "0 600"
like "and the list says why" "$(<"$MNT/.animfs/errors")" \
	'his/new.canm: not an animation yet: raw.canm: Permission denied'
"$ANIMFS" cat "$RAW/walk/clip.json" >"$SRC/his/clip.json"
chmod 600 "$SRC/his/clip.json"
ok "a user moves root's text into a folder of his" as_user sh -c \
	"mkdir -p '$MNT/his/texts.canm/walk' && mv '$SRC/his/clip.json' '$SRC/his/texts.canm/walk'"
fails "which does not become a file, either" as_user sync "$MNT/his/texts.canm"
chown -R $USER_ID "$SRC/his/new.canm"
touch "$MNT/his/new.canm"
ok "once he may read it, it becomes a file" as_user sync "$MNT/his/new.canm"
ok "with what it says" cmp "$SRC/his/new.canm" "$RAW"
umount_animfs
