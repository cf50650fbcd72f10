#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-editors.sh - saves every view with every program, and again while something fails, and prints
# tables of the results; then compares random edits with a model. Takes about half an hour.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
export ANIMFS=$BUILD/animfs TABLES=$BUILD/editors TEST_TIMEOUT=${TEST_TIMEOUT:-3600}
export RANDOM_EDITS=${RANDOM_EDITS:-10000}
mkdir -p "$TABLES"
rm -f "$TABLES"/*

tests/mount/run.sh tests/editors/{matrix,calc,faults}.sh tests/mount/random_edits.sh
status=$?

# table FILE TITLE
table()
{
	[ ! -f "$TABLES/$1" ] || printf '\n== %s\n\n%s\n' "$2" "$(<"$TABLES/$1")"
}
table matrix "what came of a save: program x view"
table calc "LibreOffice Calc"
table faults "what came of a save while something failed"
exit $status
