#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# parallel.sh - 64 editors at once in one file, each on a bone of its own: every edit is saved.
. "$(dirname "$0")/lib.sh"
make_game --files 1 --clips 1 --bones 64 --frames 10 --plain 0 --version 512
file=$(cd "$SRC" && find . -name '*.canm')
cp "$SRC/$file" "$WORK/before.canm"
mount_animfs
clip=$(dirname "$(cd "$MNT/$file" && echo */clip.json)")
BONES=$MNT/$file/$clip/bones

is "64 bones" "$(ls "$BONES" | grep -c 'csv$')" 64
# The first rotation of each, by all kinds of saves.
find "$BONES" -name '*.csv' | sort >"$WORK/views"
edit() { awk -F, -v OFS=, -v v="$2" 'NR == 2 { $6 = v } { print }' "$1"; }
save()
{
	local view=$1 i=$2
	case $((i % 4)) in
	0) edit "$view" "$i" >"$view.new" && mv "$view.new" "$view" ;;
	1) edit "$view" "$i" >"$WORK/text.$i" && cat "$WORK/text.$i" >"$view" ;;
	2) edit "$view" "$i" >"$WORK/text.$i" && rm "$view" && cp "$WORK/text.$i" "$view" ;;
	3) sed -i "2s/^\\(\\([^,]*,\\)\\{5\\}\\)[^,]*/\\1$i/" "$view" ;;
	esac
}
i=0
while read -r view; do
	i=$((i + 1))
	save "$view" $i &
done <"$WORK/views"
mapfile -t editors < <(jobs -p | grep -v "${DAEMON[$MNT]}")
wait "${editors[@]}"

i=0 missing=
while read -r view; do
	got=$("$ANIMFS" cat "$SRC/$file/${view#"$MNT/$file/"}" | sed -n 2p | cut -d, -f6)
	awk -v a="$got" -v b=$((++i)) 'BEGIN { exit !(a - b < 0.05 && b - a < 0.05) }' || missing+=" $i=$got"
done <"$WORK/views"
is "every edit is in the file" "$missing" ""
is "nothing was refused" "$(<"$MNT/.animfs/errors")" ""
ok "the file is sound" "$ANIMFS" check "$SRC/$file"
is "no temporary is left" "$(find "$SRC" -name '.animfs?*')" ""
is "nor in the folder" "$(ls -A "$BONES" | grep -vc '\.\(csv\|json\|svg\)$')" 0

# Two at once on one bone, again and again: each is whole.
view=$(head -n 1 "$WORK/views")
for i in 1 2 3 4 5 6 7 8; do
	edit "$view" "1$i" >"$WORK/a" && cp "$WORK/a" "$view.a" && mv "$view.a" "$view" &
	one=$!
	edit "$view" "2$i" >"$WORK/b" && cp "$WORK/b" "$view.b" && mv "$view.b" "$view" &
	wait $one $!
done
ok "the file is sound after that, too" "$ANIMFS" check "$SRC/$file"
like "and the bone has one of the last values" "$(sed -n 2p "$view" | cut -d, -f6)" '^(18|28|17\.99|27\.99|18\.00|28\.00)'
umount_animfs
