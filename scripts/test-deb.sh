#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-deb.sh - installs the package of `make deb` with apt in a bare Debian, where its dependencies
# come from the archive, and uses it there: the manuals, an edit in a mount by fstab, its removal.
# Root.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
. scripts/root.bash

root=$ROOTS/deb
root_make "$root" bookworm || exit 1
trap 'rm -rf --one-file-system "$root"' EXIT
rm -f "$root"/etc/dpkg/dpkg.cfg.d/*
cp "$BUILD/deb/animfs_$(dpkg-parsechangelog -S Version)_$(dpkg --print-architecture).deb" \
	"$root/animfs.deb" || exit 1
mkdir "$root/game" "$root/anim"
cp tests/data/canm/wiki512.canm "$root/game/"
root_install "$root" man-db /animfs.deb || exit 1

# What is done there; it stops at the first failure.
root_run "$root" sh -eu -c '
	run() { echo "$ $*"; "$@" || { echo "failed: $*"; exit 1; }; }
	run animfs --version
	for page in "1 animfs" "5 animfs-formats" "7 animfs-tree" "8 mount.animfs"; do
		run man -w $page
	done
	for file in bash-completion/completions/animfs zsh/vendor-completions/_animfs \
		fish/vendor_completions.d/animfs.fish; do
		run test -f /usr/share/$file
	done
	run test -f /usr/lib/systemd/user/animfs@.service
	echo "/game /anim animfs defaults,nofail,views=csv 0 0" >/etc/fstab
	run mount -a
	bone=/anim/wiki512.canm/walk/bones/Bone01.csv
	run sed -i "2s/,1.5,/,2.5,/" $bone
	run grep "^0,0,2.5," $bone
	run animfs umount /anim
	animfs cat /game/wiki512.canm/walk/bones/Bone01.csv | run grep "^0,0,2.5,"
	run mount -t animfs /game /anim -o ro
	run test -d /anim/wiki512.canm/walk
	run umount /anim
	run animfs check /game
	run apt-get remove -y -qq animfs
	run test ! -e /usr/bin/animfs
	run test ! -e /usr/sbin/mount.animfs
' && echo "test-deb: installed, mounted, edited, unmounted, removed"
