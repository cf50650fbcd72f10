#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-kanim.sh - reads every clip.kanim of a mount with tovrmlx3d, which uses the engine's own
# code: it must load without a warning, bake a scene for each frame, and interpolate when asked for
# four scenes per frame (if the stills have different structures, each one is held and then jumps).
# Screenshots by view3dscene of some at several times must show the poses in the tables. And for
# every kanim of SOURCE: what is edited in the mount, the engine loads as intended, and what is
# refused there, the engine does not load either. Stills joined into one scene with interpolators
# must look like the kanim of them at several times.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d /var/tmp/animfs-kanim.XXXXXX) || exit 1
clean_up()
{
	! grep -q " $work/mnt fuse" /proc/self/mounts || fusermount3 -uz "$work/mnt"
	rm -rf "$work"
}
trap clean_up EXIT

. scripts/is.bash

like()
{
	case $2 in *"$3"*) is "$1" x x ;; *) is "$1" "$2" "$3" ;; esac
}

# What the reader says to a kanim; nothing when it is content. The scenes go to $work/baked.x3d.
bake() { { tovrmlx3d "$1" --encoding xml >"$work/baked.x3d"; } 2>&1 || echo "status $?"; }
scenes() { grep -A3 '<IntegerSequencer' "$work/baked.x3d" | sed -n 's/.*keyValue="\([^"]*\)".*/\1/p' | wc -w; }
poses() { grep -A1 '<Coordinate' "$work/baked.x3d" | grep 'point=' | sort -u | wc -l; }

mkdir "$work/src" "$work/mnt"
"$BUILD/make_game" "$work/src" --files 2 --clips 2 --frames 20 --version mix --plain 0 --skeleton 1
cp tests/data/canm/*.canm tests/data/kanim/* tests/data/ff9anim/frames033_low.ff9anim \
	tests/data/ribbon/objects024.anm "$work/src"
# What hangs from each other there, a game's file may hold without a word of it.
cp "$work/src/object/e0000/ranger.canm" "$work/src/crosses.canm"
"$BUILD/animfs" cat "$work/src/frames033_low.ff9anim/skeleton.csv" |
	awk -F, -v OFS=, 'NR > 1 { $2 = before; before = $1; $4 = -200 } 1' >"$work/skeleton.csv"
mv "$work/skeleton.csv" "$work/src/frames033_low.ff9anim.skeleton.csv"
"$BUILD/animfs" "$work/src" "$work/mnt" || exit 1
is "bones that hang from each other are bodies" \
	"$(grep -rl IndexedFaceSet "$work/mnt" --include=frame_00000.x3d | grep -c /object/)" 4

while read -r kanim; do
	name=${kanim#"$work/mnt/"}
	frames=$(grep -c '<frame ' "$kanim")
	is "$name loads" "$(bake "$kanim")" ""
	is "$name: a scene a frame" "$(scenes)" "$frames"
	case $name in object/*) ;; *) continue ;; esac

	rm -rf "$work/clip"
	cp -r "$(dirname "$kanim")" "$work/clip"
	rate=$(sed -n 's/.*scenes_per_time="\([0-9]*\)".*/\1/p' "$kanim")
	sed -i "s/scenes_per_time=\"$rate\"/scenes_per_time=\"$((rate * 4))\"/" "$work/clip/clip.kanim"
	is "$name loads with scenes between" "$(bake "$work/clip/clip.kanim")" ""
	is "$name: four scenes a frame" "$(scenes)" $(((frames - 1) * 4 + 1))
	# The walk closes: its last pose may be its first again.
	is "$name: every scene in between is another pose" \
		"$(($(poses) >= (frames - 1) * 4))" 1
done < <(find "$work/mnt" -name clip.kanim | sort)

for clip in "$work/mnt/"{object/e0000/{ranger,diver}.canm/{walk,run},crosses.canm/run} \
	"$work/mnt/"{frames033_low.ff9anim/frames033_low,objects024.anm/objects024}; do
	said=$(tests/tools/check_pose.py "$clip" "$(dirname "$clip")/skeleton.csv" clip.kanim 2>&1)
	like "${clip#"$work/mnt/"}: view3dscene shows the poses" "$said" "show their poses"
	echo "  ${clip#"$work/mnt/"}: $said"
done

# A kanim of SOURCE, edited.
D=$work/mnt/stick.kanim.d
for edit in 's/,1,1,/,1,0.5,/' '/^%,2,/a %,9,3,frame_0.x3d' '/^%,1,/d' 's/,0,0,/,0,5,/'; do
	sed -i "$edit" "$D/frames.csv"
	is "frames.csv, $edit: loads" "$(bake "$work/src/stick.kanim")" ""
	last=$(tail -n 1 "$D/frames.csv" | cut -d, -f3)
	first=$(sed -n 2p "$D/frames.csv" | cut -d, -f3)
	is "frames.csv, $edit: as long as it says" \
		"$(sed -n "s/.*cycleInterval=\"\([^\"]*\)\".*/\1/p" "$work/baked.x3d" | head -n 1 | awk '{print $1 + 0}')" \
		"$(awk "BEGIN {print $last - ($first)}")"
