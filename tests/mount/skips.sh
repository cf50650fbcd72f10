#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# skips.sh - what make test says of checks that this machine cannot run: each reason once, in which
# tests, and how to have what lacks. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"

list() { scripts/test.sh --skipped "$WORK/skips"; }
cat >"$WORK/skips" <<'END_SKIPS'
install	zsh is not installed
editors	gio is not installed
export	there are no pseudo-terminals (/dev/pts)
install	there are no pseudo-terminals (/dev/pts)
export	there are no pseudo-terminals (/dev/pts)
strange	a reason that nobody knows
END_SKIPS
is "the list" "$(list)" "skipped, for what this machine lacks:
  1 in strange: a reason that nobody knows
  1 in editors: gio is not installed; to have it: apt-get install libglib2.0-bin
  3 in export install: there are no pseudo-terminals (/dev/pts); to have it: mkdir -p /dev/pts && mount -t devpts devpts /dev/pts && ln -sf pts/ptmx /dev/ptmx
  1 in install: zsh is not installed; to have it: apt-get install zsh"

# run.sh writes what the list is made of.
mkdir -p "$WORK/tests/mount"
cp tests/mount/run.sh tests/mount/lib.sh "$WORK/tests/mount"
cat >"$WORK/tests/mount/lacking.sh" <<'END_TEST'
. "$(dirname "$0")/lib.sh"
pass "one that runs"
skip "vim is not installed"
skip "vim is not installed"
skip_all "/dev/fuse is missing or may not be opened"
END_TEST
rm "$WORK/skips"
SKIPS=$WORK/skips "$WORK/tests/mount/run.sh" tests/mount/lacking.sh >/dev/null
is "what run.sh leaves" "$(cat "$WORK/skips")" "lacking	vim is not installed
lacking	vim is not installed
lacking	/dev/fuse is missing or may not be opened"
is "and the list of that" "$(list)" "skipped, for what this machine lacks:
  1 in lacking: /dev/fuse is missing or may not be opened; to have it: modprobe fuse; of a container: --device /dev/fuse
  2 in lacking: vim is not installed; to have it: apt-get install vim"

# Each reason in the tests, with its variables as they stand there.
grep -ohE '\bskip(_all)? "[^"$][^"]+"' tests/mount/*.sh tests/mount/*.bash | sed -E 's/^skip(_all)? "(.*)"$/x\t\2/' |
	grep -vxF 'x	*) skip ' | sort -u >"$WORK/skips"
like "there are many" "$(wc -l <"$WORK/skips")" '^[2-9][0-9]$'
is "each has a way out" "$(list | sed 1d | grep -v '; to have it: ')" ""
