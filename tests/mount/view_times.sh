#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# view_times.sh - a view's mtime changes when its own curve changes, those of a clip's and a file's views
# when any of their curves does (file.json's, when the list of clips does), and no other: make and rsync see
# only real changes.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm tests/data/ribbon/objects024.anm "$SRC"
touch -d '2001-02-03 04:05:06' "$SRC/wiki512.canm" "$SRC/objects024.anm"
mount_stopped --views=all
TOP=$MNT/wiki512.canm

times() { (cd "$TOP" && find . -type f ! -name 'frame_*' -printf '%P %T@\n' | sort); }
moved() { diff "$1" <(times) | sed -n 's/^> \(.*\) .*/\1/p' | paste -sd ' '; }

times >"$WORK/before"
is "all are as old as the file" "$(cut -d' ' -f2 "$WORK/before" | sort -u | wc -l)" 1
ok "an edit of a bone" sed -i 2s/1.5,/2.5,/ "$TOP/walk/bones/Bone01.csv"
is "moves its own views, its clip's and its file's" "$(moved "$WORK/before")" \
	"file.html raw.canm skeleton.csv walk/bones/Bone01.csv walk/bones/Bone01.json walk/bones/Bone01.svg walk/clip.gltf walk/clip.html walk/clip.json walk/clip.kanim walk/clip.svg walk/clip.x3d walk/curves.csv"

times >"$WORK/before"
ok "saving what is there" cp "$TOP/walk/bones/hip.csv" "$WORK/hip.csv"
ok "again" cp "$WORK/hip.csv" "$TOP/walk/bones/hip.csv"
is "moves nothing" "$(moved "$WORK/before")" ""
ok "an edit behind the mount" sh -c "'$ANIMFS' cat '$SRC/wiki512.canm/Idle/bones/hip.csv' | sed 2s/,-1,/,-0.5,/ | '$ANIMFS' put '$SRC/wiki512.canm/Idle/bones/hip.csv'"
ok "is seen" after 300 grep -q -- '-0\.[45]' "$TOP/Idle/bones/hip.csv"
like "and moves what it changed" "$(moved "$WORK/before")" 'Idle/bones/hip.csv'
is "and nothing of other clips" "$(moved "$WORK/before" | tr ' ' '\n' | grep -c walk)" 0

# The kernel knows every text by now, and is told of those alone that changed.
stale()
{
	(cd "$TOP" && find . -type f ! -name 'frame_*' -printf '%P\n' | sort) |
		while read -r view; do
			"$ANIMFS" cat "$SRC/${TOP##*/}/$view" | cmp -s - "$TOP/$view" || echo "$view"
		done
}
is "every text is what the file says" "$(stale)" ""
ok "one more edit" sed -i 2s/2.5,/3.5,/ "$TOP/walk/bones/Bone01.csv"
is "and so it is after that" "$(stale)" ""
times >"$WORK/before"
ok "another loop" sed -i 's/"loop": true/"loop": false/' "$TOP/walk/clip.json"
is "every text is what the file says then" "$(stale)" ""
is "and no bone's has moved" "$(moved "$WORK/before" | tr ' ' '\n' | grep -c bones)" 0
is "but the file's list of clips" "$(moved "$WORK/before" | tr ' ' '\n' | grep -cx file.json)" 1

# The flags of keyframes are what a bone says, like its curves: saved through any of its texts.
TOP=$MNT/objects024.anm
said_again="file.html objects024/bones/object_001.csv objects024/bones/object_001.json objects024/bones/object_001.svg objects024/clip.gltf objects024/clip.html objects024/clip.json objects024/clip.kanim objects024/clip.svg objects024/clip.x3d objects024/curves.csv raw.anm skeleton.csv"
flags_moved() # EXPRESSION TEXT
{
	times >"$WORK/before"
	ok "flags, by $2" sed -i "$1" "$TOP/objects024/$2"
	is "move the bone's own views, its clip's and its file's" "$(moved "$WORK/before")" "$said_again"
	is "and every text is what the file says" "$(stale)" ""
}
flags_moved '2s/,0$/,8/' bones/object_001.csv
flags_moved 's/"frame": 1, "flags": 0/"frame": 1, "flags": 16/' bones/object_001.json
flags_moved '/^object_001,scale,1,/s/,16,0$/,24,0/' curves.csv
ok "a mirror of it" rsync -a "$TOP/objects024/bones/" "$WORK/mirror"
ok "one more edit of flags" sed -i '2s/,8$/,128/' "$TOP/objects024/bones/object_001.csv"
ok "rsync -a again" rsync -a "$TOP/objects024/bones/" "$WORK/mirror"
ok "brings it" cmp "$TOP/objects024/bones/object_001.csv" "$WORK/mirror/object_001.csv"
umount_animfs

# A model that is read again for want of memory is no change.
mount_stopped --cache=1
TOP=$MNT/wiki512.canm
times >"$WORK/before"
ok "an edit, with nothing in the cache" sed -i 2s/3.5,/4.5,/ "$TOP/walk/bones/Bone01.csv"
advance 5000 # nothing else keeps the model
is "moves its own views, its clip's and its file's" "$(moved "$WORK/before")" \
	"raw.canm skeleton.csv walk/bones/Bone01.csv walk/bones/Bone01.json walk/bones/Bone01.svg walk/clip.gltf walk/clip.json walk/clip.kanim walk/clip.svg walk/clip.x3d walk/curves.csv"
is "which is what the file says" "$(stale)" ""
umount_animfs
