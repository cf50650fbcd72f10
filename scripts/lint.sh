#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh SOURCE.c... -- FLAG... - reads the program's sources, compiled with FLAGs, with clang-tidy
# (.clang-tidy says what is looked for) and cppcheck, and the scripts with shellcheck.
set -u
cd "$(dirname "$0")/.." || exit 1

sources=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	sources+=("$1")
	shift
done
shift
status=0

echo "== clang-tidy"
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I '{}' clang-tidy --quiet \
	--warnings-as-errors='*' '{}' -- -std=gnu11 "$@" 2>/dev/null || status=1

echo "== cppcheck"
# It judges a pointer that is only read as one that could be const, wherever a callback's type
# forbids it; and it sees no system headers.
cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr \
	--suppress=missingIncludeSystem --error-exitcode=1 -j "$(nproc)" \
	-Iinclude -Isrc -D_GNU_SOURCE -DANIMFS_VERSION='"0"' "${sources[@]}" || status=1

echo "== shellcheck"
shellcheck -x scripts/*.sh tests/mount/*.sh .ci/run || status=1
exit $status
