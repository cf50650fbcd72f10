#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# skeleton_access.sh - with allow_other a skeleton or model beside an animation is used only if all readers
# of the animation may read it, and NAME.skeleton.csv is written, made and moved only as the user could
# without the mount.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"
SAMPLE=tests/data/canm/wiki512.canm
HIDDEN=Bone01,,,,,,,,,,

# skeleton HEIGHT: a text of it; shown HEIGHT: what the view then says
skeleton() { printf 'bone,parent,ty\nBone01,Scene_Root,%s\nScene_Root,,\n' "$1"; }
shown() { echo "Bone01,Scene_Root,0,$1,0,0,0,0,1,1,1"; }
# put FILE OWNER:GROUP MODE [CONTENT]
put()
{
	if [ $# -gt 3 ]; then skeleton "$4" >"$SRC/$1"; else cp "$SAMPLE" "$SRC/$1"; fi
	chown "$2" "$SRC/$1"
	chmod "$3" "$SRC/$1"
}
has() { grep -qxF -- "$2" "$1"; }
row() { "${@:2}" cat "$MNT/$1.canm/skeleton.csv" | grep '^Bone01,'; }
says() { [ "$(row "$1" env)" = "$2" ]; }
# says_to_all NAME ROW WHAT: root and another user see the same
says_to_all()
{
	ok "$3" after 2000 says "$1" "$2"
	is "$3, for root" "$(row "$1" env)" "$2"
	is "$3, for a user" "$(row "$1" as_user)" "$2"
}
# save AS HOW FILE TEXT: nothing, or why not
save()
{
	local text=$WORK/text
	echo "$4" >"$text"
	case $2 in
	close) "$1" cp "$text" "$3" ;;
	fsync) "$1" dd if="$text" of="$3" conv=fsync status=none ;;
	esac 2>&1 | grep -o '[^:]*$' | head -n 1
}
DENIED=' Permission denied'

chmod 755 "$SRC"
mkdir -m 755 "$SRC/closed"
mkdir -m 777 "$SRC/open"
mkdir -m 2777 "$SRC/team"
mkdir -m 1777 "$SRC/sticky"
chown 0:$OTHER_ID "$SRC/team"
put read.canm 0:0 644
put read.canm.skeleton.csv 0:0 600 1
put packed.canm 0:0 644
mkdir "$WORK/rab"
tests/mount/mdb.py "$WORK/rab/packed.mdb" 8
python3 tests/mount/pack.py rab "$SRC/packed.mrab" "$WORK/rab"
chmod 600 "$SRC/packed.mrab"
mount_stopped -o allow_other

# ---- reading ----
says_to_all read "$HIDDEN" "a skeleton of mode 600 is not shown"
like "nor drawn" "$(as_user cat "$MNT/read.canm/walk/frames/frame_00000.x3d")" IndexedLineSet
like "why is told" "$(<"$MNT/.animfs/errors")" 'read\.canm\.skeleton\.csv.*not everybody who may read read\.canm'
chmod 644 "$SRC/read.canm.skeleton.csv"
says_to_all read "$(shown 1)" "one of mode 644 is"
fails "and nothing more is told" grep -q skeleton.csv "$MNT/.animfs/errors"
says_to_all packed "$HIDDEN" "a model in an archive of mode 600 is not shown"
like "why is told, too" "$(<"$MNT/.animfs/errors")" 'packed\.mrab.*not everybody who may read packed\.canm'
chmod 644 "$SRC/packed.mrab"
says_to_all packed "$(shown 8)" "one in an archive of mode 644 is"
fails "and nothing is told of it" grep -q packed.mrab "$MNT/.animfs/errors"
"$PWD/tests/mount/mdb.py" "$WORK/rab/packed.mdb" 9
python3 tests/mount/pack.py rab "$WORK/other.mrab" "$WORK/rab"
mv "$WORK/other.mrab" "$SRC/packed.mrab"
says_to_all packed "$(shown 9)" "and that of another archive of its name"
rm "$SRC/packed.mrab"
says_to_all packed "$HIDDEN" "until it is gone"
chmod 600 "$SRC/read.canm.skeleton.csv"
says_to_all read "$HIDDEN" "of mode 600 again it is not"
put skeleton.csv 0:0 644 2
says_to_all read "$(shown 2)" "the folder's is, in its place"
chmod 640 "$SRC/skeleton.csv"
says_to_all read "$HIDDEN" "unless it is closed, too"
chmod 600 "$SRC/read.canm"
ok "of an animation of mode 600" after 2000 says read "$(shown 1)"
fails "nobody else reads it" as_user ls "$MNT/read.canm"
chmod 755 "$MNT/read.canm"
is "opened through the mount" "$(row read as_user)" "$HIDDEN"
chmod 644 "$SRC/read.canm" "$SRC/skeleton.csv"
"$(dirname "$0")/mdb.py" "$SRC/read.mdb" 3
chmod 644 "$SRC/read.mdb"
says_to_all read "$(shown 3)" "a model of mode 644 is used"
mv "$SRC/read.mdb" "$SRC/only.mdb"
says_to_all read "$(shown 3)" "the only one of the folder"
chmod 711 "$SRC"
says_to_all read "$(shown 2)" "if everybody may see which there are"
chmod 755 "$SRC"
says_to_all read "$(shown 3)" "as now"
chmod 600 "$SRC/only.mdb"
says_to_all read "$(shown 2)" "one of mode 600 is not"
rm "$SRC/only.mdb" "$SRC/skeleton.csv" "$SRC/read.canm.skeleton.csv"

