#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# own_digest.sh - pictures, X3D and stills of an older version come back with a copy of a tree, by any
# program that copies trees: none is refused, none changes the animation, and the views keep showing the
# present state. An edited one is refused.
# limit: 3600
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,edf6_768}.canm tests/data/ff9anim/frames008_nolow.ff9anim \
	tests/data/ribbon/frames030.anm tests/data/owanim/walk.006 tests/data/cas/v203.cas "$SRC"
make_game --files 1 --clips 1 --bones 8 --frames 6 --version mix --plain 0
mount_stopped --views=all
cp -r "$MNT" "$WORK/old"

generated() { (cd "$1" && find . \( -name '*.svg' -o -name '*.x3d' -o -name '*.html' \) -printf '%P\n' | sort); }
generated "$WORK/old" >"$WORK/names"
stamps() { (cd "$SRC" && find . -type f ! -path './.animfs/*' -exec stat -c '%n %i %s' {} + -exec md5sum {} + | sort); }
refused() { find "$MNT" -name '*.rejected' -o -name '*.error'; }

# Those whose text in the mount is not what the file says.
wrong()
{
	local name
	while read -r name; do
		cmp -s "$MNT/$name" <("$ANIMFS" cat "$SRC/$name") || echo "$name"
	done <"$WORK/names"
}
all_right() { [ -z "$(wrong)" ]; }

# set_first VALUE: of a bone of each clip, the first value of its first row.
set_first()
{
	local table
	for table in "$MNT"/*/*/bones "$MNT"/object/*/*/*/bones; do
		table=$(grep -lE '^[0-9]+,[^,]*,[^,]+,' "$table"/*.csv 2>/dev/null | head -n 1)
		[ -n "$table" ] || continue
		awk -F, -v OFS=, -v value="$1" 'NR == 2 {$3 = value} {print}' "$table" >"$WORK/table"
		cp "$WORK/table" "$table" || echo "$table"
	done
}
older() { while read -r name; do cmp -s "$WORK/old/$name" "$MNT/$name" || echo "$name"; done <"$WORK/names" | wc -l; }

from_old() { (cd "$WORK/old" && "$@" "$MNT"); }
by_cp() { from_old xargs -d '\n' -a "$WORK/names" cp --parents -t; }
by_rsync() { rsync -I --files-from="$WORK/names" "$WORK/old/" "$MNT"; }
by_rsync_a() { rsync -aI --files-from="$WORK/names" "$WORK/old/" "$MNT"; }
by_rsync_inplace() { rsync -I --inplace --files-from="$WORK/names" "$WORK/old/" "$MNT"; }
by_tar() { tar -C "$WORK/old" -c -T "$WORK/names" | tar -C "$MNT" -x; }

is "bones are edited" "$(set_first 1)" ""
ok "and many pictures with them" test "$(older)" -gt 50
before=$(stamps)
for way in by_cp by_rsync by_rsync_a by_rsync_inplace by_tar; do
	advance 2100
	ok "old pictures and stills come back $way" "$way"
	is "none is refused $way" "$(refused)" ""
	is "no animation changes $way" "$(stamps)" "$before"
	ok "all show what is there $way" after 2000 all_right
	is "with its size $way" "$(while read -r name; do
		[ "$(stat -c %s "$MNT/$name")" -eq "$(cat "$MNT/$name" | wc -c)" ] || echo "$name"
	done <"$WORK/names")" ""
done

# The whole tree, which brings the old values back, too. cp -r goes by inode numbers, which are chance.
(cd "$WORK/old" && find . -type f -printf '%P\n' | sort) >"$WORK/all"
tree_by_cp() { from_old xargs -d '\n' -a "$WORK/all" cp --parents -t; }
tree_by_rsync() { rsync -rI "$WORK/old/" "$MNT"; }
tree_by_tar() { tar -C "$WORK/old" --sort=name -c . | tar -C "$MNT" -x; }
value=2
for way in tree_by_cp tree_by_rsync tree_by_tar; do
	advance 2100
	is "bones are edited once more" "$(set_first $((value++)))" ""
	advance 2100
	ok "the old tree comes back $way" "$way"
	is "nothing generated is refused $way" "$(refused | grep -E '\.(svg|x3d|html)\.')" ""
	ok "all show what is there $way" after 2000 all_right
done

# A glTF text of keyframes that comes before all others says only that something moved. It is refused,
# and all that comes after it is as above.
advance 2100
is "bones are edited for a tree in another order" "$(set_first $((value++)))" ""
advance 2100
{ grep '/clip\.gltf$' "$WORK/all"; grep -v '/clip\.gltf$' "$WORK/all"; } >"$WORK/gltf_first"
tree_by_cp_gltf_first() { from_old xargs -d '\n' -a "$WORK/gltf_first" cp --parents -t 2>"$WORK/said"; }
fails "the old tree comes back with clip.gltf before all others, but one" tree_by_cp_gltf_first
is "which does not say what moved" "$(sed "s,^cp: .*'$MNT/,," "$WORK/said")" \
	"frames030.anm/frames030/clip.gltf': Bad message"
is "it alone is refused" "$(refused | sed "s,^$MNT/,," | sort)" \
	$'frames030.anm/frames030/clip.gltf.error\nframes030.anm/frames030/clip.gltf.rejected'
like "for that" "$(<"$MNT/frames030.anm/frames030/clip.gltf.error")" 'does not say which keyframe that is'
rm "$MNT/frames030.anm/frames030/clip.gltf".{error,rejected}
ok "all show what is there then" after 2000 all_right
is "which is what was there first" "$(older)" 0

# ---- by hand ----

BONE=$MNT/wiki512.canm/walk/bones/Bone01.svg
cp "$WORK/old/wiki512.canm/walk/bones/Bone01.svg" "$WORK/picture"
sed -i 's/Bone01/Bone02/' "$WORK/picture"
is "an old picture that was changed is refused" "$(save_errno close "$BONE" "$(<"$WORK/picture")")" EBADMSG
like "the error says so" "$(<"$BONE.error")" 'changed by hand'
like "and what can be edited" "$(<"$BONE.error")" 'bones/\*\.csv.*clip\.json'
for how in close fsync rename; do
	is "without its digest, too, by $how" \
		"$(save_errno "$how" "$BONE" "$(sed '$d' "$WORK/old/wiki512.canm/walk/bones/Bone01.svg")")" EBADMSG
done
is "with that of another" "$(save_errno close "$BONE" "$(sed '$d' "$BONE"; tail -n 1 "$MNT/wiki512.canm/walk/clip.svg")")" EBADMSG
ok "and the view is what it was" after 2000 all_right
rm "$BONE".{error,rejected}
umount_animfs

# The same without a mount.
OWN=wiki512.canm/walk/clip.svg
before=$(md5sum <"$SRC/wiki512.canm")
ok "an old picture is accepted by put" "$ANIMFS" put "$SRC/$OWN" <"$WORK/old/$OWN"
fails "a changed one is not" "$ANIMFS" put "$SRC/$OWN" <<<"$(sed 's/walk/run/' "$WORK/old/$OWN")"
is "neither changes the file" "$(md5sum <"$SRC/wiki512.canm")" "$before"
