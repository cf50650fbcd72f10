#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh TARGET... - runs each libFuzzer target of $BUILD for $FUZZ_SECONDS, starting from the
# samples, tests/search/fuzz/corpus, and what earlier runs have found ($BUILD/corpus). With $FUZZ_RUNS,
# repeats until all together have run this many inputs. An input that breaks a target is left in
# $BUILD, and that target is not run again.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/fuzz}
FUZZ_SECONDS=${FUZZ_SECONDS:-60}
FUZZ_RUNS=${FUZZ_RUNS:-0}

runs=0
broken=()

# Adds the target's number of inputs to $runs.
run_target()
{
	local target=$1 corpus=$BUILD/corpus/$1 kept=tests/search/fuzz/corpus/$1 log=$BUILD/$1.log status=0
	local length=4096
	# Samples of these are larger.
	case $target in cpk | rab | rab_write | zip) length=16384 ;; esac
	mkdir -p "$corpus"
	[ -e "$corpus/seed0000" ] || FUZZ_SEEDS=$corpus "$BUILD/fuzz-$target" -runs=0 >/dev/null 2>&1
	[ -d "$kept" ] || kept=
	"$BUILD/fuzz-$target" -max_total_time="$FUZZ_SECONDS" -max_len=$length -timeout=20 \
		-rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$BUILD/$target-" \
		"$corpus" ${kept:+"$kept"} 2>"$log" || status=$?
	((runs += $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1) + 0))
	return $status
}

round()
{
	local target
	for target in "$@"; do
		[[ " ${broken[*]-} " != *" $target "* ]] || continue
		echo "== fuzz $target, $FUZZ_SECONDS s"
		if run_target "$target"; then
			grep -E '^stat::(number_of_executed_units|new_units_added)' "$BUILD/$target.log"
		else
			# The failure and its place, without the fuzzer's progress and frames.
			grep -vE '^#|fuzzer::|^(INFO|NOTE)|NEW_FUNC' "$BUILD/$target.log" | tail -n 60
			broken+=("$target")
		fi
	done
}

round "$@"
while ((runs < FUZZ_RUNS && ${#broken[@]} < $#)); do
	round "$@"
done
echo "$runs inputs tried"
echo "fuzz: $(($# - ${#broken[@]})) passed, ${#broken[@]} failed"
((${#broken[@]} == 0))
