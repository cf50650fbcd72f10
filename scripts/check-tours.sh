#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check-tours.sh - checks that each `FILE: FUNCTION` of the tours in CONTRIBUTING.md is defined there.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

status=0 count=0
while IFS=' ' read -r file function; do
	count=$((count + 1))
	grep -qE "^([a-z_].*[ *])?$function\\(.*[^;]$" "$file" || {
		echo "CONTRIBUTING.md: there is no function $function in $file" >&2
		status=1
	}
done < <(sed -n '/^## Three tours/,/^## A mount/p' CONTRIBUTING.md |
	grep -oE '`src/[a-z0-9_/]+\.c: [a-z0-9_]+`' | tr -d '`:')
[ "$count" -ge 20 ] || { echo "CONTRIBUTING.md: the tours name only $count functions" >&2; status=1; }
[ "$status" -ne 0 ] || echo "tours: all $count functions are there"
exit "$status"
