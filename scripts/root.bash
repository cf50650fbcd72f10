# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# root.bash - Debian systems in folders, for tests that need a separate machine. Sourced by them.
#
#   root_make DIR SUITE    a bare system, from the copy that is kept in $ROOTS, which debootstrap
#                          makes once
#   root_run DIR COMMAND...  runs it in there as root; what it mounts, and what it leaves running,
#                          ends with it
#   root_install DIR PACKAGE...
#   root_sources DIR       a copy of this work tree, in DIR/animfs

ROOTS=${ROOTS:-/var/tmp/animfs-roots}
MIRROR=${MIRROR:-http://deb.debian.org/debian}

if [ "$(id -u)" -ne 0 ]; then
	echo "${0##*/}: only root can make the systems that this runs in" >&2
	exit 1
fi

root_make()
{
	local dir=$1 kept=$ROOTS/$2.tar

	mkdir -p "$ROOTS"
	if [ ! -f "$kept" ]; then
		echo "debootstrap $2"
		rm -rf "${kept%.tar}"
		debootstrap --variant=minbase "$2" "${kept%.tar}" "$MIRROR" >"${kept%.tar}.log" || return
		tar -C "${kept%.tar}" -cf "$kept.new" . && mv "$kept.new" "$kept"
		rm -rf "${kept%.tar}"
	fi
	rm -rf --one-file-system "$dir"
	mkdir -p "$dir"
	tar -C "$dir" -xf "$kept" || return
	cp /etc/resolv.conf /etc/hosts "$dir/etc/"
}

root_run()
{
	# shellcheck disable=SC2016 # that shell's own words
	env -u MAKEFLAGS -u MAKELEVEL -u BUILD -u TMPDIR LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/local/bin:/usr/bin:/usr/sbin \
		/usr/bin/unshare --mount --pid --fork --kill-child --propagation private sh -c '
		umount -a -l -t fuse.animfs 2>/dev/null # a copy would keep its daemon from ending
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || exit 1
		dir=$1
		shift
		exec chroot "$dir" "$@"' sh "$@"
}

root_install()
{
	local dir=$1
	shift
	root_run "$dir" apt-get update -qq &&
		root_run "$dir" apt-get install -y -qq --no-install-recommends "$@" >"$dir/install.log" 2>&1 ||
		{ tail -n 20 "$dir/install.log"; return 1; }
}

root_sources()
{
	rm -rf "$1/animfs"
	mkdir "$1/animfs"
	tar -c --exclude-vcs --exclude=./build --exclude='./build-*' . | tar -x -C "$1/animfs"
}
