#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# compile-commands.sh SOURCE.c... -- COMPILER FLAG... - prints the compilation database that clangd
# and other tools read: how each SOURCE is compiled.
set -eu
sources=()
while [ "$1" != -- ]; do
	sources+=("$1")
	shift
done
shift
quoted() { local text=${1//\\/\\\\}; printf '"%s"' "${text//\"/\\\"}"; }

arguments=
for word in "$@"; do
	arguments+="$(quoted "$word"), "
done
separator='['
for source in "${sources[@]}"; do
	printf '%s\n{"directory": %s, "file": %s, "arguments": [%s"-c", %s]}' "$separator" \
		"$(quoted "$PWD")" "$(quoted "$source")" "$arguments" "$(quoted "$source")"
	separator=,
done
printf '\n]\n'
