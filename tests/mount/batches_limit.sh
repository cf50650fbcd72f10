#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# batches_limit.sh - the known limit: one program that toggles a value through CSV, JSON and curves.csv
# in turn sends what a copy of a tree sends. Each save that did nothing is named before it returns;
# with a program for each save none is lost.
. "$(dirname "$0")/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
TIMES=600
toggle() { python3 "$(dirname "$0")/toggle.py" "$1" $TIMES "$MNT" "$SRC"; }

mount_animfs
read -r changed same unsaid lines < <(toggle each)
is "a program for each save: $TIMES of $TIMES changed the file" "$changed $same" "$TIMES 0"
umount_animfs
rm -rf "$SRC/.animfs"

mount_animfs
read -r changed same unsaid lines < <(toggle one)
is "one program: each save that did nothing was named when it returned" "$unsaid" 0
# A save that counted is named, too, where a later one shows that it was a copy.
ok "one program: changes and lines are all saves ($changed changes, $lines lines)" test $((changed + lines)) -ge $TIMES
ok "some changed the file" test "$changed" -gt 0
umount_animfs
