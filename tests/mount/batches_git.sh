#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# batches_git.sh - git in a mount, without a pause anywhere: after commit, checkout, stash, pop, reset,
# revert and bisect, and with --views=csv,json after merge, cherry-pick and rebase, the tree is clean and the
# binary is that of the commit. Then $BATCH_STEPS (25) commands at random, from seed $BATCH_FIRST.
# limit: 3600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/checks.bash"
command -v git >/dev/null || skip_all "git is not installed"
reason=$(can_mount) || skip_all "$reason"
checks_of python3 "$(dirname "$0")/batches_git.py" --steps="${BATCH_STEPS:-25}" --seed="${BATCH_FIRST:-1}"
