#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# setup.sh GROUP... - installs the Debian packages that a group of make targets needs and that are
# not there yet. Nothing to install: no apt, no network, no root.
set -eu

packages()
{
	case $1 in
	build) echo gcc libc6-dev make pkg-config libfuse3-dev fuse3 libxml2-dev \
		libxxhash-dev zlib1g-dev libzstd-dev libzip-dev libseccomp-dev libcap-dev ;;
	test) echo check libjansson-dev vim rsync perl python3 attr acl nano ed patch procps git libglib2.0-bin \
		moreutils librsvg2-bin libxml2-utils fish zsh man-db mandoc zstd bindfs miller python3-pandas strace ;;
	lint) echo clang clang-format shellcheck ;;
	lint-deep) command -v npm >/dev/null || echo nodejs npm
		echo clang-tidy cppcheck ;;
	coverage) echo lcov ;;
	tags) echo universal-ctags ;;
	architecture) echo graphviz ;;
	bench) echo g++ python3 ;;
	posix) echo stress-ng fio dbench e2fsprogs mount python3 rsync git ;;
	export) echo samba smbclient python3 ;;
	batches) echo git rsync unzip vim tar samba smbclient python3 ;;
	slurm) echo slurm-wlm munge parallel ;;
	faults) echo python3 e2fsprogs mount ;;
	filesystems) echo python3 e2fsprogs mount kmod xfsprogs btrfs-progs dosfstools fusefat exfatprogs \
		exfat-fuse ntfs-3g bindfs sshfs openssh-sftp-server user-mode-linux rsync vim perl libglib2.0-bin tar ;;
	fuzz) echo clang llvm libclang-rt-14-dev ;;
	# One LibreOffice package removes the other: either will do.
	editors) command -v soffice >/dev/null || echo libreoffice-calc-nogui
		echo neovim emacs-nox python3-uno tar ;;
	svg) echo librsvg2-bin chromium imagemagick ;;
	pictures) command -v soffice >/dev/null || echo libreoffice-calc-nogui
		command -v npm >/dev/null || echo nodejs npm
		echo chromium fonts-vlgothic view3dscene xvfb xauth imagemagick librsvg2-bin poppler-utils python3-uno optipng ;;
	player) command -v npm >/dev/null || echo nodejs npm
		echo chromium firefox-esr python3 python3-pil ;;
	web) echo clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 binaryen libxxhash-dev pkg-config
		command -v node >/dev/null || echo nodejs ;;
	kanim) echo view3dscene xvfb xauth imagemagick python3-pil ;;
	deb) echo build-essential debhelper dpkg-dev fakeroot lintian ;;
	roots) echo debootstrap util-linux libcap2-bin ;;
	places) command -v npm >/dev/null || echo nodejs npm
		echo chromium python3 python3-pil ;;
	gltf) command -v npm >/dev/null || echo nodejs npm ;;
	duckdb) command -v npm >/dev/null || echo nodejs npm
		echo python3 zstd ;;
	blender) echo blender python3-numpy ;;
	*) echo "setup.sh: no group $1 (build test batches bench coverage editors lint lint-deep tags architecture posix export slurm faults filesystems fuzz kanim svg player web pictures places gltf duckdb blender)" >&2; exit 2 ;;
	esac
}

installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=
for group in "$@"; do
	names=$(packages "$group")
	wanted="$wanted $names"
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "setup.sh: not a Debian system; these packages' equivalents are needed:$wanted" >&2
	exit 0
fi

missing=
for package in $wanted; do
	installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "setup.sh: as root, run: apt-get install$missing" >&2
		exit 1
	fi
	sudo=sudo
fi

# What apt-get says that this takes on the disk; nothing where it cannot say.
size()
{
	# shellcheck disable=SC2086 # the list is made of words
	LC_ALL=C apt-get install --assume-no --no-install-recommends $missing 2>/dev/null |
		sed -n 's/^After this operation, \(.*\) of additional disk space will be used.*/ (\1)/p'
}

echo "installing$(size):$missing"
# Whoever else installs is waited for.
apt()
{
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"
}
install_missing()
{
	# shellcheck disable=SC2086 # the list is made of words
	apt install --no-install-recommends $missing >/dev/null
}
# Update the lists only if the old ones do not work: that takes longer than most installs.
install_missing 2>/dev/null && exit
# Again after a while: downloads fail, and apt-get does not wait for who updates the lists.
for pause in 5 15 45 0; do
	apt update && install_missing && exit
	sleep $pause
done
exit 1
