# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# animfs import: what was edited in exported texts since, and nothing else, comes into the files.
# Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
OUT=$WORK/out
file=object/e0000/ranger.canm
other=object/e0000/diver.canm
walk=$OUT/$file/walk
hips=$walk/bones/hips

# imported OPTION...: what it says; its status is in $WORK/status.
imported()
{
	local status=0
	"$ANIMFS" import "$@" "$OUT" "$SRC" >"$WORK/imported" 2>&1 || status=$?
	echo $status >"$WORK/status"
	grep -v '^animfs undo --batch=' "$WORK/imported" # another number each time
}
status() { cat "$WORK/status"; }
fresh() { rm -rf "$OUT"; "$ANIMFS" export "$SRC" "$OUT" 2>/dev/null; }
view() { "$ANIMFS" cat "$SRC/$file/$1"; }
# set_cell FILE FRAME COLUMN VALUE
set_cell() { awk -F, -v OFS=, -v f="$2" -v c="$3" -v v="$4" '$1 == f { $c = v } 1' "$1" >"$WORK/cell" && cat "$WORK/cell" >"$1"; }
# cell VIEW FRAME COLUMN: rounded, since formats store steps
cell() { view "$1" | awk -F, -v f="$2" -v c="$3" '$1 == f { printf "%.3f", $c }'; }
binaries() { (cd "$SRC" && find . -name '*.*' -type f ! -path './.animfs/*' -exec md5sum {} + | sort -k 2); }

make_game --files 3 --clips 2 --bones 5 --frames 8 --version mix --plain 3 --skeleton 1
cp tests/data/ff9anim/allmasks_n5.ff9anim tests/data/kanim/stick.kanim tests/data/cas/v203.cas "$SRC"
binaries >"$WORK/first"

# ---- nothing was edited ----

fresh
is "an export says what the files say" "$(imported)" '6 files, 0 changed, 0 rejected'
is "status 0" "$(status)" 0
find "$OUT" -type f -exec touch {} +
is "times do not matter" "$(imported)" '6 files, 0 changed, 0 rejected'
find "$OUT" -name .animfs-export -delete
is "nor does it when nothing is known of the export" "$(imported)" '6 files, 0 changed, 0 rejected'
ok "nothing was written" diff <(binaries) "$WORK/first"
fails "not even a state directory" test -e "$SRC/.animfs"

# ---- an edit ----

fresh
set_cell "$hips.csv" 3 3 0.015
is "--dry-run says what would change" "$(imported -n)" "changed $file
6 files, 1 would change, 0 rejected"
ok "and changes nothing" diff <(binaries) "$WORK/first"
is "an edit" "$(imported)" "changed $file
6 files, 1 changed, 0 rejected"
is "it is in the file" "$(cell walk/bones/hips.csv 3 3)" 0.015
is "one file is another" "$(binaries | diff - "$WORK/first" | grep -c '^<')" 1
is "the same again is nothing new" "$(imported)" '6 files, 0 changed, 0 rejected'
set_cell "$hips.csv" 3 3 0.016
like "the same text edited again" "$(imported)" '1 changed, 0 rejected'
set_cell "$hips.csv" 3 3 7.0123
sed -i 's/^4,/4.0,/' "$walk/bones/spine.csv"
like "an edit with one that says nothing new" "$(imported)" '1 changed, 0 rejected'
is "the export of it goes on" "$("$ANIMFS" export -u "$SRC" "$OUT" 2>&1)" \
	'1 exported, 5 up to date, 0 failed'
is "and all texts say it" "$(grep -c 7.0123 "$hips.json" "$walk/curves.csv" | cut -d: -f2 | paste -sd ' ')" '1 1'

# ---- several texts of one file ----

fresh
set_cell "$hips.csv" 1 3 0.011
set_cell "$walk/bones/spine.csv" 1 6 12
sed -i 's/"loop": true/"loop": false/' "$walk/clip.json"
sed -i '/^neck,rotation,2,/s/,[^,]*,[^,]*,$/,7,8,/' "$walk/curves.csv"
like "a CSV, another, curves.csv and clip.json" "$(imported)" '1 changed, 0 rejected'
is "one" "$(cell walk/bones/hips.csv 1 3)" 0.011
is "two" "$(cell walk/bones/spine.csv 1 6)" 12.000
is "three" "$(view walk/clip.json | grep -c '"loop": false')" 1
is "four" "$(view walk/curves.csv | awk -F, '$1 == "neck" && $2 == "rotation" && $3 == 2 { printf "%.3f %.3f", $6, $7 }')" '7.000 8.000'

fresh
before=$(md5sum <"$SRC/$file")
set_cell "$hips.csv" 1 3 0.012
set_cell "$walk/bones/spine.csv" 1 6 12.5x
set_cell "$OUT/$other/walk/bones/hips.csv" 1 3 0.013
said=$(imported)
is "one wrong text: status 1" "$(status)" 1
like "all of its file is refused, others are not" "$said" '6 files, 1 changed, 1 rejected'
like "with path, line, column and what would be right" "$said" \
	"$walk/bones/spine.csv:3:[0-9]*: rx: \"12.5x\" is not a number.*accepted here: "
