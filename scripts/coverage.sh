#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# coverage.sh - runs the tests on the instrumented build in $BUILD, and prints the share of lines
# and branches that they execute, by layer. A mount's daemon is confined and cannot write its
# counters, so unit tests and the simulation count, and fuse/ is not covered.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
status=0

find "$BUILD" -name '*.gcda' -delete
# A process for each suite: one stops the clock for good.
CK_FORK=no scripts/test.sh unit replay sim | tail -n 1 || status=1
ANIMFS=$BUILD/animfs JOBS=2 tests/mount/run.sh tests/mount/command*.sh tests/mount/import.sh \
	tests/mount/operands.sh tests/mount/options.sh tests/mount/formats.sh tests/mount/shards.sh \
	tests/mount/hive.sh 2>&1 | tail -n 1 || status=1
lcov --quiet --capture --rc lcov_branch_coverage=1 --base-directory . --no-external \
	--directory "$BUILD" --output-file "$BUILD/coverage.info" 2>"$BUILD/lcov.log" || {
	cat "$BUILD/lcov.log"
	exit 1
}
# A file is listed once for each program that it is linked into: combine these.
awk -F '[:,]' '
	/^SF:/ {
		file = $2
		layer = ""
		if (sub(/^.*\/src\//, "", file))
			layer = file ~ /\// ? substr(file, 1, index(file, "/")) : "(the rest)"
	}
	layer == "" { next }
	/^DA:/ {
		place = file ":" $2
		if (!(place in line)) { line[place] = 0; lines[layer]++ }
		if ($3 > 0 && !line[place]) { line[place] = 1; run[layer]++ }
	}
	/^BRDA:/ {
		place = file ":" $2 ":" $3 ":" $4
		if (!(place in branch)) { branch[place] = 0; branches[layer]++ }
		if ($5 > 0 && !branch[place]) { branch[place] = 1; taken[layer]++ }
	}
	END {
		printf "%-12s %7s %7s %9s\n", "layer", "lines", "run", "branches"
		for (layer in lines)
			printf "%-12s %7d %6.1f%% %8.1f%%\n", layer, lines[layer],
				100 * run[layer] / lines[layer],
				branches[layer] ? 100 * taken[layer] / branches[layer] : 100 | "sort"
	}' "$BUILD/coverage.info"
echo "Line by line: genhtml $BUILD/coverage.info -o $BUILD/html"
exit $status
