#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# attributes.sh - mode, owner, times and xattrs of a view are remembered and change nothing else; those of a
# file's folder and of raw.* are the binary's own.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
chmod 640 "$SRC/wiki512.canm"
mount_stopped
FILE=$SRC/wiki512.canm
F=$MNT/wiki512.canm/walk/bones/Bone01.csv
before=$(stat -c '%a %u %g %y %z' "$FILE")

is "a view has the binary's mode" "$(stat -c %a "$F")" 640
is "a folder can be entered where it can be read" "$(stat -c %a "$MNT/wiki512.canm" "${F%/*}" | tr '\n' ' ')" "750 750 "
is "a view is as old as its file" "$(stat -c %y "$F")" "$(stat -c %y "$FILE")"
ok "chmod" chmod 600 "$F"
ok "chown" chown 1234:1235 "$F"
ok "utimens" touch -d '2001-02-03 04:05:06' "$F"
ok "setfattr" setfattr -n user.note -v hello "$F"
ok "a security label" setfattr -n security.selinux -v x "$F"
is "are remembered" "$(stat -c '%a %u %g %Y' "$F") $(getfattr --absolute-names --only-values -n user.note "$F")" \
	"600 1234 1235 $(date -d '2001-02-03 04:05:06' +%s) hello"
ok "an attribute can be removed" setfattr -x user.note "$F"
is "and the binary's are as they were" "$(stat -c '%a %u %g %y %z' "$FILE")" "$before"
is "so is its JSON" "$(stat -c '%a %u' "${F%.csv}.json")" "640 $(id -u)"
sed 2s/1.5,/2.5,/ "$F" >"$WORK/new.csv"
ok "a save in place" cp "$WORK/new.csv" "$F"
is "leaves them" "$(stat -c '%a %u' "$F")" "600 1234"
ok "setfattr again" setfattr -n user.note -v hello "$F"
rm "$F"
ok "removed, the view comes back" after 2000 test -e "$F"
is "with what the file says of it" "$(stat -c '%a %u' "$F") $(getfattr --absolute-names -d "$F")" "640 $(id -u) "
is "the binary keeps its own over a save" "$(stat -c '%a %u' "$FILE")" "640 $(id -u)"

sleep 0.02
old=$(stat -c %y "${F%/*}/hip.csv")
new=$(stat -c %y "${F%/*}/Bone01.json")
cp -p "$FILE" "$WORK/copy"
ok "cp -p reports no failure" cp -p "$WORK/copy" "$MNT/wiki512.canm/raw.canm"
ok "rsync -a neither" rsync -aX "$F" "$WORK/view.csv"
ok "nor cp -a into the folder" cp -a "$WORK/view.csv" "$F"
ok "the time of a curve that was saved moves" test "$old" != "$new"

ok "chmod of the folder" chmod 700 "$MNT/wiki512.canm"
is "is the binary's" "$(stat -c %a "$FILE")" 600
ok "utimens of raw.canm" touch -d '2002-02-03 04:05:06' "$MNT/wiki512.canm/raw.canm"
is "is the binary's, too" "$(stat -c %Y "$FILE")" "$(date -d '2002-02-03 04:05:06' +%s)"
ok "setfattr on the folder" setfattr -n user.tag -v 1 "$MNT/wiki512.canm"
is "is" "$(getfattr --absolute-names --only-values -n user.tag "$FILE")" 1
setfattr -n user.tag -v 2 "$FILE"
is "and is read there" "$(getfattr --absolute-names --only-values -n user.tag "$MNT/wiki512.canm/raw.canm")" 2
cp "$FILE" "$WORK/x.canm"
ok "a save keeps the binary's xattrs" sh -c "sed -i 2s/2.5,/3.5,/ '$F' && test \"\$(getfattr --only-values -n user.tag '$FILE')\" = 2"
ok "locks are the kernel's own" flock -n "$F" true

RENAMED=$MNT/wiki512.canm/stroll
WALK=$MNT/wiki512.canm/walk
chmod 711 "$WALK"
setfattr -n user.note -v hello "$WALK"
setfattr -n user.note -v there "$F"
chmod 604 "$F"
attributes()
{
	stat -c %a "$1" "$1/bones/Bone01.csv"
	getfattr --absolute-names --only-values -n user.note "$1" "$1/bones/Bone01.csv"
}
given=$(attributes "$WALK")
is "a clip has them, too" "${given//$'\n'/ }" "711 604 hellothere"
ok "a clip is renamed" mv "$WALK" "$RENAMED"
is "with them" "$(attributes "$RENAMED")" "$given"
ok "and back" mv "$RENAMED" "$WALK"
is "with them again" "$(attributes "$WALK")" "$given"
ok "it is removed" rm -r "$WALK"
advance 2000
cp "$WORK/x.canm" "$MNT/wiki512.canm/raw.canm"
is "another clip of its name has none" "$(stat -c %a "$F")" 600
big() { setfattr -n "user.$1" -v "$(head -c 45000 /dev/zero | tr '\0' x)" "$F"; }
ok "attributes of a view have room for one of 45 KB" big first
fails "and none for two" big second
setfattr -x user.first "$F"
ok "until it is removed" big second
# stat asks for no more than it prints: no ctime, which the kernel knows to have changed.
stat -c %i "$F" >/dev/null
mv "$F" "$F~"
is "moved away, it has the attributes of the file that it has become" "$(stat -c '%i %y' "$F~")" \
	"$(stat -c '%i %y' "$SRC/.animfs/extra/wiki512.canm/walk/bones/Bone01.csv~")"
mv "$F~" "$F"
umount_animfs
mount_animfs
is "what was given to a view ends with the mount" "$(stat -c %a "$F")" 600
is "its owner, too" "$(stat -c %u "$F")" "$(id -u)"
umount_animfs

# Numbers of views, in whatever order folders are looked up.
mkdir "$SRC/one" "$SRC/two"
cp "$FILE" "$SRC/one"
cp "$FILE" "$SRC/two"
numbers() { stat -c %i "${@/%//wiki512.canm/walk/bones/Bone01.csv}"; }
mount_animfs
one=$(numbers "$MNT/one" "$MNT/two")
umount_animfs
mount_animfs
is "are the same in the next mount" "$(numbers "$MNT/two" "$MNT/one")" "$(tac <<<"$one")"
is "and differ" "$(sort -u <<<"$one" | wc -l)" 2
ok "and no sign is lost" test "$(sort -n <<<"$one" | tail -n 1)" -le 9223372036854775807
umount_animfs
