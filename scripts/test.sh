#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test.sh PART... - runs parts of the tests (unit, alloc, replay, sim, mount) on what is built in $BUILD, all of
# them even when one fails, at once, and ends with the sum of their "N passed, N failed, N skipped" lines.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}

part()
{
	case $1 in
	unit) "$BUILD/unit" ;;
	alloc) "$BUILD/alloc_fail" ;;
	replay) "$BUILD/replay" ;;
	sim) "$BUILD/sim" --seed 1 --steps 20000 --twice ;;
	mount) ANIMFS=$BUILD/animfs JOBS=${JOBS:-2} tests/mount/run.sh ;;
	*) echo "test.sh: no part $1" >&2; return 1 ;;
	esac
}

passed=0 failed=0 skipped=0
logs=$(mktemp -d)
declare -A pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$logs"' EXIT
# At once: the mount tests wait for clocks most of their time.
for name in "$@"; do
	part "$name" >"$logs/$name" 2>&1 &
	pids[$name]=$!
done
for name in "$@"; do
	log=$logs/$name
	echo "== $name"
	tail -n +1 -f --pid="${pids[$name]}" "$log" 2>/dev/null
	wait "${pids[$name]}"
	status=$?
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
