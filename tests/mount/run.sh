#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [TEST.sh...] - runs the mount tests (all of them, or those named) against $ANIMFS, a line
# for each and for each check that failed; V=1 shows every check. JOBS=N runs N at once, but those
# with a line "# alone: WHY" after the others, one by one. Ends with the sum of the checks.
# SKIPS=FILE gets a line "TEST<TAB>REASON" for each check that was skipped, TIMES=FILE a line "SECONDS
# TEST" for each test, and FAILURES=FILE a line "TEST: CHECK" for each check that failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
ANIMFS=$(realpath "${ANIMFS:-build/animfs}")
# Sorting and messages are the same everywhere; names are UTF-8.
LC_ALL=C.UTF-8
# A version manager's python3 is a shell script that takes ten times as long to start as Python.
if command -v python3 >/dev/null; then
	PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
fi
export ANIMFS WORK LC_ALL
# Seconds for one test: against hanging, not a measurement; a busy machine takes many times as long
# as a quiet one. A line "# limit: N" in a test is more.
limit=${TEST_TIMEOUT:-900}

if [ $# -eq 0 ]; then
	for test in tests/mount/*.sh; do
		case $test in
		*/lib.sh | */run.sh) ;;
		*) set -- "$@" "$test" ;;
		esac
	done
fi

jobs=${JOBS:-1}
each_by_itself()
{
	local test together=() alone=()
	for test in "$@"; do
		if grep -q '^# alone: ' "$test"; then alone+=("$test"); else together+=("$test"); fi
	done
	printf '%s\0' "${together[@]}" | xargs -0 -r -n 1 -P "$jobs" tests/mount/run.sh
	for test in "${alone[@]}"; do
		tests/mount/run.sh "$test"
	done
}

# Their lines go on, and their sums are added.
if [ "$jobs" -gt 1 ]; then
	passed=0 failed=0 skipped=0 left=$#
	while IFS= read -r line; do
		if [[ $line =~ ^mount:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
			((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2]))
			((skipped += BASH_REMATCH[3], left--))
		else
			printf '%s\n' "$line"
		fi
	done < <(JOBS=1 each_by_itself "$@")
	((failed += left)) # those that ended without a word
	echo "mount: $passed passed, $failed failed, $skipped skipped"
	exit $((failed > 0))
fi

# Kills the daemons that a test left, which frees whoever waits for them, then its mounts.
clean_up()
{
	local point pid
	if [ -f "$WORK/daemons" ]; then
		while read -r pid; do
			[ "$(readlink "/proc/$pid/exe")" != "$ANIMFS" ] || kill -KILL "$pid"
		done <"$WORK/daemons"
	fi
	while read -r _ point _; do
		case $point in
		"$WORK"/*) umount -l "$point" 2>/dev/null || fusermount3 -uz "$point" ;;
		esac
	done </proc/self/mounts
	chmod -R u+rwX "$WORK" 2>/dev/null
	rm -rf --one-file-system "$WORK" "$output"
}
trap 'exit 143' TERM
trap 'exit 130' INT

# What a test that failed leaves to look at: the end of its daemons' logs, and how to run it again.
explain()
{
	local log
	for log in "$WORK"/log.*; do
		[ ! -s "$log" ] || { echo "    ${log##*/} of the daemon:" && tail -n 20 "$log" | sed 's/^/        /'; }
	done
	echo "    again: V=1${SEED:+ SEED=$SEED} ANIMFS=${ANIMFS#"$PWD/"} tests/mount/run.sh $test"
	sed -n "s/^not ok [0-9]* - /${name%.sh}: /p; s/^not ok - /${name%.sh}: /p" "$output" >>"${FAILURES:-/dev/null}"
}

passed=0 failed=0 skipped=0
count() { grep -cE "$1" "$output"; }

for test in "$@"; do
	name=${test##*/}
	output=$(mktemp) || exit 1
	# Not below /tmp: vim keeps no backup there, and that is half of what its saves are about.
	WORK=$(mktemp -d "${ANIMFS_TEST_DIR:-/var/tmp}/animfs-test.XXXXXX") || exit 1
	trap clean_up EXIT
	begun=$SECONDS
	own_limit=$(sed -n 's/^# limit: //p' "$test")
	timeout -k 10 $((${own_limit:-0} > limit ? own_limit : limit)) bash "$test" >"$output" 2>&1 </dev/null
	status=$?
	[ -z "${TIMES:-}" ] || echo "$((SECONDS - begun)) ${name%.sh}" >>"$TIMES"
	bad=$(count '^not ok ')
	skips=$(count '^ok .* # SKIP')
	good=$(($(count '^ok ') - skips))
	if ! grep -qx "1\.\.$((good + bad + skips))" "$output"; then
		echo "not ok - ended early with status $status" >>"$output"
		bad=$((bad + 1))
	fi
	sed -n "s/^ok .* # SKIP /${name%.sh}\t/p" "$output" >>"${SKIPS:-/dev/null}"
	line="$name: $good passed"
	[ "$bad" -eq 0 ] || line+=", $bad FAILED"
	[ "$skips" -eq 0 ] || line+=", $skips skipped ($(sed -n 's/^ok .* # SKIP //p' "$output" |
		sort -u | paste -sd ';'))"
	echo "$line"
	if [ "${V:-0}" = 1 ] || { [ "$bad" -gt 0 ] && ! grep -q '^not ok ' "$output"; }; then
		cat "$output"
	elif [ "$bad" -gt 0 ]; then
		# The checks that failed, and what else was said by no check at all.
		grep -vE '^ok |^1\.\.' "$output" | sed 's/^/    /'
	fi
	[ "$bad" -eq 0 ] || explain
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skips))
	clean_up
	trap - EXIT
done
echo "mount: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
