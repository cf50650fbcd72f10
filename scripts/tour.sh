#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tour.sh - types what README.md has under "60 seconds", line by line in a new folder, and compares
# what is printed with what the page says. $BUILD is the folder with the programs.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${BUILD:-build}") page=$PWD/README.md
work=$(mktemp -d "${ANIMFS_TEST_DIR:-/var/tmp}/animfs-tour.XXXXXX") || exit 1
trap '[ ! -d "$work/game" ] || "$build/animfs" umount "$work/anim" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT

# The lines that are typed, and those with what they print; not what opens a window.
section() { awk '/^## /{in_it = $0 == "## 60 seconds"} in_it' "$page"; }
typed() { section | sed -n 's/^    \$ //p'; }
shown()
{
	section | awk '/^    \$ /{shown = 1}
		!/^    /{shown = 0}
		shown{sub(/^    /, ""); print}'
}

ln -s "$build" "$work/build"
cd "$work" || exit 1
typed | while IFS= read -r line; do
	printf 'printf "%%s\\n" %q\n%s\n' "\$ $line" "$line"
done >script
shown >page
# shellcheck disable=SC1091 # it was just written
(. ./script) >printed 2>&1 </dev/null
[ -s page ] || { echo "tour: README.md has nothing to type" >&2; exit 1; }
diff -u page printed || {
	echo "tour: README.md (-) is not what is printed (+)" >&2
	exit 1
}
