#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deb.sh - builds the Debian package in $BUILD/deb from a copy of the sources, and has lintian read
# it: any tag that debian/ does not explain is a failure.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
version=$(dpkg-parsechangelog -S Version)
[ "$version" = "$(sed -n 's/^VERSION := //p' Makefile)" ] || {
	echo "deb.sh: debian/changelog is of version $version, the Makefile is not" >&2
	exit 1
}

rm -rf "$BUILD/deb"
mkdir -p "$BUILD/deb/animfs-$version"
deb=$(realpath "$BUILD/deb")
tar -c --exclude-vcs --exclude=./build --exclude='./build-*' . | tar -x -C "$deb/animfs-$version"
cd "$deb/animfs-$version"
# The package must not be built with the flags of this make.
env -u MAKEFLAGS -u MAKELEVEL -u CC -u CFLAGS -u BUILD dpkg-buildpackage -us -uc -j"$(nproc)" \
	>../build.log 2>&1 || {
	tail -n 40 ../build.log
	exit 1
}
lintian --allow-root --fail-on error,warning --tag-display-limit 0 ../animfs_"$version"_*.changes
ls "$deb"/*.deb
