#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tour.sh - what README.md has under "60 seconds", typed as it is there, prints what the page says.
. "$(dirname "$0")/lib.sh"
is "the page" "$(BUILD=$(dirname "$ANIMFS") scripts/tour.sh 2>&1)" ""
