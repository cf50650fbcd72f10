#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tour.sh - the commands of README.md under "60 seconds" print what the page shows.
. "$(dirname "$0")/lib.sh"
is "the page" "$(BUILD=$(dirname "$ANIMFS") scripts/tour.sh 2>&1)" ""
