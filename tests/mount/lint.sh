#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh - animfs lint: nothing in clean files; each fault that an edit plants, and no other; options,
# JSON and exit statuses. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
make_game --files 6 --clips 4 --bones 24 --frames 61 --plain 0 --version 512
mkdir "$SRC/quaternions"
"$(dirname "$ANIMFS")/make_game" "$SRC/quaternions" --files 2 --clips 2 --bones 24 --frames 61 --plain 0 --version 768
cd "$SRC" || exit 1
said=$("$ANIMFS" lint . 2>"$WORK/sum")
is "clean files: nothing, and status 0" "$? $said" "0 "
is "how many there were" "$(cat "$WORK/sum")" "8 files, 0 findings"

fresh=$(find . -name 'ranger.canm' -not -path './quaternions/*' | head -n 1)
turned=$(find ./quaternions -name '*.canm' | sort | head -n 1)

# plant NAME FROM VIEW AWK: the file as an edit of that view's text makes it
plant()
{
	cp "$2" one.canm
	"$ANIMFS" cat --rotations=stored "one.canm/$3" | awk -F, -v OFS=, "$4" >"$WORK/text"
	ok "planted: $1" "$ANIMFS" put "one.canm/$3" "$WORK/text"
}
# found NAME STATUS REGEX [OPTION...]: of all lines of the file
found()
{
	local name=$1 want=$2 regex=$3 status
	shift 3
	said=$("$ANIMFS" lint "$@" one.canm 2>/dev/null)
	status=$?
	is "$name: status" "$status" "$want"
	like "$name" "$said" "$regex"
}
hips=walk/bones/hips.csv
plant "a jump" "$fresh" $hips 'NR == 22 { $6 += 60 } 1'
found "a jump: that frame and the one behind it" 1 \
	'^one\.canm/walk/bones/hips\.csv: jump: rotation: jumps by [56][0-9](\.[0-9]*)? degrees at frames 20, 21; steps elsewhere are up to [0-9.]* degrees$'
found "--jump: none" 0 '^$' --jump=1000
found "--least: none" 0 '^$' --least=90
found "--only: not looked for" 0 '^$' --only=seam,waste
found "--only: looked for" 1 ': jump: ' --only=jump
plant "a jump of a place" "$fresh" $hips 'NR == 22 { $3 += 3 } 1'
found "a jump of a place" 1 \
	'^one\.canm/walk/bones/hips\.csv: jump: translation: jumps by 3[0-9.]* m at frames 20, 21; [^
]*$'
plant "an open seam" "$fresh" $hips 'NR > 32 { $6 += (NR - 32) * 1.5 } 1'
found "an open seam" 1 \
	'^one\.canm/walk/bones/hips\.csv: seam: rotation: the loop.s last pose is 4[0-9.]* degrees from its first; [^
]*$'
found "--seam: none" 0 '^$' --seam=100
sed 's/"loop": true/"loop": false/' <("$ANIMFS" cat one.canm/walk/clip.json) >"$WORK/clip.json"
"$ANIMFS" put one.canm/walk/clip.json <(sed 's/"canm": {"loop": 1}/"canm": {"loop": 0}/' "$WORK/clip.json")
found "what does not loop has no seam" 0 '^$'
plant "a curve that is constant" "$fresh" $hips 'NR == 2 { a = $6; b = $7; c = $8 } NR > 2 { $6 = a; $7 = b; $8 = c } 1'
found "a curve that is constant" 1 '^one\.canm/walk/bones/hips\.csv: constant: rotation: 61 keys have one value$'
# Its grids were made for values that it does not have.
cp "$OLDPWD/tests/data/canm/edf6_768.canm" one.canm
found "ranges that are too wide" 1 \
	'^one\.canm/turn/bones/body\.csv: waste: translation: its values use 0\.0046% of the steps they could have
one\.canm/turn/bones/body\.csv: waste: scale: its values use 0\.0046% of the steps they could have$'
found "--waste: none" 0 '^$' --waste=0

bone=$("$ANIMFS" ls "$turned/walk/bones" | grep csv | while read -r name; do
	"$ANIMFS" cat --rotations=stored "$turned/walk/bones/$name" | grep -q 'qx.*qw' && [ "$("$ANIMFS" cat --rotations=stored "$turned/walk/bones/$name" |
		awk -F, '$6 != ""' | wc -l)" -gt 60 ] && echo "walk/bones/$name"
done | head -n 1)
like "a bone with quaternions" "$bone" '^walk/bones/.*csv$'
plant "a flip" "$turned" "$bone" 'NR > 31 { for (i = 6; i < 10; i++) $i = -$i } 1'
found "a flip" 1 "^one\\.canm/$bone: flip: rotation: the quaternion changes its sign at frame 30\$"
plant "a length" "$turned" "$bone" 'NR == 13 { for (i = 6; i < 10; i++) $i *= 1.006 } 1'
found "a length within what is usual" 0 '^$'
found "--length" 1 "^one\\.canm/$bone: length: rotation: the quaternion has length 1\\.006 at frame 11\$" --length=0.001

# ---- JSON, several files, what is wrong ----
plant "a jump" "$fresh" $hips 'NR == 22 { $6 += 60 } 1'
is "--json" "$("$ANIMFS" lint --json one.canm | python3 -c '
import json, sys
found, total = [json.loads(line) for line in sys.stdin]
assert found["format"] == total["format"] == "animfs.lint/1"
assert 5 * found["usual"] < found["value"] < 70, found
print(*(found[name] for name in ("path", "clip", "bone", "role", "kind", "frames", "message")), sep="|")
print(total["files"], total["findings"], total["unreadable"])')" \
	"one.canm|walk|hips|rotation|jump|[20, 21]|$("$ANIMFS" lint one.canm 2>/dev/null | sed 's/.*rotation: //')
1 1 0"
is "a folder: what is in it" "$("$ANIMFS" lint . 2>/dev/null | grep -c '^\./one\.canm/')" 1
printf CANM >bad.canm
said=$("$ANIMFS" lint bad.canm one.canm 2>"$WORK/errors")
is "what does not decode is status 2, and the others are looked at" "$? $(grep -c jump <<<"$said")" "2 1"
like "and told" "$(cat "$WORK/errors")" '^animfs: bad\.canm:0x4: the file ends.*
1 files, 1 findings'
"$ANIMFS" lint none.canm 2>/dev/null
is "no such file" $? 2
for wrong in --jump=x --seam=-1 --length=nan --only=seam,seems; do
	said=$("$ANIMFS" lint $wrong one.canm 2>&1)
	is "$wrong" "$? $(grep -c -- "^animfs lint: ${wrong%%=*}=" <<<"$said")" "2 1"
done