is "the file is as it was" "$(md5sum <"$SRC/$file")" "$before"
set_cell "$walk/bones/spine.csv" 1 6 12.5
like "put right, both come" "$(imported)" '1 changed, 0 rejected'
is "the first" "$(cell walk/bones/hips.csv 1 3)" 0.012

fresh
set_cell "$hips.csv" 1 3 0.02
set_json() { sed -i "0,/\"frame\": 1,/s/\(\"frame\": 1,.*\[\)[^,]*/\1$1/" "$hips.json"; }
set_json 0.03
said=$(imported)
like "two texts that disagree are refused" "$said" 'hips.json: another edited text contradicts this one about hips'
is "status 1" "$(status)" 1
set_json 0.02
like "two that agree are one edit" "$(imported)" '1 changed, 0 rejected'

fresh
sed -i 's/1/2/' "$walk/clip.svg"
like "a picture cannot be edited" "$(imported)" 'clip.svg:1:1: this text is generated'
fresh
cp "$walk/clip.svg" "$WORK/picture.svg"
set_cell "$hips.csv" 3 3 0.021
imported >/dev/null
fresh
cp "$WORK/picture.svg" "$walk/clip.svg"
is "that of an older version is brought back" "$(imported)" '6 files, 0 changed, 0 rejected'
fresh
printf x >>"$walk/notes.txt"
is "other files do not count" "$(imported)" '6 files, 0 changed, 0 rejected'

# ---- the file was changed meanwhile ----

fresh
"$ANIMFS" cat "$SRC/$file/walk/bones/spine.csv" >"$WORK/spine"
set_cell "$WORK/spine" 5 6 33
"$ANIMFS" put "$SRC/$file/walk/bones/spine.csv" <"$WORK/spine"
set_cell "$hips.csv" 1 3 0.021
like "another bone was edited there: both stay" "$(imported)" '1 changed, 0 rejected'
is "theirs" "$(cell walk/bones/spine.csv 5 6)" 33.000
is "ours" "$(cell walk/bones/hips.csv 1 3)" 0.021
set_cell "$walk/bones/spine.csv" 1 6 44
like "the same bone: refused" "$(imported)" 'spine.csv: the animation file says something else here'
is "theirs stays" "$(cell walk/bones/spine.csv 1 6)" 12.500
cp "$WORK/spine" "$walk/bones/spine.csv"
like "the same edit here and there is none" "$(imported)" '0 changed, 0 rejected'
fresh
"$ANIMFS" clip remove "$SRC/$file/run"
set_cell "$OUT/$file/run/bones/hips.csv" 1 3 0.021
like "a clip that is gone there" "$(imported)" 'nothing of this name any more'
is "is not made anew" "$("$ANIMFS" ls "$SRC/$file" | grep -c /)" 1
"$ANIMFS" undo "$SRC/$file"

# ---- whole files, clips, bones, skeletons ----

fresh
cp -r "$walk" "$OUT/$file/walk2"
like "a copied clip folder is a new clip" "$(imported)" '1 changed, 0 rejected'
is "with its curves" "$(view walk2/curves.csv | md5sum)" "$(view walk/curves.csv | md5sum)"
fresh
cp "$OUT/$other/raw.canm" "$OUT/$file/raw.canm"
like "raw.* is the whole file" "$(imported)" '1 changed, 0 rejected'
ok "to the byte" same_file "$SRC/$file" "$SRC/$other"
printf junk >"$OUT/$file/raw.canm"
like "junk is refused" "$(imported)" 'raw.canm: byte [0-9]+: '
ok "and the file stays" same_file "$SRC/$file" "$SRC/$other"
fresh
sed -i '/^hips,/s/,.*/,,0,2,0,0,0,0,1,1,1/' "$OUT/$file/skeleton.csv"
like "a skeleton" "$(imported)" '1 changed, 0 rejected'
is "is put beside the file" "$(grep -c '^hips,,0,2,' "$SRC/$file.skeleton.csv")" 1
fresh
sed -i 's/"version": /"version":  /' "$OUT/$other/file.json"
like "spaces are no edit" "$(imported)" '0 changed, 0 rejected'
sed -i '2s/[^,]*$/other.x3d/' "$OUT/stick.kanim.d/frames.csv"
like "frames of a kanim" "$(imported)" '1 changed, 0 rejected'
is "are saved into it" "$(grep -c 'other.x3d' "$SRC/stick.kanim")" 1
fresh
set_cell "$OUT/v203.cas/$(ls "$OUT/v203.cas" | grep -v '[.]' | head -n 1)/bones/$(
	cd "$OUT/v203.cas" && ls ./*/bones | grep csv | head -n 1)" 0 3 1
like "a CAS" "$(imported)" '1 changed, 0 rejected'

# ---- files that are not there ----

binaries >"$WORK/before"
fresh
mv "$SRC/$other" "$WORK/kept.canm"
like "--existing makes none" "$(imported --existing)" '5 files, 0 changed, 0 rejected'
like "one of its raw.*" "$(imported)" "made $other"
ok "to the byte" same_file "$SRC/$other" "$WORK/kept.canm"
rm "$SRC/$other" "$OUT/$other/raw.canm"
like "one of its texts" "$(imported -n)" "made $other"
fails "not with --dry-run" test -e "$SRC/$other"
like "made" "$(imported)" "made $other"
says() { "$ANIMFS" cat "$1"/{walk,run}/curves.csv | grep ,translation, | awk -F, -v OFS=, '{ for (i = 5; i < 8; i++) $i = sprintf("%.2f", $i) } 1' | sed 's/-0.00/0.00/g'; }
is "says the same" "$(says "$SRC/$other" | md5sum)" "$(says "$WORK/kept.canm" | md5sum)"
cp "$WORK/kept.canm" "$SRC/$other"
cp -r "$OUT/$other" "$OUT/object/e0000/copy.canm"
like "a copied folder is a new file" "$(imported)" 'made object/e0000/copy.canm'
mkdir -p "$OUT/new/folder"
cp -r "$OUT/$other" "$OUT/new/folder/x.canm"
like "also in a new folder" "$(imported)" 'made new/folder/x.canm'
cp -r "$OUT/$other" "$OUT/new/broken.canm"
echo 'frame,tx
0,zero' >"$OUT/new/broken.canm/walk/bones/hips.csv"
said=$(imported)
like "one with a wrong text is not made" "$said" 'broken.canm/walk/bones/hips.csv:2:3: tx: "zero" is not a number'
fails "not there" test -e "$SRC/new/broken.canm"

# ---- which, and how it is said ----

rm -rf "$OUT/new" "$SRC/new" "$OUT/object/e0000/copy.canm" "$SRC/object/e0000/copy.canm"
fresh
for one in "$OUT"/object/*/*.canm; do
	set_cell "$one/walk/bones/hips.csv" 2 3 0.5
