# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# checks.bash - for tests whose checks are made in Python, after lib.sh:
#
#   checks_of python3 tests/mount/NAME.py
#
# counts its lines "ok NAME", "not ok NAME" with details between TABs, and "skip REASON".
export PYTHONDONTWRITEBYTECODE=1

checks_of()
{
	local line before=$CHECKS
	while IFS=$'\t' read -r -a line; do
		case ${line[0]} in
		"ok "*) pass "${line[0]#ok }" ;;
		"skip "*) skip "${line[0]#skip }" ;;
		*) not_ok "${line[0]#not ok }" "${line[@]:1}" ;;
		esac
	done < <("$@" 2>&1)
	ok "there were cases" test "$CHECKS" -gt "$before"
}
