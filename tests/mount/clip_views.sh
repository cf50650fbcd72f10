#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clip_views.sh - edits of clip.json, clip.kanim, a bone's JSON and raw.canm are in the binary, and
# nothing else is; what cannot be edited there says so.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_animfs

fresh()
{
	cp "$SAMPLE" "$SRC/$1.canm"
	FILE=$SRC/$1.canm
	CLIP=$MNT/$1.canm/walk
}

# Lines that an edit changed in the whole text of the file.
text_of()
{
	local view
	for view in file.json {walk,Idle,攻撃_01,empty}/{clip.json,curves.csv}; do
		"$ANIMFS" cat "$1/$view" | sed "s/${1##*/}/FILE/"
	done
}
changed() { diff <(text_of "$SAMPLE") <(text_of "$FILE") | sed -n 's/^> *//p'; }

fresh loop
ok "clip.json: loop" sed -i 's/"loop": true/"loop": false/' "$CLIP/clip.json"
is "changes that" "$(changed | grep -c loop)" 3
like "in clip.kanim, too" "$(<"$CLIP/clip.kanim")" 'loop="false"'

fresh again
text=$(sed 's/"loop": true/"loop": false/' "$CLIP/clip.json")
for time in first second; do
	ok "clip.json: loop, the $time time" tee "$CLIP/clip.json" <<<"$text"
done
like "what says the same in another member is not taken for an edit back" "$(<"$CLIP/clip.json")" \
	'"loop": false, '

fresh frame_time
ok "clip.json: frame_time" sed -i 's/"frame_time": 2,/"frame_time": 4,/' "$CLIP/clip.json"
# The kernel is told soon after the save that the text is not as it was typed.
ok "the duration follows" wait_for 3 grep -q '"frame_time": 4, "duration": 8,' "$CLIP/clip.json"
like "and the times" "$(<"$CLIP/bones/hip.csv")" $'\n2,0.133333,'

ok "clip.json: the next edit of it" sed -i 's/"loop": true/"loop": false/' "$CLIP/clip.json"
like "leaves the first" "$("$ANIMFS" cat "$FILE/walk/clip.json")" '"loop": false, .*"frame_time": 4, "duration": 8,'

fresh duration
ok "clip.json: duration" sed -i 's/"duration": 4/"duration": 6/' "$CLIP/clip.json"
ok "the frame time follows" wait_for 3 grep -q '"frame_time": 3, "duration": 6,' "$CLIP/clip.json"

fresh name
ok "what people put there" sh -c "echo note >'$MNT/name.canm/walk/note.txt'"
ok "clip.json: the name" sed -i 's/"clip": "walk"/"clip": "walk~%2Ffast"/' "$CLIP/clip.json"
ok "is the folder's" wait_for 2 test -d "$MNT/name.canm/walk~%2Ffast"
like "as it is stored" "$(<"$MNT/name.canm/file.json")" '"name": "walk~/fast"'
ok "and the old name is gone" wait_for 2 test ! -e "$CLIP"
is "with what people put there" "$(cat "$MNT/name.canm/walk~%2Ffast/note.txt")" note
ok "with all its curves" diff <("$ANIMFS" cat "$SAMPLE/walk/curves.csv") "$MNT/name.canm/walk~%2Ffast/curves.csv"

fresh refused
for edit in 's/"format": "animfs.clip.1"/"format": "other"/' 's/"file": "[^"]*"/"file": 1/' \
	's/"name": "walk"/"name": "run"/' 's/"seconds": 0.066667/"seconds": 1/' 's/"loop": true/"lop": true/' \
	's/"loop": true/"loop": 7/' 's/"frames": 3/"frames": -3/' 's/"clip": "walk"/"clip": "Idle"/'; do
	fails "clip.json: $edit" sed -i "$edit" "$CLIP/clip.json"
	rm "$CLIP/clip.json.rejected" "$CLIP/clip.json.error"