done
set_cell "$hips.csv" 2 3 half
said=$("$ANIMFS" import --json -j3 "$OUT" "$SRC" 2>/dev/null)
ok "--json is a line of JSON for each" python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.argv[1].splitlines()]
counts = {"format": "animfs.import/1", "files": 6, "changed": 2, "rejected": 1}
assert lines[-1] == counts, lines[-1]
outcomes = {line["path"]: line for line in lines[:-1]}
ranger, diver = (outcomes["object/e0000/%s.canm" % name] for name in ("ranger", "diver"))
assert ranger["outcome"] == "rejected" and diver["outcome"] == "changed"
assert diver["rejects"] == []
assert [(r["line"], r["column"]) for r in ranger["rejects"]] == [(4, 12)]
assert [(r["cell"], r["column_name"]) for r in ranger["rejects"]] == [("C4", "tx")]
assert ranger["rejects"][0]["path"].endswith("ranger.canm/walk/bones/hips.csv")
assert "number" in ranger["rejects"][0]["accepted"]
assert len(outcomes) == 3' "$said"
fresh
for one in "$OUT"/object/*/*.canm; do
	set_cell "$one/walk/bones/hips.csv" 2 3 0.25
done
is "two parts have each file once" "$(for part in 1 2; do imported --shard=$part/2; done | grep -c changed\ )" 3
sed -i 's/"frames": 8/"frames": 5/' "$OUT/$other/walk/clip.json"
like "a shorter clip" "$(imported)" '1 changed'
ok "undo knows the file as it was" "$ANIMFS" undo "$SRC/$other"
is "it is back" "$("$ANIMFS" cat "$SRC/$other/walk/clip.json" | grep -c '"frames": 8')" 1
chmod -R a-w "$OUT"
"$ANIMFS" import "$WORK/nothing" "$SRC" 2>/dev/null
is "of nothing: status 2" $? 2
"$ANIMFS" import "$OUT" 2>/dev/null
is "one operand: status 2" $? 2

# ---- texts of other kinds ----

fresh
sed -i '/^hips,scale/a extra,rotation,0,0,10,20,30,' "$walk/curves.csv"
like "curves.csv adds a bone" "$(imported)" '1 changed, 0 rejected'
is "which is there" "$("$ANIMFS" ls "$SRC/$file/walk/bones" | grep -c '^extra.csv')" 1
cp "$hips.csv" "$walk/bones/other.csv"
like "a bone's CSV does not" "$(imported)" 'bones/other.csv: the clip has no bone of this name'
rm "$walk/bones/other.csv"
fresh
sed -i "s/loop='true'/loop='false'/;s/loop=\"true\"/loop=\"false\"/" "$walk/clip.kanim"
like "a loop in clip.kanim" "$(imported)" '1 changed, 0 rejected'
is "is a loop of the clip" "$(view walk/clip.json | grep -c '"loop": false')" 1
fresh
sed -i 's/"frames": 8/"frames": 10/' "$walk/clip.json"
printf '8,,0.5,0.5,0.5,,,,,,\n9,,0.75,0.5,0.5,,,,,,\n' >>"$hips.csv"
like "a longer clip and what comes in it" "$(imported)" '1 changed, 0 rejected'
is "is read as of the new length" "$(cell walk/bones/hips.csv 9 3)" 0.750
