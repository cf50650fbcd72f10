#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh - mounts a sample game, looks at it, edits it, and shows how the animation file changed.
# Every command is printed before it runs. Everything happens in a folder that is removed at the
# end.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
PATH=$BUILD:$PATH
export LC_ALL=C.UTF-8

work=$(mktemp -d /var/tmp/animfs-demo.XXXXXX) || exit 1
clean_up()
{
	cd / || exit
	! grep -q " $work/anim fuse" /proc/self/mounts || fusermount3 -uz "$work/anim"
	rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 1

say() { printf '\n# %s\n' "$@"; }
run()
{
	printf '$ %s\n' "$1"
	eval "$1" 2>&1
}

"$BUILD/make_game" game --files 4 --clips 3 --bones 24 --frames 31 --plain 4 --skeleton 1
mkdir anim

say "A folder of a game, with animations in a binary format. Mount it:"
run "ls game/object/e0000"
run "animfs game anim" || exit 1
run "ls anim/object/e0000"

say "Each animation file is now a folder, and so is each clip in it."
run "walk=anim/object/e0000/ranger.canm/walk"
run "ls anim/object/e0000/ranger.canm \$walk"
run "ls \$walk/bones | head -n 6"
run "head -n 4 \$walk/bones/hips.csv"
run "head -n 9 \$walk/clip.json"

say "Which bones are rotated by 40 degrees or more around x in frame 10 of any clip?"
run "grep -rlE --include='*.csv' '^10,([^,]*,){4}-?[4-9][0-9][.]' anim | head -n 5"

say "Edit a table like any text. The binary changes at once, and only in that key:"
run "cp game/object/e0000/ranger.canm before.canm"
run "grep '^10,' \$walk/bones/hips.csv > row"
run "sed -i '/^10,/s/,-*[0-9.]*/,0.01/2' \$walk/bones/hips.csv"
run "grep '^10,' \$walk/bones/hips.csv | diff row -"
run "cmp -l before.canm game/object/e0000/ranger.canm"

say "Put the old row back, and every bit is as it was before:"
run "sed -i -e '/^10,/{r row' -e 'd}' \$walk/bones/hips.csv"
run "cmp before.canm game/object/e0000/ranger.canm && echo identical"

say "A mistake is refused when you save it, and explained in a file beside the table:"
run "sed -i '/^10,/s/,-*[0-9.]*/,0..1/2' \$walk/bones/hips.csv"
run "cat \$walk/bones/hips.csv.error"
run "cmp before.canm game/object/e0000/ranger.canm && echo identical"

say "The same without a mount:"
run "animfs umount anim"
run "animfs cat game/object/e0000/ranger.canm/walk/bones/hips.csv | head -n 2"
run "animfs check game"
