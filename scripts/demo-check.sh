#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# demo-check.sh - compares the demo's output with docs/demo.md. The name of sed's temporary
# file differs each time.
set -eu
cd "$(dirname "$0")/.."
said=$(mktemp)
shown=$(mktemp)
trap 'rm -f "$said" "$shown"' EXIT

fixed() { sed -E 's/sed[A-Za-z0-9]{6}:/sedXXXXXX:/' | sed -e '/./,$!d'; }
scripts/demo.sh | fixed >"$shown"
sed -n '/^What `make demo` prints:$/,/^[^ ]/{
	/^    /s/^    //p
	/^$/p
}' docs/demo.md | sed -e '1{/^$/d' -e '}' -e '${/^$/d' -e '}' | fixed >"$said"
diff -u "$said" "$shown" || {
	echo "demo-check: docs/demo.md (-) is not what the demo prints (+)" >&2
	exit 1
}
echo "demo-check: docs/demo.md shows what the demo prints"
