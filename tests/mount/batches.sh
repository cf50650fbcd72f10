#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# batches.sh - one program that writes several views of a file: what must come of it, in every order,
# with every program, and whatever others do meanwhile (batches.py says how it is known). $BATCH_SEEDS
# (1) is how many orders are tried, from $BATCH_FIRST (1); where there is one alone, it is tried with a
# third of the programs, so that each line and each program has its turn. $BATCH_ONLY narrows it down to the
# cases whose name it is in.
# limit: 7200
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/checks.bash"
reason=$(can_mount) || skip_all "$reason"
SEEDS=${BATCH_SEEDS:-1}
SHARE=3
[ "$SEEDS" -eq 1 ] && [ -z "${BATCH_ONLY:-}" ] || SHARE=1

checks_of python3 "$(dirname "$0")/batches.py" --seeds="$SEEDS" --first="${BATCH_FIRST:-1}" --share=$SHARE \
	--only="${BATCH_ONLY:-}"
