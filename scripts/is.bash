# SPDX-License-Identifier: GPL-3.0-or-later
# is.bash - for scripts that count what passes: is NAME GOT WANTED
passed=0 failed=0
is()
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n  got:  %s\n  want: %s\n' "$1" "$2" "$3"
	fi
}
