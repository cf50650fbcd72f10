#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# release.sh - make release: what is no release yet is refused with all reasons; otherwise the archive, its
# checksum and the tag are there. In a small repository of its own; nothing is mounted or built here.
. "$(dirname "$0")/lib.sh"
mkdir -p "$WORK/repo/scripts" "$WORK/repo/debian"
cp scripts/release.sh "$WORK/repo/scripts"
cd "$WORK/repo" || exit 1
export HOME=$WORK GIT_CONFIG_NOSYSTEM=1
git config --global user.email a@example.org
git config --global user.name a
git config --global init.defaultBranch main
echo 'VERSION := 1.2.3' >Makefile
printf '# Changes\n\n## 1.2.3 - not released yet\n\n* A thing.\n\n## 1.2.2 - 2026-01-01\n\n* An old thing.\n' >CHANGELOG.md
printf 'animfs (1.2.3) UNRELEASED; urgency=medium\n' >debian/changelog
printf 'build/\n' >.gitignore
git init -q
git add -A
git commit -qm first
echo more >>Makefile
is "all reasons are told" "$(PARTS=archive scripts/release.sh 2>&1; echo $?)" \
	"release.sh: there are changes that are not committed
release.sh: CHANGELOG.md has no line '## 1.2.3 - DATE'
release.sh: debian/changelog does not begin with 1.2.3, or says UNRELEASED
1"
ok "and nothing is made" test ! -e build -a -z "$(git tag)"
git checkout -q Makefile
sed -i 's/not released yet/2026-11-28/' CHANGELOG.md
sed -i 's/UNRELEASED/unstable/' debian/changelog
git commit -qam release
ok "a release" env PARTS=archive scripts/release.sh
is "its files" "$(ls build/release)" $'SHA256SUMS\nanimfs-1.2.3.tar.gz'
ok "their checksums" sh -c 'cd build/release && sha256sum -c --quiet SHA256SUMS'
is "the archive is what was committed" "$(tar -tzf build/release/animfs-1.2.3.tar.gz | grep -v '/$' | sort)" \
	"$(git ls-files | sed 's,^,animfs-1.2.3/,' | sort)"
is "the tag has what users notice" "$(git tag -l --format='%(contents:subject)' v1.2.3)" '* A thing.'
is "a second time is refused" "$(PARTS=archive scripts/release.sh 2>&1)" "release.sh: the tag v1.2.3 exists"
git tag -d v1.2.3 >/dev/null
printf 'test-static:\n\tmkdir -p build/static && cp /bin/true build/static/animfs\n' >>Makefile
git commit -qam static
ok "the static program" env PARTS=static scripts/release.sh
ok "runs" "build/release/animfs-1.2.3-static-$(uname -m)"
git tag -d v1.2.3 >/dev/null
is "no such part" "$(PARTS=rpm scripts/release.sh 2>&1 | tail -n 1)" \
	"release.sh: there is no part 'rpm'; expected archive, deb or static"
