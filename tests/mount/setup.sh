#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# setup.sh - scripts/setup.sh, with an apt-get that only notes what it is asked for: another that has
# the lock is waited for, and what fails is tried again. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"

# apt-get fails as often as $WORK/failures says; dpkg-query knows one package; no pause takes time.
mkdir "$WORK/bin"
cat >"$WORK/bin/apt-get" <<'END_APT'
#!/bin/sh
case $* in *--assume-no*) exit 1 ;; esac
echo "$*" >>"$WORK/asked"
left=$(cat "$WORK/failures")
[ "$left" -gt 0 ] || exit 0
echo $((left - 1)) >"$WORK/failures"
echo "E: Could not get lock" >&2
exit 100
END_APT
cat >"$WORK/bin/dpkg-query" <<'END_QUERY'
#!/bin/sh
for package; do :; done
[ "$package" = "$(cat "$WORK/installed")" ] && printf installed
END_QUERY
printf '#!/bin/sh\necho "pause $1" >>"$WORK/asked"\n' >"$WORK/bin/sleep"
printf '#!/bin/sh\nexec "$@"\n' >"$WORK/bin/sudo"
chmod 755 "$WORK"/bin/*

# setup FAILURES: sets up a group of one package, and prints what apt-get was asked for, without options
setup()
{
	local status=0
	echo "$1" >"$WORK/failures"
	: >"$WORK/asked"
	PATH=$WORK/bin:$PATH scripts/setup.sh architecture >"$WORK/said" 2>"$WORK/errors" || status=$?
	sed -E 's/(^| )(-o [^ ]*|-[a-z-]*)//g; s/^ //' "$WORK/asked" | paste -sd ';'
	return $status
}

: >"$WORK/installed"
is "what is missing is installed" "$(setup 0)" "install graphviz"
is "and said" "$(<"$WORK/said")" "installing: graphviz"
like "whoever installs is waited for" "$(<"$WORK/asked")" ' -o DPkg::Lock::Timeout=600 '
like "downloads are tried again" "$(<"$WORK/asked")" ' -o Acquire::Retries=3 '
is "if it fails, with new lists" "$(setup 1)" "install graphviz;update;install graphviz"
is "if they cannot be had, after a pause" "$(setup 2)" "install graphviz;update;pause 5;update;install graphviz"
is "if it fails then, too" "$(setup 3)" "install graphviz;update;pause 5;update;pause 15;update;install graphviz"
fails "not for ever" setup 100
like "and apt-get's words are there" "$(<"$WORK/errors")" '^E: Could not get lock'

echo graphviz >"$WORK/installed"
is "what is installed is not asked for" "$(setup 0)" ""