done
ok "nothing of that is in the binary" cmp "$FILE" "$SAMPLE"

fresh kanim
ok "clip.kanim: loop" sed -i 's/loop="true"/loop="false"/' "$CLIP/clip.kanim"
like "is the clip's" "$(<"$CLIP/clip.json")" '"loop": false'
ok "clip.kanim: uniform times" sed -i 's/time="0.033333335"/time="0.1"/; s/time="0.06666667"/time="0.2"/' "$CLIP/clip.kanim"
like "are the frame time" "$(<"$CLIP/clip.json")" '"frame_time": 6, "duration": 12,'
fails "clip.kanim: other times" sed -i 's/time="0.1"/time="0.15"/' "$CLIP/clip.kanim"
like "say why" "$(<"$CLIP/clip.kanim.error")" 'clip\.kanim:4:[0-9]+: '
fails "clip.kanim: another still" sed -i 's,frames/frame_00001,frames/frame_00002,' "$CLIP/clip.kanim"

fresh bone
J=$CLIP/bones/Bone01.json
ok "bone JSON: a value" sed -i 's/\[1.5, -2, 0.25\]/[2.5, -2, 0.25]/' "$J"
ok "is the same edit" cmp "$FILE" "$EDITED"
ok "bone JSON: written by another program" python3 -c '
import json, sys
bone = json.load(open(sys.argv[1]))
bone["channels"]["translation"]["keys"][0]["value"][0] = 1.5
json.dump(bone, open(sys.argv[1], "w"), indent=8)' "$J"
like "is an edit" "$(<"$CLIP/bones/Bone01.csv")" 0,0,1.5,-2,
is "bone JSON: not closed" "$(save_errno fsync "$J" '{ "format": ')" EBADMSG

fresh raw
ok "raw.canm: another file's bytes" cp tests/data/canm/edf6_768.canm "$MNT/raw.canm/raw.canm"
ok "are the file's" cmp "$FILE" tests/data/canm/edf6_768.canm
ok "which has other clips" wait_for 2 test -d "$MNT/raw.canm/turn"
ok "and no old ones" wait_for 2 test ! -e "$CLIP"
fails "raw.canm: bytes that do not decode" cp tests/data/canm/bad_version.canm "$MNT/raw.canm/raw.canm"
ok "are not" cmp "$FILE" tests/data/canm/edf6_768.canm
ok "but kept" cmp "$MNT/raw.canm/raw.canm.rejected" tests/data/canm/bad_version.canm
like "with the reason" "$(<"$MNT/raw.canm/raw.canm.error")" 'version'
ok "raw.canm: by rename" sh -c "cp '$SAMPLE' '$MNT/raw.canm/t' && mv '$MNT/raw.canm/t' '$MNT/raw.canm/raw.canm'"
ok "too" cmp "$FILE" "$SAMPLE"
ok "cp onto the folder" cp "$EDITED" "$MNT/raw.canm"
ls -A "$MNT/raw.canm" >"$WORK/names"
is "lands inside it, as cp does" "$(cat "$WORK/names")" "$(printf '%s\n' Idle empty file.json raw.canm skeleton.csv walk wiki512.canm 攻撃_01)"
cp "$EDITED" "$WORK/raw.canm"
ok "a file named as the folder" cp "$WORK/raw.canm" "$MNT/raw.canm"
ok "replaces the binary" cmp "$FILE" "$EDITED"
is "and is no name in it" "$(ls -A "$MNT/raw.canm")" "$(cat "$WORK/names")"

fresh file
fails "file.json: read-only members" sed -i 's/"version": 512/"version": 768/' "$MNT/file.canm/file.json"
fails "curves.csv is not editable yet, or says what is wrong" sh -c "echo nonsense >'$CLIP/curves.csv.new' && mv '$CLIP/curves.csv.new' '$CLIP/curves.csv'"
ok "the binary stays" cmp "$FILE" "$SAMPLE"
umount_animfs
