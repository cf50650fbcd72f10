#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test.sh PART... - runs parts of the tests (unit, alloc, mount) on what is built in $BUILD, all of
# them even when one fails, and ends with the sum of their "N passed, N failed, N skipped" lines.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}

part()
{
	case $1 in
	unit) "$BUILD/unit" ;;
	alloc) "$BUILD/alloc_fail" ;;
	mount) ANIMFS=$BUILD/animfs tests/mount/run.sh ;;
	*) echo "test.sh: no part $1" >&2; return 1 ;;
	esac
}

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for name in "$@"; do
	echo "== $name"
	part "$name" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	pattern="^($name: )?([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?\$"
	if [[ $(tail -n 1 "$log") =~ $pattern ]]; then
		((passed += BASH_REMATCH[2], failed += BASH_REMATCH[3]))
		((skipped += ${BASH_REMATCH[5]:-0}))
		# A part that fails without counting it must not look like a success.
		[[ $status -eq 0 || ${BASH_REMATCH[3]} -gt 0 ]] || ((failed++))
	else
		echo "$name: ended with status $status before its last line"
		((failed++))
	fi
done
echo
if ((skipped)); then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
((failed == 0 && passed > 0))
