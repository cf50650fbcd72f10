#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh quick|deep SOURCE.c... -- FLAG... - checks the sources, compiled with FLAGs. quick: includes,
# their guards, names, the tours of CONTRIBUTING.md, formatting, clang's warnings and lock checks, scripts
# with shellcheck; tests/lint/ proves that circles are found, and that clang checks locks. deep:
# clang-tidy (see .clang-tidy), cppcheck, and the player of the pages with eslint and prettier (npm).
set -u
cd "$(dirname "$0")/.." || exit 1

how=$1
shift
sources=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	sources+=("$1")
	shift
done
shift
status=0

quick()
{
	echo "== includes"
	scripts/check-includes.sh || status=1
	scripts/check-tours.sh || status=1
	if ! awk -f scripts/check-circles.awk tests/lint/circle/*.[ch] | diff tests/lint/circle/expected.txt -; then
		echo "includes: check-circles.awk does not find the planted circles, or finds others"
		status=1
	fi

	# src/store/batch.h: ANIMFS_STORE_BATCH_H; include/animfs/base.h: ANIMFS_BASE_H.
	echo "== guards"
	git ls-files -z '*.h' | xargs -0 awk '
		FNR == 1 {
			guard = FILENAME
			sub(/^(src|include\/animfs)\//, "", guard)
			gsub(/[^a-z0-9]/, "_", guard)
			guard = "ANIMFS_" toupper(guard)
			directives = 0
		}
		/^#/ && ++directives <= 2 && $0 != (directives == 1 ? "#ifndef " : "#define ") guard {
			print FILENAME ": the include guard is not " guard
			bad = 1
		}
		END { exit bad }' || status=1

	# A static function has a name of its own, for grep and breakpoints; skel.c is for copying.
	echo "== names"
	git ls-files -z 'src/*.c' ':!src/*/skel.c' | xargs -0 awk '
		{ gsub(/__attribute__\(\([a-z_]+\)\) /, "") }
		/^([A-Z_]+ )?static [^;={}()]*[a-z0-9_]+\(/ {
			match($0, /[a-z0-9_]+\(/)
			name = substr($0, RSTART, RLENGTH - 1)
			if (name in at && at[name] != FILENAME) {
				print FILENAME ": " name "() is a function of " at[name] ", too"
				bad = 1
			}
			at[name] = FILENAME
		}
		END { exit bad }' || status=1

	# Everything that waits for a time goes by the clocks of util/clock.h, which tests can stop.
	echo "== clock"
	! git grep -nE '\<((clock_)?(gettime|nanosleep)|gettimeofday|u?sleep)\(|\<time\(NULL' -- 'src/*.[ch]' \
		':!src/util/clock.c' || status=1

	# A test that waits for a rule of the mount stops its clock (tests/mount/lib.sh: mount_stopped, settle).
	echo "== sleeps"
	! grep -nE '(^|[^a-z_])sleep +[1-9]|time\.sleep\([1-9]' tests/mount/*.sh tests/mount/*.bash tests/mount/*.py |
		grep -v '# in real time: ' || status=1

	echo "== format"
	git ls-files -z 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' |
		xargs -0 clang-format --dry-run -Werror || status=1

	echo "== clang"
	printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I '{}' clang -std=gnu11 -fsyntax-only -Werror \
		-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wthread-safety "$@" '{}' || status=1

	# Clang must find exactly the faults in that file; otherwise it does not check locks.
	echo "== locks"
	planted=$(grep -c 'FAULT \*/' tests/lint/missing_lock.c)
	found=$(clang -std=gnu11 -Wthread-safety -fsyntax-only "$@" tests/lint/missing_lock.c 2>&1 |
		grep -o 'missing_lock.c:[0-9]*:' | cut -d: -f2 | sort -u |
		while read -r line; do sed -n "${line}p" tests/lint/missing_lock.c; done)
	if [ "$(grep -c 'FAULT \*/' <<<"$found")" -ne "$planted" ] || [ "$(wc -l <<<"$found")" -ne "$planted" ]; then
		printf 'locks: clang found these of %s planted faults:\n%s\n' "$planted" "$found"
		status=1
	fi

	echo "== shellcheck"
	shellcheck -x -S warning scripts/*.sh scripts/*.sbatch scripts/root.bash contrib/mount.animfs contrib/animfs.bash tests/mount/*.*sh tests/search/*.sh tests/export/*.*sh tests/editors/*.*sh tests/filesystems/*.sh .ci/run || status=1
}

deep()
{
	echo "== clang-tidy"
	printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I '{}' clang-tidy --quiet \
		--warnings-as-errors='*' '{}' -- -std=gnu11 "$@" 2>/dev/null || status=1

	echo "== cppcheck"
	# Not uninitialised variables: cppcheck does not see that a function that returns 0 has set its out
	# parameters, and clang-tidy checks this, too.
	cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability \
		--suppress=uninitvar --suppress=uninitStructMember --error-exitcode=1 -j "$(nproc)" \
		-Iinclude -Isrc -D_GNU_SOURCE -DANIMFS_VERSION='"0"' "${sources[@]}" || status=1

	echo "== player"
	npm=${BUILD:-build}/npm
	[ -e "$npm/node_modules/eslint" ] && [ -e "$npm/node_modules/prettier" ] ||
		npm install --silent --prefix "$npm" prettier@3.5.3 eslint@9.28.0 >/dev/null || status=1
	"$npm/node_modules/.bin/prettier" --log-level warn --check src/view/player/*.js src/view/player/*.css src/web/page/*.js \
		src/web/page/*.css tests/tools/{player,web,web_page,browser}.mjs || status=1
	# shellcheck disable=SC2046 # they are words
	cat $(sed 's,^,src/view/player/,' src/view/player/parts.txt) |
		"$npm/node_modules/.bin/eslint" --config src/view/player/eslint.config.mjs --stdin \
			--stdin-filename player.js || status=1
	sed -n 's,^.,src/&,p' src/web/page/parts.txt | xargs cat | sed '/^"use strict";$/d' |
		"$npm/node_modules/.bin/eslint" --config src/view/player/eslint.config.mjs --stdin \
			--stdin-filename page.js || status=1
}

"$how" "$@"
exit $status