done
for edit in 's/"loop": true/"loop": false/' 's/"scenes_per_time": 30/"scenes_per_time": 4/' \
	's/0.001/0.5/' 's/"name": ""/"name": "a_b"/' 's/"backwards": false/"backwards": true/'; do
	sed -i "$edit" "$D/file.json"
	is "file.json, $edit: loads" "$(bake "$work/src/stick.kanim")" ""
done

# verdicts TEXT: what animfs and the engine say to this kanim, a line each
verdicts()
{
	printf '%s' "$1" >"$work/src/try.kanim"
	if "$BUILD/animfs" cat "$work/src/try.kanim/frames.csv" >/dev/null 2>&1; then echo good; else echo bad; fi
	if [ -z "$(bake "$work/src/try.kanim")" ]; then echo good; else echo bad; fi
}
frame='<frame url="frame_0.x3d" time="0"/>'
scene='<X3D version="3.2" profile="Interchange"><Scene><Shape><Box/></Shape></Scene></X3D>'
for attribute in '' scenes_per_time={30,0,-1,29.97,1e1,'" 3 "','""'} equality_epsilon={1e-3,.5,5.,+1,'"1,5"','""',x} \
	{loop,backwards}={true,TRUE,0.5,yes,'" true "','""'} name=x optimization=x foo=1 xmlns=x; do
	case $attribute in *'"'* | '') ;; *=*) attribute="${attribute/=/=\"}\"" ;; esac
	is "the engine agrees on <animation $attribute>" \
		"$(verdicts "<animation $attribute>$frame</animation>" | uniq | wc -l)" 1
done
for frames in "" "text$frame" "$frame<foo/>" "$frame$frame" '<frame url="frame_0.x3d"/>' \
	'<frame time="0"/>' '<frame url="" time="0"/>' '<frame file_name="frame_0.x3d" time="0"/>' \
	"<frame time='0'>$scene</frame>" "<frame time='0'>$scene$scene</frame>" \
	"<frame url='frame_0.x3d' time='0' foo='x'>$scene$scene</frame>" '<p:frame/>' \
	"$frame<frame url='frame_0.x3d' time='1e-46'/>" "$frame<frame url='frame_0.x3d' time='1e-40'/>" \
	'<frame url="frame_0.x3d" time=" 0"/>' '<frame url="frame_0.x3d" time="1f"/>'; do
	for root in '' s; do
		text="<animation>$frames</animation>"
		[ -z "$root" ] || text="<animations>$text</animations>"
		is "the engine agrees on $text" "$(verdicts "$text" | uniq | wc -l)" 1
	done
done
for text in '<animations/>' '<Animation/>' "<!DOCTYPE animation><animation>$frame</animation>" \
	"<animation>$frame</animation>x" "<animations><foo/><animation>$frame</animation></animations>"; do
	is "the engine agrees on $text" "$(verdicts "$text" | uniq | wc -l)" 1
done

# ---- stills joined with interpolators ----

# picture FILE TIME...: FILE.TIME.png each, taken when the file has been playing for so long.
picture()
{
	local file=$1 time
	local -a shots=()
	shift
	for time; do shots+=(--screenshot "$time" "$file.$time.png"); done
	xvfb-run -a -s "-screen 0 320x320x24" view3dscene "$file" --geometry 320x320 --hide-extras \
		--hide-menu --no-sound "${shots[@]}" 2>&1
}
# How many pixels two pictures differ in by more than a little.
apart() { compare -metric AE -fuzz 8% "$1" "$2" null: 2>&1; }

