#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-guide.sh [SECTION...] - follows CONTRIBUTING.md's steps for a new format, container, view and
# command in a copy of the project: runs all indented lines of a section as one script, whose
# tests must pass.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d /var/tmp/animfs-guide.XXXXXX)
trap 'rm -rf "$copy"' EXIT
git ls-files -z -- . ':!tests/search/fuzz/corpus' | xargs -0 cp --parents -t "$copy" --
status=0
[ $# -gt 0 ] || set -- 'A new format' 'A new container' 'A new view' 'A new command'
for section; do
	sed -n "/^## $section\$/,/^## /s/^    //p" CONTRIBUTING.md >"$copy/steps"
	if [ ! -s "$copy/steps" ]; then
		echo "test-guide: CONTRIBUTING.md has no steps for: $section" >&2
		status=1
	elif (cd "$copy" && env -u BUILD -u MAKELEVEL MAKEFLAGS="-j$(nproc)" bash -eu steps) >"$copy/log" 2>&1; then
		echo "ok: $section"
	else
		cat "$copy/log"
		echo "FAILED: $section"
		status=1
	fi
done
exit "$status"
