#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-first-hour.sh - what README.md tells a newcomer to type, in bare Debian 12 and 13 with nothing but git,
# make and sudo: `make demo`, then "60 seconds" line by line, each with what the page says that it prints, then
# one walk changed in 20 files, and one of them taken back. Prints how long each part took. Root.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/root.bash
trap 'rm -rf --one-file-system "$ROOTS"/first-hour-*' EXIT

failed=0
passed=0
check() # NAME COMMAND...
{
	local name=$1
	shift
	if "$@" >"$dir/said" 2>&1; then
		echo "ok - $name"
		passed=$((passed + 1))
	else
		echo "not ok - $name"
		tail -n 20 "$dir/said" | sed 's/^/    /'
		failed=$((failed + 1))
	fi
}

goal()
{
	cat <<'SCRIPT'
set -e
cd /root
PATH=/animfs/build:$PATH
make_game game --files 40 --clips 2 --bones 6 --frames 9 --plain 0
mkdir anim
animfs game anim
set -- anim/object/*/*.canm
shift $(($# - 20))
for file; do sed -i '/^3,/s/,[^,]*/,0.25/3' "$file/walk/bones/hips.csv"; done
for file; do [ "$(sed -n 's/^3,//p' "$file/walk/bones/hips.csv" | cut -d, -f3)" = 0.25 ]; done
[ "$(animfs status -0 anim | tr '\0' '\n' | grep -c .)" -eq 20 ]
grep -q 'content="animfs"' "$1/walk/clip.html"
animfs undo "$1/walk/bones/hips.csv"
[ "$(sed -n 's/^3,//p' "$1/walk/bones/hips.csv" | cut -d, -f3)" != 0.25 ]
[ "$(sed -n 's/^3,//p' "$2/walk/bones/hips.csv" | cut -d, -f3)" = 0.25 ]
animfs umount anim
animfs check game
SCRIPT
}

for suite in bookworm trixie; do
	dir=$ROOTS/first-hour-$suite
	root_make "$dir" "$suite" && root_install "$dir" git make sudo && root_sources "$dir" || exit 1
	began=$SECONDS
	check "$suite: make demo" root_run "$dir" make -C /animfs demo
	check "$suite: what README.md has under 60 seconds" root_run "$dir" /animfs/scripts/tour.sh
	echo "   an edit and its undoing seen after $((SECONDS - began)) s"
	goal >"$dir/goal.sh"
	check "$suite: one walk changed in 20 files, and one taken back" root_run "$dir" bash /goal.sh
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
