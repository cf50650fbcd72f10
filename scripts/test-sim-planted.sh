#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-sim-planted.sh [NAME...] - puts bugs that were fixed back into a copy of the program, one at
# a time, and checks that the simulation finds each.
#
# A bug is tests/search/sim/planted/NAME.patch. Above the patch are a description and two lines: "Seed: N",
# the seed that finds it, and "Shows: REGEX", what that prints. Any change of the program may change
# a seed's steps: if N no longer finds the bug, the seeds from 1 to $PLANTED_SEEDS (2000) are tried,
# and the first that does is printed, to be put into the patch.
#
# $BUILD/sim must be built: what the patch does not change is taken from there.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
PLANTED_SEEDS=${PLANTED_SEEDS:-2000}
BATCH=40
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
passed=0 failed=0

# prepare PATCH: builds $copy/build/sim with it
prepare()
{
	rm -rf "${copy:?}"/*
	mkdir -p "$copy/build" &&
		cp -a Makefile src include tests scripts "$copy" &&
		cp -a "$BUILD/src" "$BUILD/tests" "$BUILD/flags" "$copy/build" &&
		patch -d "$copy" -p1 -s -f <"$1" >&2 &&
		make -C "$copy" -s BUILD=build build/sim >&2
}

# found SEED COUNT REGEX: prints the line of the first of these seeds that fails so
found()
{
	# What a fault makes of its memory is not to be the machine's.
	(
		ulimit -v $((16 << 20))
		"$copy/build/sim" --seed "$1" --runs "$2" --jobs "$(nproc)" 2>&1
	) | grep -aE -m 1 "^sim: seed [0-9]+, step .*($3)"
}

# search SEED REGEX
search()
{
	local first
	found "$1" 1 "$2" && return
	for ((first = 1; first <= PLANTED_SEEDS; first += BATCH)); do
		found "$first" "$BATCH" "$2" && return
	done
	return 1
}

for name in "${@:-}"; do
	for patch in tests/search/sim/planted/${name:-*}.patch; do
		seed=$(sed -n 's/^Seed: //p' "$patch")
		shows=$(sed -n 's/^Shows: //p' "$patch")
		if ! prepare "$patch"; then
			echo "not ok - $patch: does not apply, or build"
			((++failed))
		elif line=$(search "$seed" "$shows"); then
			echo "ok - $patch: $line"
			[[ $line == "sim: seed $seed,"* ]] || echo "#    no longer seed $seed: put that one into it"
			((++passed))
		else
			echo "not ok - $patch: no seed finds it"
			((++failed))
		fi
	done
done
echo "planted: $passed passed, $failed failed"
((failed == 0 && passed > 0))
