#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# recipes.sh - each recipe of animfs-recipes(7), as it is read there, does what it says: recipes.py looks at
# what came of it. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
root=$PWD
PATH=$(dirname "$ANIMFS"):$PATH
python3 -c 'import pandas' 2>/dev/null || PATH=/usr/bin:$PATH # a python3 of one's own lacks Debian's packages
command -v mlr >/dev/null || skip_all "mlr is not installed: apt-get install miller"
python3 -c 'import pandas' 2>/dev/null || skip_all "pandas is not installed: apt-get install python3-pandas"

make_game --files 1 --clips 3 --bones 24 --frames 31 --plain 0 --skeleton 1 --version 512
mv "$SRC"/object/*/* "$SRC"
rm -r "$SRC/object"
cd "$SRC" || exit 1
animfs bone rename ranger.canm 右手 hand_R
sed -i 's/右手/hand_R/' skeleton.csv
rm -rf .animfs
cp -r "$SRC" "$WORK/fresh"

# The literal displays of a section.
recipe()
{
	sed -n "/^\.Ss $1\$/,/^\.S[sh] [^$]*\$/{
		/^\.Bd/,/^\.Ed/{
			/^\.[BE]d/d
			s/\\\\e/\\\\/g
			p
		}
		/^\.Ss $1\$/n
	}" "$root/man/animfs-recipes.7"
}
# The file as it came, in the folder where recipes are run.
fresh() { cd / && rm -rf "$SRC" && cp -r "$WORK/fresh" "$SRC" && cd "$SRC" && "$@" && cp ranger.canm "$WORK/before.canm"; }
# cook HEADING
cook()
{
	recipe "$1" >"$WORK/recipe"
	ok "$1: there is a recipe" test -s "$WORK/recipe"
	ok "$1: it runs" bash -euo pipefail "$WORK/recipe"
}
# promised HEADING CHECK
promised()
{
	cook "$1"
	cp skeleton.csv "$WORK/before.canm.skeleton.csv"
	ok "$1: it does that" python3 "$root/tests/mount/recipes.py" "$2" "$WORK/before.canm" ranger.canm
	ok "$1: a file as the game has it" animfs check ranger.canm
}
export ANIMFS
fresh true
is "the check sees when nothing was done" "$(for check in slow hold mirror scale arm; do
	python3 "$root/tests/mount/recipes.py" $check ranger.canm ranger.canm 2>/dev/null || echo $check
done | xargs)" "slow hold mirror scale arm"

promised "Slow a clip down" slow
fresh true
promised "Hold the last pose" hold
fresh true
promised "Mirror left and right" mirror
fresh true
promised "Scale the height" scale

# Every second frame is off by 4 degrees, in turn.
shake()
{
	cp ranger.canm smooth.canm
	for bone in arm_L hips; do
		animfs cat ranger.canm/walk/bones/$bone.csv | awk -F, -v OFS=, -v CONVFMT=%.9g \
			'NR > 1 { $6 += NR % 2 ? 4 : -4; $8 += NR % 3 ? 2 : -4 } 1' |
			animfs put ranger.canm/walk/bones/$bone.csv
	done
}
fresh shake
promised "Remove jitter" jitter

# frames CLIP N
frames() { animfs cat "ranger.canm/$1/clip.json" | sed "s/\"frames\": [0-9]*/\"frames\": $2/" | animfs put "ranger.canm/$1/clip.json"; }
fresh true
promised "Copy one arm's motion to another clip" arm
fresh frames run 20
promised "Copy one arm's motion to another clip" arm
fresh frames run 45
promised "Copy one arm's motion to another clip" arm

fresh frames walk 24
promised "Close a loop's seam" seam
seams() { animfs lint --only=seam "$1" 2>/dev/null | grep -c '/walk/'; }
ok "animfs lint saw the seam" test "$(seams "$WORK/before.canm")" -gt 0
is "and sees that it is closed" "$(seams ranger.canm)" 0
fresh true
promised "Cut frames" cut
fresh true
promised "Blend two clips" blend

# Feet that stand, and the same that are drawn along.
stand()
{
	animfs clip copy ranger.canm/walk ranger.canm/stand
	for text in $(animfs ls ranger.canm/stand/bones | grep 'csv$'); do
		animfs cat "ranger.canm/stand/bones/$text" | head -n 2 >text
		for frame in $(seq 1 30); do echo "$frame$(sed -n '2s/^[0-9]*//p' text)"; done >>text
		animfs put "ranger.canm/stand/bones/$text" text
	done
	animfs clip copy ranger.canm/stand ranger.canm/skate
	animfs cat ranger.canm/skate/bones/hips.csv |
		awk -F, -v OFS=, 'NR > 1 { $5 += 0.02 * $1 } 1' | animfs put ranger.canm/skate/bones/hips.csv
	rm text
	animfs clip remove ranger.canm/walk ranger.canm/run ranger.canm/待機 2>/dev/null
}
fresh stand
cook "List clips whose feet slide"
is "List clips whose feet slide: it does that" "$(rm -rf texts && bash -eu "$WORK/recipe")" \
	"ranger.canm/skate: foot_L slides 0.020 m in a frame
ranger.canm/skate: foot_R slides 0.020 m in a frame"

is "all recipes were tried" "$(grep -c '^\.Ss' "$root/man/animfs-recipes.7")" 10
cd "$root" || exit 1