# who NAME AS WANT OWNER:GROUP MODE OWNER:GROUP MODE: of an animation and its skeleton, as seen by AS
number=0
who()
{
	local name=who$((++number)) row=$HIDDEN
	put "$name.canm" "$4" "$5"
	put "$name.canm.skeleton.csv" "$6" "$7" 5
	[ "$3" = hidden ] || row=$(shown 5)
	is "$1: $3" "$(row "$name" "$2")" "$row"
}
U=$USER_ID O=$OTHER_ID
who "both their owner's alone" as_user shown $U:$U 600 $U:$U 600
who "of other groups" as_user shown $U:$U 600 $U:$O 600
who "another owner's" as_user hidden $U:$U 600 $O:$O 600
who "another owner's, readable by all" as_user shown $U:$U 600 $O:$O 644
who "the animation also its group's" as_user hidden $U:$O 640 $U:$O 600
who "both also their group's" as_user shown $U:$O 640 $U:$O 640
who "another group's" as_user hidden $U:$O 640 $U:$U 640
who "another's, for whom the group is not known" as_user hidden $U:$O 640 $O:$O 640
who "not its group's, which may be somebody else's" as_user hidden 0:0 604 0:$O 604
who "root's for nobody, a user's alone" as_user hidden 0:0 644 $U:$U 600
if command -v setfacl >/dev/null; then
	put acl.canm $U:$U 600
	put acl.canm.skeleton.csv $U:$U 600 6
	setfacl -m u:$O:r "$SRC/acl.canm"
	is "an ACL lets one more read the animation" "$(row acl as_other)" "$HIDDEN"
	setfacl -m u:$O:r "$SRC/acl.canm.skeleton.csv"
	ok "and the skeleton" after 2000 says acl "$(shown 6)"
	is "who reads it" "$(row acl as_other)" "$(shown 6)"
	setfacl -m u:$O:- "$SRC/acl.canm.skeleton.csv"
	ok "one that keeps him from it" after 2000 says acl "$HIDDEN"
	is "keeps it from all" "$(row acl as_user)" "$HIDDEN"
else
	skip "setfacl is not installed"
fi

# ---- the table of names ----
cp tests/data/owanim/small.006 "$SRC"
chmod 644 "$SRC/small.006"
called() { as_user ls "$MNT/small.006/small/bones" | grep -qx "$1.csv"; }
printf 'id,name\n3706,hips\n' >"$SRC/bone-names.csv"
chmod 600 "$SRC/bone-names.csv"
ok "bones are shown" after 2000 called bone_0E7A
fails "not by names that are not for everybody" called hips
chmod 644 "$SRC/bone-names.csv"
ok "by others they are" after 2000 called hips

# ---- writing ----
# fresh NAME FOLDER MODE: an animation of root's there; F its skeleton.csv, OWN what is made of it
fresh()
{
	put "$2/$1.canm" 0:0 "$3"
	F=$MNT/$2/$1.canm/skeleton.csv
	OWN=$SRC/$2/$1.canm.skeleton.csv
}
for how in close fsync; do
	fresh "$how" closed 666
	is "in a folder of others, $how: refused" "$(save as_user $how "$F" "$(skeleton 1)")" "$DENIED"
	ok "$how: made nothing" [ ! -e "$OWN" ]
	like "$how: why is told" "$(<"$F.error")" "$how.canm.skeleton.csv: Permission denied"
	ok "$how: the text is kept" cmp "$F.rejected" <(skeleton 1)
	is "$how: root may" "$(save env $how "$F" "$(skeleton 1)")" ""
	ok "$how: which is made" has "$OWN" "$(shown 1)"
	is "$how: others write it" "$(save as_user $how "$F" "$(skeleton 2)")" ""
	is "$how: where they may" "$(stat -c '%u %a' "$OWN")" "0 666"
	chmod 644 "$OWN"
	is "$how: but not where they may not" "$(save as_user $how "$F" "$(skeleton 3)")" "$DENIED"
	ok "$how: it stays" cmp <(grep Bone01, "$OWN") <(shown 2)
