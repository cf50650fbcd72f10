#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# svg.sh - pictures in a mount: every one can be drawn, has its exact size, and follows an edit; an edited
# one cannot be saved. Programs that read whole trees read them, too.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,edf6_768,nan512}.canm tests/data/cas/v203.cas \
	tests/data/owanim/{walk,sparse}.006 tests/data/ff9anim/{frames033_low,bones255}.ff9anim \
	tests/data/ribbon/{frames030,flags0}.anm "$SRC"
make_game --files 1 --clips 1 --bones 30 --frames 3000 --version mix --plain 0
mount_animfs

# Sizes first: nothing has been rendered for a read yet.
find "$MNT" -name '*.svg' -printf '%s %P\n' | sort >"$WORK/sizes"
while read -r _ path; do
	echo "$(cat "$MNT/$path" | wc -c) $path"
done <"$WORK/sizes" | sort >"$WORK/bytes"
ok "sizes are what is read" diff "$WORK/sizes" "$WORK/bytes"
is "a bone's picture is small" "$(find "$MNT" -path '*/bones/*.svg' -size +200k)" ""
is "a clip's is, too" "$(find "$MNT" -name clip.svg -size +2M)" ""

is "each clip with keys has one" "$(cd "$MNT" && echo wiki512.canm/*/clip.svg)" \
	"wiki512.canm/Idle/clip.svg wiki512.canm/walk/clip.svg wiki512.canm/攻撃_01/clip.svg"
is "and no other" "$(ls "$MNT/flags0.anm/flags0/" | grep svg)" ""

if command -v rsvg-convert >/dev/null; then
	drawn()
	{
		local path
		find "$MNT" -name '*.svg' -printf '%P\n' | while read -r path; do
			rsvg-convert "$MNT/$path" >"$WORK/picture.png" 2>"$WORK/words" &&
				[ ! -s "$WORK/words" ] && [ -s "$WORK/picture.png" ] || echo "$path"
		done
	}
	is "rsvg-convert draws each of them" "$(drawn)" ""
else
	skip "rsvg-convert is not installed"
fi
if command -v xmllint >/dev/null; then
	# Relative names: those of a mount may have letters that it takes for a URL.
	is "xmllint has nothing to say" "$(cd "$MNT" && find . -name '*.svg' -exec xmllint --noout {} + 2>&1)" ""
else
	skip "xmllint is not installed"
fi

BONE=$MNT/wiki512.canm/walk/bones/Bone01
cp "$BONE.svg" "$WORK/old.svg"
ok "a value changes" sed -i s/1.5,-2,0.25/1.75,-2,0.25/ "$BONE.csv"
like "and the picture with it" "$(<"$BONE.svg")" '1\.75, -2, 0\.25 in all frames'
ok "its own text is accepted" cp "$BONE.svg" "$BONE.svg.copy"
ok "when it comes back" cp "$BONE.svg.copy" "$BONE.svg"
sed -i s/Bone01/Bone02/ "$WORK/old.svg"
fails "another is not" cp "$WORK/old.svg" "$BONE.svg"
like "and the error says what can be edited" "$(<"$BONE.svg.error")" 'bones/\*\.csv'
rm "$BONE".svg.{error,rejected,copy}

ok "grep -r reads the whole mount" grep -rq 'all frames' "$MNT"
ok "rsync copies it" rsync -r "$MNT/" "$WORK/out"
ok "as it is" diff -r "$MNT" "$WORK/out"
umount_animfs

mount_animfs --views=svg
is "pictures alone are listed" "$(find "$MNT/wiki512.canm" -type f ! -name '*.svg')" ""
umount_animfs
mount_animfs --views=csv
is "or none" "$(find "$MNT" -name '*.svg')" ""
ok "but one opens by its name" grep -q '</svg>' "$MNT/wiki512.canm/walk/clip.svg"
umount_animfs
