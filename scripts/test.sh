#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test.sh PART... - runs parts of the tests (unit, alloc, replay, sim, mount) on the build in
# $BUILD, in parallel, all of them even if one fails, and ends with the sum of their "N passed, N
# failed, N skipped" lines. Before it come the reasons why checks were skipped, what to do about
# each, and once more the checks that failed. With TESTS="parallel.sh ..." the mount tests are these;
# JOBS=N runs N of them at once (three on each processor: most of their time they wait).
#
# test.sh --skipped FILE prints only those, of what tests/mount/run.sh wrote into $SKIPS.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}

mount_tests()
{
	local tests
	read -ra tests <<<"${TESTS:-}"
	ANIMFS=$BUILD/animfs JOBS=${JOBS:-$((3 * $(nproc)))} tests/mount/run.sh "${tests[@]/#/tests/mount/}"
}

# A process for each suite, one on each processor.
unit_suites()
{
	local suite passed=0 failed=0 list
	list=$(sed -n 's/^SUITE(\(.*\))$/\1/p' "$BUILD/suites.h")
	xargs -P "$(nproc)" -I '{}' sh -c 'CK_RUN_SUITE={} "$0" >"$1/unit.{}" 2>&1; :' "$BUILD/unit" "$logs" <<<"$list"
	for suite in $list; do
		if [[ $(tail -n 1 "$logs/unit.$suite") =~ ^unit:\ ([0-9]+)\ passed,\ 0\ failed$ ]]; then
			((passed += BASH_REMATCH[1]))
			continue
		fi
		((++failed))
		cat "$logs/unit.$suite"
		echo "unit $suite: CK_RUN_SUITE=$suite $BUILD/unit" >>"$FAILURES"
	done
	echo "unit: $passed passed, $failed failed"
	((failed == 0))
}

part()
{
	case $1 in
	unit) unit_suites ;;
	alloc) "$BUILD/alloc_fail" ;;
	replay) "$BUILD/replay" ;;
	sim) "$BUILD/sim" --seed 1 --steps 20000 --twice ;;
	mount) mount_tests ;;
	*) echo "test.sh: no part $1" >&2; return 1 ;;
	esac
}

# again PART: the command that runs it by itself
again()
{
	case $1 in
	sim) echo "$BUILD/sim --seed 1 --steps 20000 --twice" ;;
	alloc) echo "$BUILD/alloc_fail" ;;
	*) echo "$BUILD/$1" ;;
	esac
}

# package PROGRAM: the Debian package that it comes with
package()
{
	case $1 in
	fusermount3) echo fuse3 ;;
	gio) echo libglib2.0-bin ;;
	sponge) echo moreutils ;;
	rsvg-convert) echo librsvg2-bin ;;
	xmllint) echo libxml2-utils ;;
	setfacl) echo acl ;;
	readelf) echo binutils ;;
	soffice) echo libreoffice-calc-nogui ;;
	nvim) echo neovim ;;
	emacs) echo emacs-nox ;;
	systemd-analyze) echo systemd ;;
	sftp-server) echo openssh-sftp-server ;;
	*) echo "$1" ;;
	esac
}

# how_to_have REASON: what makes the checks run that are skipped for it; nothing where nothing would
how_to_have()
{
	local program
	case $1 in
	/dev/fuse*) echo "modprobe fuse; of a container: --device /dev/fuse" ;;
	*pseudo-terminals*) echo "mkdir -p /dev/pts && mount -t devpts devpts /dev/pts && ln -sf pts/ptmx /dev/ptmx" ;;
	*" is not installed"*)
		program=${1%% is not*}
		echo "apt-get install $(package "${program##* }")"
		;;
	*"is not built"*) echo "make build/${1%% *}" ;;
	*"without optimisation"*) echo "make CFLAGS=-O2" ;;
	*sanitize*) echo "a build without SANITIZE" ;;
	"mounting is not permitted"* | *"can be mounted"* | *"cannot be mounted"* | *"namespaces can be made"* | *"mount can be made"*)
		echo "root of the machine, or of a container with --privileged"
		;;
	*"where a thread waits"*) echo "a kernel that has /proc/PID/task/TID/wchan" ;;
	"this kernel"*) echo "a kernel with Landlock and seccomp" ;;
	*"chattr +a"*) echo "Linux 6.6 or later" ;;
	*ACLs*) echo "ANIMFS_TEST_DIR=DIR on a filesystem that has them, such as ext4" ;;
	*"no /proc of its own"*) echo "an optimised build, started by root" ;;
	*"/etc/mtab"*) echo "ln -s /proc/self/mounts /etc/mtab" ;;
	*"not set-uid"*) echo 'chmod u+s "$(command -v fusermount3)"' ;;
	*"descriptors for a program"*) echo "ulimit -n 4096" ;;
	*root*) echo "run the tests as root" ;;
	esac
}

# list_skipped FILE: a line for each reason
list_skipped()
{
	local reason tests how
	echo "skipped, for what this machine lacks:"
	cut -f 2 "$1" | sort | uniq -c | while read -r count reason; do
		tests=$(grep -F "	$reason" "$1" | cut -f 1 | sort -u | paste -sd ' ')
		how=$(how_to_have "$reason")
		echo "  $count in $tests: $reason${how:+; to have it: $how}"
	done
}

if [ "${1:-}" = --skipped ]; then
	list_skipped "$2"
	exit
fi

passed=0 failed=0 skipped=0
logs=$(mktemp -d)
export SKIPS=$logs/skips FAILURES=$logs/failures
: >"$SKIPS"
: >"$FAILURES"
declare -A pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$logs"' EXIT
# At once: the mount tests wait for clocks most of their time.
for name in "$@"; do
	{ part "$name"; status=$?; echo "$name $SECONDS s" >"$logs/$name.time"; exit $status; } >"$logs/$name" 2>&1 &
	pids[$name]=$!
	# What only computes leaves the processors to the mounts, where programs wait for each other.
	[[ $name = mount || " $* " != *" mount "* ]] || renice -n 5 -p $! >/dev/null
done
for name in "$@"; do
	log=$logs/$name
	echo "== $name"
	tail -n +1 -f --pid="${pids[$name]}" "$log" 2>/dev/null
	wait "${pids[$name]}"
	status=$?
	pattern="^($name: )?([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?\$"
	if [[ $(tail -n 1 "$log") =~ $pattern ]]; then
		((passed += BASH_REMATCH[2], failed += BASH_REMATCH[3]))
		((skipped += ${BASH_REMATCH[5]:-0}))
		# A part that fails without counting it must not look like a success.
		[[ $status -eq 0 || ${BASH_REMATCH[3]} -gt 0 ]] || ((failed++))
	else
		echo "$name: ended with status $status before its last line"
		((failed++))
	fi
	[ $status -eq 0 ] || [ "$name" = mount ] || [ "$name" = unit ] || echo "$name: $(again "$name")" >>"$FAILURES"
done
echo
echo "at once: $(cat "$logs"/*.time | paste -sd , | sed 's/,/, /g')"
[ ! -s "$SKIPS" ] || list_skipped "$SKIPS"
[ ! -s "$FAILURES" ] || { echo "failed:" && sed 's/^/  /' "$FAILURES"; }
[ -z "${KEEP_FAILURES:-}" ] || cat "$FAILURES" >>"$KEEP_FAILURES"
if ((skipped)); then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
((failed == 0 && passed > 0))
