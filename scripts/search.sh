#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# search.sh - runs the searches for faults in turn, each for $SEARCH_SECONDS (60) from $SEED (the
# clock's), and ends with a list of what they found and the commands that show it again. $SEARCHES
# names the ones to run (storm sim edits posix batches crash soak fuzz). What a search finds becomes a
# test; a search never gates, since what it finds depends on chance.
#
# Everything must be built: 'make search' does it. Logs are in $BUILD/search.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build}
SECONDS_EACH=${SEARCH_SECONDS:-60}
SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
logs=$BUILD/search
mkdir -p "$logs"
found=() ran=0

mount_test() { ANIMFS=$BUILD/animfs tests/mount/run.sh "$@"; }

# Each prints what it does; a status other than 0 means that something was found.
search_storm() { STORM_SEED=$SEED STORM_SECONDS=$SECONDS_EACH STORM_SAVES=1000000 mount_test tests/search/storm.sh; }
again_storm() { echo "STORM_SEED=$SEED make test-storm"; }

search_sim() { timeout "$SECONDS_EACH" "$BUILD/sim" --seed "$SEED" --runs 1000000 --jobs "$(nproc)"; }
again_sim() { sed -n 's/^sim: \(seed [0-9]*\), step.*/\1/p' "$1" | sort -u | sed 's/^seed \(.*\)/make test-sim SIM_SEED=\1 SIM_STEPS=1/' | head -n 5; }

# About 40 edits a second.
search_edits() { SEED=$SEED RANDOM_EDITS=$((SECONDS_EACH * 40)) mount_test tests/mount/random_edits.sh; }
again_edits() { echo "SEED=$SEED RANDOM_EDITS=$((SECONDS_EACH * 40)) ANIMFS=$BUILD/animfs tests/mount/run.sh tests/mount/random_edits.sh"; }

search_posix() { SEED=$SEED RANDOM_OPS=$((SECONDS_EACH * 1000)) mount_test tests/mount/posix.sh; }
again_posix() { echo "SEED=$SEED RANDOM_OPS=$((SECONDS_EACH * 1000)) ANIMFS=$BUILD/animfs tests/mount/run.sh tests/mount/posix.sh"; }

search_batches() { BATCH_FIRST=$SEED BATCH_SEEDS=$(((SECONDS_EACH + 59) / 60)) mount_test tests/mount/batches.sh; }
again_batches() { echo "make test-batches BATCH_FIRST=$SEED BATCH_SEEDS=$(((SECONDS_EACH + 59) / 60))"; }

# Some four kills a second.
search_crash() { CRASHES=$((SECONDS_EACH * 4)) scripts/test-crash.sh; }
again_crash() { echo "make test-crash CRASHES=$((SECONDS_EACH * 4))"; }

search_soak() { SOAK_SECONDS=$SECONDS_EACH scripts/test-soak.sh; }
again_soak() { echo "SEED=$SEED make test-soak SOAK_SECONDS=$SECONDS_EACH"; }

search_fuzz() { ${MAKE:-make} --no-print-directory fuzz FUZZ_SECONDS=$((SECONDS_EACH / 30 + 1)); }
again_fuzz() { sed -n 's/.*Test unit written to //p' "$1" "$BUILD"/fuzz/*.log | sort -u | head -n 5; }

# outcome NAME STATUS LOG: timeout(1) ends the simulation, which then has found nothing.
outcome()
{
	[ "$2" -eq 0 ] && return
	[ "$1" = sim ] && [ "$2" -eq 124 ] && ! grep -q '^sim: seed .*, step' "$3" && return
	found+=("$1: $(again_"$1" "$3" | paste -sd ';' | sed 's/;/; /g'), log: $3")
}

export SEED
echo "searching from SEED=$SEED, $SECONDS_EACH s each"
for name in ${SEARCHES:-storm sim edits posix batches crash soak fuzz}; do
	if ! declare -F "search_$name" >/dev/null; then
		echo "search.sh: no search $name (storm sim edits posix batches crash soak fuzz)" >&2
		exit 2
	fi
	echo "== $name"
	search_"$name" >"$logs/$name.log" 2>&1
	outcome "$name" $? "$logs/$name.log"
	grep . "$logs/$name.log" | tail -n 1
	((++ran))
done
echo
[ ${#found[@]} -eq 0 ] || printf 'found by %s\n' "${found[@]}"
echo "search: $((ran - ${#found[@]})) passed, ${#found[@]} failed"
((${#found[@]} == 0))
