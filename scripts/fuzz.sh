#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh TARGET... - runs each libFuzzer target of $BUILD for $FUZZ_SECONDS, from the samples and
# from what earlier runs have found ($BUILD/corpus). An input that breaks one is left in $BUILD.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/fuzz}

passed=0 failed=0
for target in "$@"; do
	corpus=$BUILD/corpus/$target
	mkdir -p "$corpus"
	echo "== fuzz $target, ${FUZZ_SECONDS:=60} s"
	FUZZ_SEEDS=$corpus "$BUILD/fuzz-$target" -runs=0 >/dev/null 2>&1
	if "$BUILD/fuzz-$target" -max_total_time="$FUZZ_SECONDS" -timeout=20 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$BUILD/$target-" "$corpus" 2>"$BUILD/$target.log"; then
		grep -E '^stat::(number_of_executed_units|new_units_added)' "$BUILD/$target.log"
		((++passed))
	else
		# What broke and where, without the fuzzer's own progress and frames.
		grep -vE '^#|fuzzer::|^(INFO|NOTE)|NEW_FUNC' "$BUILD/$target.log" | tail -n 60
		((++failed))
	fi
done
echo "fuzz: $passed passed, $failed failed"
((failed == 0))
