#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# words.sh - measures the English of the pages: how often "what" or "who", "you" and "example" stand in
# 1,000 words of prose (commands, tables of output and macros do not count), and where words stand that
# this project does not use. Fails if a bar is missed.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0

# Pages for users speak to the reader and give examples; CONTRIBUTING.md gives examples.
guides='README.md docs/GUIDE.md docs/desktops.md man/animfs.1 man/animfs-mount.1 man/animfs-save.7 man/animfs-export.1 man/animfs-tree.7 man/animfs-formats.5 man/mount.animfs.8'
others='docs/reliability.md docs/scale.md'

# prose PAGE: its text without literal displays, code and macros.
prose()
{
	case $1 in
	*.md)
		awk '/^```/ { code = !code; next }
			!code && !/^(    |\t)/ { gsub(/`[^`]*`/, "CODE"); gsub(/\]\([^)]*\)/, "]"); print }' "$1"
		;;
	*)
		awk '/^\.Bd/ { code = 1 }
			/^\.Ed/ { code = 0 }
			/^\.\\"/ || code { next }
			/^\./ {
				out = ""
				for (i = 2; i <= NF; i++)
					if ($i !~ /^[A-Z][a-z]$/)
						out = out " " $i
				print out
				next
			}
			{ print }' "$1"
		;;
	esac
}

# measure YOU EXAMPLE PAGE...: a line for each page; a "!" marks a number that misses its bar.
measure()
{
	local you=$1 example=$2 page
	shift 2
	for page; do
		prose "$page" | awk -v page="$page" -v least_you="$you" -v least_example="$example" '
			{
				text = tolower($0)
				while (match(text, /[a-z]+/)) {
					count[substr(text, RSTART, RLENGTH)]++
					all++
					text = substr(text, RSTART + RLENGTH)
				}
			}
			END {
				persons = (count["what"] + count["who"] + count["whoever"]) * 1000 / all
				you = count["you"] * 1000 / all
				example = (count["example"] + count["examples"]) * 1000 / all
				bad = persons > 3 || you < least_you || example < least_example
				printf("%-26s %6d %9.1f%s %5.1f%s %8.1f%s\n", page, all,
					persons, persons > 3 ? "!" : " ",
					you, you < least_you ? "!" : " ",
					example, example < least_example ? "!" : " ")
				exit bad
			}' || status=1
	done
}

printf '%-26s %6s %9s  %5s  %8s\n' 'in 1,000 words' words what/who you example
printf '%-26s %6s %9s  %5s  %8s\n' 'at most, at least, at least' '' 3 5 2
# shellcheck disable=SC2086 # they are lists
measure 5 2 $guides
measure 0 2 CONTRIBUTING.md
# shellcheck disable=SC2086
measure 0 0 $others

# "tell apart" is fine.
banned='anew|alone|told|tells?|telling|hears?|heard|unheard|whoever|pass(es|ed)? over|called as|so many at a time'
echo
echo "banned words in src, include, docs and the manuals:"
git grep -nwiE "$banned" -- src include docs man README.md CONTRIBUTING.md ':!src/view/player' |
	grep -viE '\<(tell|told)\>.*\<apart\>|->alone|bool alone|\<TOLD\>' && status=1

# comments FOLDER: those of its C files.
comments()
{
	git ls-files -z "$1/*.[ch]" | xargs -0 -r awk '
		/\/\*/ { comment = 1 }
		comment { print }
		/\*\// { comment = 0 }'
}
echo
echo 'in comments of C:     lines  "who", "whoever", "nobody", "somebody", "anybody", "himself"'
for folder in src/*/ include/ tests/; do
	printf '%-21s %5d %5d\n' "$folder" "$(comments "${folder%/}" | wc -l)" \
		"$(comments "${folder%/}" | grep -owiE 'who|whoever|nobody|somebody|anybody|himself' | wc -l)"
done
exit $status
