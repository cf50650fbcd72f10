#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh SOURCE.c... -- FLAG... - reads the program's sources, compiled with FLAGs, with clang-tidy
# (.clang-tidy says what is looked for) and cppcheck, the scripts with shellcheck, and who includes
# whom. That clang checks locks is proved by tests/lint/missing_lock.c.
set -u
cd "$(dirname "$0")/.." || exit 1

sources=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	sources+=("$1")
	shift
done
shift
status=0

echo "== includes"
scripts/check-includes.sh || status=1

echo "== clang-tidy"
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I '{}' clang-tidy --quiet \
	--warnings-as-errors='*' '{}' -- -std=gnu11 "$@" 2>/dev/null || status=1

# The faults in there are found, and nothing else: or the check of locks checks nothing.
echo "== locks"
planted=$(grep -c 'FAULT \*/' tests/lint/missing_lock.c)
found=$(clang -std=gnu11 -Wthread-safety -fsyntax-only "$@" tests/lint/missing_lock.c 2>&1 |
	grep -o 'missing_lock.c:[0-9]*:' | cut -d: -f2 | sort -u |
	while read -r line; do sed -n "${line}p" tests/lint/missing_lock.c; done)
if [ "$(grep -c 'FAULT \*/' <<<"$found")" -ne "$planted" ] || [ "$(wc -l <<<"$found")" -ne "$planted" ]; then
	printf 'locks: clang found these of %s planted faults:\n%s\n' "$planted" "$found"
	status=1
fi

echo "== cppcheck"
# Not whether variables are initialised: it does not see that a function which returns 0 has set what
# it was given, and clang-tidy looks for that too.
cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability \
	--suppress=uninitvar --suppress=uninitStructMember --error-exitcode=1 -j "$(nproc)" \
	-Iinclude -Isrc -D_GNU_SOURCE -DANIMFS_VERSION='"0"' "${sources[@]}" || status=1

echo "== shellcheck"
shellcheck -x -S warning scripts/*.sh scripts/*.sbatch scripts/root.bash contrib/mount.animfs contrib/animfs.bash tests/mount/*.*sh tests/search/*.sh tests/export/*.sh tests/editors/*.*sh tests/filesystems/*.sh .ci/run || status=1
exit $status
