#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-steady.sh [RUNS] - runs 'make test' RUNS times (10), every second time beside four busy
# processes and one that writes to the disk, and lists every check that ever failed and how often. A
# gate fails only if something is broken, so one failure is one too many.
set -u
cd "$(dirname "$0")/.." || exit 1
runs=${1:-10}
logs=${BUILD:-build}/steady
rm -rf "$logs"
mkdir -p "$logs"
load=()
end_load() { [ ${#load[@]} -eq 0 ] || kill "${load[@]}" 2>/dev/null; wait 2>/dev/null; load=(); rm -f "$logs/written"; }
trap end_load EXIT
trap 'exit 130' INT TERM

begin_load()
{
	for _ in 1 2 3 4; do
		(while :; do :; done) &
		load+=($!)
	done
	(while :; do dd if=/dev/zero of="$logs/written" bs=1M count=256 conv=fsync 2>/dev/null; done) &
	load+=($!)
}

failed=0
for ((run = 1; run <= runs; run++)); do
	how=quiet
	((run % 2)) || how="beside load"
	[ "$how" = quiet ] || begin_load
	began=$SECONDS
	: >"$logs/failures.$run"
	if KEEP_FAILURES=$logs/failures.$run make test >"$logs/run.$run" 2>&1; then
		status=passed
	else
		status=FAILED
		((++failed))
		[ -s "$logs/failures.$run" ] || echo "ended early: $logs/run.$run" >>"$logs/failures.$run"
	fi
	end_load
	echo "run $run, $how: $status in $((SECONDS - began)) s: $(grep -E '^[0-9]+ passed, ' "$logs/run.$run" | tail -n 1)"
done
if ((failed)); then
	echo "failed at least once (how often, check):"
	sort "$logs"/failures.* | uniq -c | sort -rn
fi
echo "steady: $((runs - failed)) passed, $failed failed"
((failed == 0))
