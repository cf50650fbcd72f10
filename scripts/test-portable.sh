#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-portable.sh [TARGET...] - builds animfs and runs its unit tests with both compilers on 64 and
# 32 bits and on an emulated big-endian machine, and with the libraries of the next Debian; with
# warnings as errors, undefined behaviour as a failure, and the oldest libfuse interface. Uses
# Debian systems below $ROOTS, which are kept for the next run, as are the objects. Runs as many
# targets at a time as there are processors. Needs root. The targets are listed below.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/root.bash

libraries="libc6-dev libfuse3-dev libxml2-dev libjansson-dev libxxhash-dev zlib1g-dev
	libzstd-dev libzip-dev libseccomp-dev libcap-dev check"
foreign="i386 s390x"
# Where they run, and how.
targets="gcc-amd64 clang-amd64 gcc-i386 clang-i386 gcc-s390x clang-s390x gcc-trixie clang-trixie"

# The packages for all targets of a system.
packages()
{
	local library arch

	echo gcc clang llvm make pkg-config $libraries
	[ "$1" = bookworm ] || { echo qemu-user; return; }
	echo libclang-rt-14-dev gcc-i686-linux-gnu gcc-s390x-linux-gnu
	for library in $libraries; do
		for arch in $foreign; do
			echo "$library:$arch"
		done
	done
}

make_system()
{
	local dir=$ROOTS/portable-$1 arch

	[ ! -f "$dir/made" ] || return 0
	root_make "$dir" "$1" || return
	if [ "$1" = bookworm ]; then
		for arch in $foreign; do
			root_run "$dir" dpkg --add-architecture "$arch" || return
		done
	fi
	# shellcheck disable=SC2046 # the list is made of words
	root_install "$dir" $(packages "$1") && touch "$dir/made"
}

# build SYSTEM COMPILER ARCH TRIPLET LIBRARIES [EMULATOR]
build()
{
	local dir=$ROOTS/portable-$1 compiler=$2 arch=$3 triplet=$4 emulator=${6:-} build=/build/$2-$3

	case $compiler-$arch in
	*-amd64) ;;
	gcc-*) compiler=$triplet-gcc ;;
	clang-*) compiler="clang --target=$triplet" ;;
	esac
	# Undefined behaviour stops a test if there is a library for that.
	root_run "$dir" env -C /animfs PKG_CONFIG_LIBDIR="/usr/lib/$5/pkgconfig:/usr/share/pkgconfig" \
		make -s -j"$(nproc)" BUILD="$build" CC="$compiler" \
		CFLAGS="-O2 -g -Werror -fsanitize=undefined -fsanitize-undefined-trap-on-error" \
		"$build/animfs" "$build/unit" &&
		root_run "$dir" env -C /animfs CK_TIMEOUT_MULTIPLIER=20 $emulator "$build/unit"
}

run()
{
	case $1 in
	*-amd64) build bookworm "${1%-*}" amd64 x86_64-linux-gnu x86_64-linux-gnu ;;
	*-i386) build bookworm "${1%-*}" i386 i686-linux-gnu i386-linux-gnu ;;
	*-s390x) build bookworm "${1%-*}" s390x s390x-linux-gnu s390x-linux-gnu qemu-s390x ;;
	*-trixie) build trixie "${1%-*}" amd64 x86_64-linux-gnu x86_64-linux-gnu ;;
	*) echo "test-portable.sh: no target $1 ($targets)" >&2; return 2 ;;
	esac
}

report()
{
	local log=$ROOTS/$1.log began=$SECONDS

	if run "$1" >"$log" 2>&1; then
		echo "$1: $(tail -n 1 "$log") ($((SECONDS - began)) s)"
	else
		echo "$1: FAILED"
		tail -n 30 "$log"
		echo "$1" >>"$failed"
	fi
}

[ $# -gt 0 ] || set -- $targets
for system in bookworm trixie; do
	case "$*:$system" in
	*-trixie*:trixie | *-s390x*:trixie | *-amd64*:bookworm | *-i386*:bookworm | *-s390x*:bookworm)
		make_system "$system" && root_sources "$ROOTS/portable-$system" || exit 1
		;;
	esac
done
# From the next Debian, since this one's miscomputes a double from two floats (MDEBR, which clang
# uses).
[[ "$*" != *-s390x* ]] ||
	cp "$ROOTS/portable-trixie/usr/bin/qemu-s390x" "$ROOTS/portable-bookworm/usr/local/bin/" || exit 1
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
for target in "$@"; do
	[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
	report "$target" &
done
wait
[ ! -s "$failed" ]
