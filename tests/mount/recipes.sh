#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# recipes.sh - each recipe of docs/GUIDE.md, run as it stands there, does what the guide says: recipes.py
# examines the result. Nothing is mounted here. git.sh runs the recipe for git, make test-duckdb the one for DuckDB;
# make test-blender goes through Blender itself.
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

# The commands of a section.
recipe()
{
	awk -v name="### $1" '/^##/ { inside = $0 == name }
		inside && /^ *```sh$/ { code = 1; next }
		inside && /^ *```$/ { code = 0 }
		code' "$root/docs/GUIDE.md"
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
is "the check sees when nothing was done" "$(for check in scale shift slow hold mirror taller arm; do
	python3 "$root/tests/mount/recipes.py" $check ranger.canm ranger.canm 2>/dev/null || echo $check
done | xargs)" "scale shift slow hold mirror taller arm"

promised "Scale a curve" scale
fresh true
promised "Shift keys" shift
fresh true
promised "Slow a clip down" slow
fresh true
promised "Hold the last pose" hold
fresh true
promised "Mirror left and right" mirror
fresh true
promised "Make a figure taller" taller

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
promised "Copy an arm's motion to another clip" arm
fresh frames run 20
promised "Copy an arm's motion to another clip" arm
fresh frames run 45
promised "Copy an arm's motion to another clip" arm

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

# What Blender would export after a pose: the glTF of a file with an edited bone.
pose()
{
	cp ranger.canm posed.canm
	cp skeleton.csv posed.canm.skeleton.csv
	animfs cat posed.canm/walk/bones/arm_L.csv | awk -F, -v OFS=, 'NR == 5 { $6 += 12 } 1' |
		animfs put posed.canm/walk/bones/arm_L.csv
	animfs cat posed.canm/walk/clip.gltf >back.glb
}
fresh pose
promised "Blender and back" posed
like "Blender and back: the rate to set" "$(bash "$WORK/recipe" 2>/dev/null)" '^"fps": *60($|[^0-9])'
# A spreadsheet of a country with decimal commas, in which one cell is edited.
mkdir "$WORK/bin"
cat >"$WORK/bin/libreoffice" <<'END'
#!/bin/sh
sed -i -e 's/,/;/g' -e 's/\./,/g' "$1"
awk -F';' -v OFS=';' 'NR == 5 { $6 = "12,5" } { for (i = 1; i <= NF; i++) $i = "\"" $i "\""; print }' "$1" >"$1.new"
mv "$1.new" "$1"
END
chmod +x "$WORK/bin/libreoffice"
PATH=$WORK/bin:$PATH
fresh true
promised "A spreadsheet" cell

is "all recipes were tried" "$(sed -n '/^## Cookbook/,/^## A whole/p' "$root/docs/GUIDE.md" | grep -c '^### ')" 16
cd "$root" || exit 1