# still NUMBER HEIGHT ANGLE COLOUR TRANSPARENCY X: nodes of all kinds that move. Not the camera nor
# lights: the engine never looks through those of its own scenes between, and lights those of all.
still()
{
	cat >"$work/join/still_$1.x3d" <<-END
	<X3D version="3.2" profile="Interchange"><Scene>
	<Viewpoint position="0 1 6"/>
	<Transform DEF="body" translation="0 $2 0" rotation="0 0 1 $3"><Transform scale="1 $2 1">
	<Shape DEF="box"><Appearance><Material diffuseColor="$4" transparency="$5"/></Appearance><Box/></Shape>
	</Transform><Transform translation="0 -1.6 0" scale=".2 .2 .2"><Shape USE="box"/></Transform></Transform>
	<Shape><Appearance><Material emissiveColor="$4"/></Appearance><IndexedFaceSet solid="false" coordIndex="0 1 2 -1 0 2 3 -1">
	<Coordinate point="-2 -1 0, $6 -1.5 0, -1 $2 0, -2 $2 1"/></IndexedFaceSet></Shape></Scene></X3D>
	END
}
# textured NUMBER SHIFT CORNER: what moves is where a texture lies.
textured()
{
	cat >"$work/join/textured_$1.x3d" <<-END
	<X3D version="3.2" profile="Interchange"><Scene>
	<Viewpoint position="0 0 6"/>
	<Shape><Appearance><PixelTexture image="2 2 3 0xff0000 0x00ff00 0x0000ff 0xffffff"/>
	<TextureTransform translation="$2 0" scale="1 1.$1"/></Appearance>
	<IndexedFaceSet solid="false" coordIndex="0 1 2 3 -1"><Coordinate point="-2 -2 0, 2 -2 0, 2 2 0, -2 2 0"/>
	<TextureCoordinate point="0 0, 1 0, 1 1, 0 $3"/></IndexedFaceSet></Shape></Scene></X3D>
	END
}
mkdir "$work/join"
textured 0 0 1
textured 1 0.5 1.5
textured 2 0.2 1
still 0 0 0 "1 0 0" 0 -1
still 1 1.2 1.5 "0 0 1" .5 0
still 2 .4 .4 "0 1 0" .1 1
# kanim NAME ATTRIBUTES: of these stills, with so many scenes between that none is seen to jump.
kanim()
{
	printf '<animation scenes_per_time="100" %s>%s</animation>\n' "$2" '<frame url="still_0.x3d" time="1"/>
		<frame url="still_1.x3d" time="2"/><frame url="still_2.x3d" time="3"/>' >"$work/join/$1.kanim"
}
kanim once 'loop="false"'
kanim loop 'loop="true"'
kanim back 'loop="true" backwards="true"'
sed 's/still_/textured_/g' "$work/join/loop.kanim" >"$work/join/texture.kanim"
cp "$work/src"/frame_?.x3d "$work/join"
sed 's/scenes_per_time="[0-9]*"/scenes_per_time="100"/' "$work/src/stick.kanim" >"$work/join/stick.kanim"
cp -r "$work/mnt/object/e0000/ranger.canm/walk/frames" "$work/join"
rate=$(sed -n 's/.*scenes_per_time="\([0-9]*\)".*/\1/p' "$work/mnt/object/e0000/ranger.canm/walk/clip.kanim")
sed "s/scenes_per_time=\"$rate\"/scenes_per_time=\"$((rate * 8))\"/" \
	"$work/mnt/object/e0000/ranger.canm/walk/clip.kanim" >"$work/join/walk.kanim"

# alike NAME TIME...: pictures of the kanim and of the scene at each time; those of other times differ.
alike()
{
	local name=$1 time last='' file=$work/join/$1 clip
	shift
	clip=$("$BUILD/animfs" ls "$file.kanim" | sed -n 's,/$,,p')
	is "$name: is joined" "$("$BUILD/animfs" cat "$file.kanim/$clip/clip.x3d" 2>&1 >"$file.x3d")" ""
	is "$name: the engine reads it" "$(bake "$file.x3d")" ""
	is "$name: the kanim is shown" "$(picture "$file.kanim" "$@")" ""
	is "$name: and what it became" "$(picture "$file.x3d" "$@")" ""
	for time; do
		pixels=$(apart "$file.kanim.$time.png" "$file.x3d.$time.png")
		echo "  $name at $time: $pixels pixels differ"
		is "$name: alike at $time" "$((pixels < 60))" 1
		if [ -n "$last" ]; then
			pixels=$(apart "$file.kanim.$last.png" "$file.x3d.$time.png")
			echo "  $name at $last and $time: $pixels pixels differ"
			is "$name: not what is at $last" "$((pixels > 120))" 1
		fi
		last=$time
	done
}
alike once 0.2 0.8 1.3 1.9
alike loop 0.2 1.3 2.6
alike back 0.5 1.6 2.9 3.3
alike texture 0.4 1.2 1.8
alike stick 0.3 0.7 1.6
alike walk 0.05 0.15 0.25
is "stills that differ are not joined" "$(sed -i 's/<Box/<Sphere/' "$work/join/still_1.x3d"
	"$BUILD/animfs" cat "$work/join/loop.kanim/%/clip.x3d" 2>&1 | sed -n 's/.*clip.x3d: //p')" \
	"still_1.x3d:4:93: frame 1: Sphere stands where frame 0 has Box"

"$BUILD/animfs" umount "$work/mnt"
echo "kanim: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
