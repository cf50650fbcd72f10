#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# manual.sh - the manual pages: mandoc and groff find no fault in them; they have every command,
# option, format and view; and their examples work. These are run in a mount: in a literal display,
# lines that begin with "$ " are commands, followed by what they print. The same for the tour in
# README.md.
. tests/mount/lib.sh

repository=$PWD
PATH=$(realpath "$(dirname "$ANIMFS")"):$PATH # the examples call animfs
text_of() { MANWIDTH=80 man -E UTF-8 -l "$1" | col -b; }

for page in man/*.[1-8]; do
	name=${page##*/}
	is "mandoc finds nothing wrong with $name" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
	is "nor does groff" "$(man --warnings=w -E UTF-8 -l "$page" 2>&1 >/dev/null)" ""
done

# missing PAGE: the lines of standard input that the page does not have
missing()
{
	local text line
	text=$(text_of "$1")
	while IFS= read -r line; do
		grep -qF -e "$line" <<<"$text" || echo "$line"
	done
}
commands=$("$ANIMFS" --help | sed -n '/^Commands/,$s/^  \([a-z-]*\) .*/\1/p')
# All options of the commands are on one of these pages, and every command is in the first.
cat man/animfs.1 man/animfs-mount.1 man/animfs-export.1 >"$WORK/animfs-all.1"
is "animfs.1 has every command" "$(sed 's/^/animfs /' <<<"$commands" | missing man/animfs.1)" ""
for command in $commands; do
	is "the pages have the options of $command" \
		"$("$ANIMFS" "$command" --help | grep -oE -- '--[a-z-]+' | sort -u |
			missing "$WORK/animfs-all.1")" ""
done
is "animfs-formats.5 has the extensions of all formats" \
	"$("$ANIMFS" formats | grep -oE '\.[a-z0-9-]+' | missing man/animfs-formats.5)" ""

make_game --files 1 --clips 2 --bones 4 --frames 4 --plain 0 --skeleton 1
mv "$SRC"/object/*/* "$SRC"
rm -r "$SRC/object"
cp tests/data/owanim/small.006 tests/data/kanim/{stick.kanim,*.x3d} "$SRC"
cp tests/data/ff9anim/frames007_low.ff9anim "$SRC/block.ff9anim"
cp tests/data/ff9clip/walk.anim "$SRC"
cp tests/data/ribbon/flags3.anm "$SRC/show.anm"
cp -r "$SRC" "$WORK/fresh"

is "animfs-tree.7 has all views" "$({
	"$ANIMFS" ls "$SRC/ranger.canm" | grep -v /
	"$ANIMFS" ls "$SRC/ranger.canm/walk"
} | sed 's/^raw\..*/raw.*/' | missing man/animfs-tree.7)" ""

# The literal displays of a page, as they are read; a line "." ends each.
displays()
{
	sed -n '/^\.Bd -literal/,/^\.Ed/{
		/^\.Bd/d
		s/^\.Ed/./
		s/\\&//g
		s/\\e/\\/g
		s/\\-/-/g
		s/\\(dq/"/g
		p
	}' "$1"
}

# examples FROM FOLDER: runs the displays on standard input there. All in this shell, so that one may
# go on where another ended.
examples()
{
	local from=$1 line command='' want=''

	cd "$2" || exit 1
	while IFS= read -r line; do
		case $line in
		'$ '* | .)
			if [ -n "$command" ]; then
				eval "$command" >"$WORK/said" 2>&1
				is "$from: $command" "$(cat "$WORK/said")" "${want%$'\n'}"
			fi
			command=${line#.} want=''
			command=${command#'$ '}
			;;
		*) want+=$line$'\n' ;;
		esac
	done
	cd "$repository" || exit 1
}

for page in man/*.[1-8]; do
	displays "$page" | grep -q '^\$ ' || continue
	rm -r "$SRC"
	cp -r "$WORK/fresh" "$SRC"
	mount_animfs
	examples "${page##*/}" "$MNT" < <(displays "$page")
	umount_animfs
done

# In a folder where the programs are as `make` puts them.
mkdir "$WORK/tour"
ln -s "$(dirname "$ANIMFS")" "$WORK/tour/build"
examples README.md "$WORK/tour" < <(sed -n '/^## 60 seconds/,/^## /{
	s/^    //p
	t
	s/.*/./p
}' README.md)
ok "README.md has a tour" test -d "$WORK/tour/anim"
