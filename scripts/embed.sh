#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# embed.sh FOLDER - prints the player in FOLDER as C string literals for the pages: PLAYER_SCRIPT
# and PLAYER_STYLE, minified, and the base64 of the SHA-256 of each as PLAYER_SCRIPT_SHA256 and
# PLAYER_STYLE_SHA256. FOLDER/parts.txt lists the scripts in order, FOLDER/short.txt the names to
# shorten.
set -eu
export LC_ALL=C
here=$(dirname "$0")
folder=$1

script()
{
	# shellcheck disable=SC2046 # they are words
	cat $(sed "s|^|$folder/|" "$folder/parts.txt") |
		awk -v short="$(tr '\n' ' ' <"$folder/short.txt")" -f "$here/minify.awk"
}

# Comments are on separate lines.
style()
{
	sed -e 's/^[[:blank:]]*//' -e '/^\/\*.*\*\/$/d' -e 's/: /:/g' -e 's/ {$/{/' -e 's/, /,/g' \
		"$folder/player.css" | tr -d '\n' | sed 's/;}/}/g'
	echo
}

# base64_of HEX: three hex digits make two letters; 64 digits leave a remainder, so "=" follows.
base64_of()
{
	awk -v hex="${1}00" 'BEGIN {
		letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		for (i = 1; i < length(hex); i += 3) {
			bits = 0
			for (j = 0; j < 3; j++)
				bits = bits * 16 + index("0123456789abcdef", substr(hex, i + j, 1)) - 1
			out = out substr(letters, int(bits / 64) + 1, 1) substr(letters, bits % 64 + 1, 1)
		}
		print substr(out, 1, 43) "="
	}'
}

# literal NAME: of the text on standard input.
literal()
{
	text=$(cat)
	# The pages contain it between tags.
	case $text in
	'') echo "embed.sh: nothing to embed as $1" >&2; return 1 ;;
	*'</'* | *'<!--'*) echo "embed.sh: markup in $1" >&2; return 1 ;;
	esac
	printf '#define %s \\\n' "$1"
	printf '%s\n' "$text" | sed -e 's/[\\"]/\\&/g' -e 's/?/\\?/g' -e 's/.*/	"&\\n" \\/'
	printf '	""\n#define %s_SHA256 "%s"\n' "$1" \
		"$(base64_of "$(printf '%s\n' "$text" | sha256sum | cut -d ' ' -f 1)")"
}

script | literal PLAYER_SCRIPT
style | literal PLAYER_STYLE
