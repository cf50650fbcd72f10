#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-editors.sh - saves with every program in every view, and again while something fails, with
# the tables of what came of it; then random edits against a model. Takes about a quarter of an hour.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
export ANIMFS=$BUILD/animfs TABLES=$BUILD/editors TEST_TIMEOUT=${TEST_TIMEOUT:-1800}
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