done
fresh rename closed 666
cp "$F" "$WORK/own.csv"
skeleton 1 >"$SRC/open/new.csv"
chmod 666 "$SRC/open/new.csv"
fails "moved onto it" as_user mv -f "$MNT/open/new.csv" "$F"
fails "linked" as_user sh -c "rm -f '$F'; ln '$MNT/open/new.csv' '$F'"
advance 2300 # the view comes back
ok "nothing was made" [ ! -e "$OWN" ]
chmod 644 "$WORK/own.csv"
ok "its own text is no edit" as_user sh -c "cat '$WORK/own.csv' >'$F'"
ok "and makes nothing" [ ! -e "$OWN" ]

fresh mine open 666
is "in a folder that all may write" "$(save as_user close "$F" "$(skeleton 1)")" ""
is "it is his who made it" "$(stat -c '%u %g %a' "$OWN")" "$U $U 666"
is "others who may write it" "$(save as_other close "$F" "$(skeleton 2)")" ""
is "leave it his" "$(stat -c '%u %g %a' "$OWN")" "$U $U 666"
fresh rooted open 644
is "root's" "$(save env close "$F" "$(skeleton 1)")" ""
is "is as the animation" "$(stat -c '%u %g %a' "$OWN")" "0 0 644"
fresh hidden open 666
put open/hidden.canm.skeleton.csv $O:$O 600 7
is "another's that cannot be read" "$(save as_user close "$F" "$(skeleton 1)")" "$DENIED"
is "not even by its owner, who would not see it" "$(save as_other close "$F" "$(skeleton 1)")" "$DENIED"
like "who is told" "$(<"$F.error")" 'not everybody who may read'
is "stays" "$(<"$OWN")" "$(skeleton 7)"
is "in every way" "$(stat -c '%u %a' "$OWN")" "$O 600"
put team/group.canm 0:$O 660
F=$MNT/team/group.canm/skeleton.csv
OWN=$SRC/team/group.canm.skeleton.csv
is "a member of the group" "$(save as_other close "$F" "$(skeleton 1)")" ""
is "makes one for the group" "$(stat -c '%u %g %a' "$OWN")" "$O $O 660"
chown $U "$SRC/team/group.canm"
rm "$OWN"
ok "of one that is somebody else's" after 2000 has "$F" "$HIDDEN"
is "that one may not be in it" "$(save as_other close "$F" "$(skeleton 1)")" "$DENIED"
ok "nothing is left" [ ! -e "$OWN" ]

# ---- moving ----
for folder in open sticky; do
	put $folder/from.canm $U:$U 644
	put $folder/from.canm.skeleton.csv $O:$O 644 1
	ok "in $folder: moved" as_user mv "$MNT/$folder/from.canm" "$MNT/$folder/to.canm"
done
ok "another's skeleton goes along" test -e "$SRC/open/to.canm.skeleton.csv"
ok "but not in a sticky folder" test -e "$SRC/sticky/from.canm.skeleton.csv"
ok "from where its owner takes it" as_other mv "$MNT/sticky/from.canm.skeleton.csv" "$MNT/sticky/to.canm.skeleton.csv"
put sticky/own.canm $U:$U 644
put sticky/own.canm.skeleton.csv $U:$U 644 1
ok "his own" as_user mv "$MNT/sticky/own.canm" "$MNT/sticky/his.canm"
ok "goes along" test -e "$SRC/sticky/his.canm.skeleton.csv"

# ---- made of a folder ----
as_user cp -r "$MNT/open/mine.canm" "$MNT/open/copy.canm"
ok "a copy has it" after 2000 test -e "$SRC/open/copy.canm.skeleton.csv"
is "as its owner's" "$(stat -c %u "$SRC/open/copy.canm.skeleton.csv")" "$U"
put open/over.canm.skeleton.csv $O:$O 644 9
as_user cp -r "$MNT/open/mine.canm" "$MNT/open/over.canm"
ok "one to a name that has another's" after 2000 test -f "$SRC/open/over.canm"
ok "keeps that" after 2000 test -e "$MNT/open/over.canm/skeleton.csv.rejected"
is "as it was" "$(<"$SRC/open/over.canm.skeleton.csv")" "$(skeleton 9)"
umount_animfs
