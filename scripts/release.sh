#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# release.sh - makes a release of what is committed, in $BUILD/release: the source archive, the Debian package,
# the static program, their checksums, and the tag vVERSION, which is not pushed. Refuses, with all reasons, what
# is no release yet. PARTS (archive deb static) says what to make. RELEASE.md has the steps before and after.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
PARTS=${PARTS:-archive deb static}
version=$(sed -n 's/^VERSION := //p' Makefile)
out=$BUILD/release
problems=0

problem()
{
	echo "release.sh: $1" >&2
	problems=1
}

[ -z "$(git status --porcelain)" ] || problem "there are changes that are not committed"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || problem "the tag v$version exists"
grep -qE "^## ${version//./\\.} - [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
	problem "CHANGELOG.md has no line '## $version - DATE'"
grep -qE "^animfs \(${version//./\\.}\) [a-z]+; " debian/changelog ||
	problem "debian/changelog does not begin with $version, or says UNRELEASED"
[ $problems = 0 ] || exit 1

rm -rf "$out"
mkdir -p "$out"
for part in $PARTS; do
	case $part in
	archive) git archive --format=tar.gz --prefix="animfs-$version/" -o "$out/animfs-$version.tar.gz" HEAD ;;
	deb)
		scripts/deb.sh
		cp "$BUILD"/deb/animfs_"$version"_*.deb "$out"
		;;
	static)
		make --no-print-directory test-static
		strip -o "$out/animfs-$version-static-$(uname -m)" "$BUILD/static/animfs"
		;;
	*)
		echo "release.sh: there is no part '$part'; expected archive, deb or static" >&2
		exit 2
		;;
	esac
done
(cd "$out" && sha256sum -- * >SHA256SUMS)
# What users notice is the tag's text.
sed -n "/^## ${version//./\\.} - /,/^## /{/^## /d;p}" CHANGELOG.md | git tag -a --cleanup=whitespace -F - "v$version"
ls "$out"
echo "The tag v$version is made and not pushed: git push origin v$version"
