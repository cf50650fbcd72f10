#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# git_text.sh - git shows the curves of a binary, as animfs git-setup has it do. Nothing is
# mounted here.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip_all "git is not installed"
PATH=$(dirname "$ANIMFS"):$PATH
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_PAGER=cat
root=$PWD
cd "$SRC" || exit 1
git init -q .
animfs git-setup >/dev/null || exit 1
cp "$root/tests/data/canm/wiki512.canm" w.canm
git add -A && git commit -qm first
animfs cat w.canm/walk/bones/hip.csv | sed 's/,0.5000076,/,0.25,/' |
	animfs put w.canm/walk/bones/hip.csv
diff=$(git diff)
is "git diff: the key as it was" "$(grep '^-  ' <<<"$diff")" "-  translation 1 0.5000076 1 2.00001"
is "git diff: the key as it is" "$(grep '^+  ' <<<"$diff")" "+  translation 1 0.2500038 1 2.00001"
like "git diff: the bone" "$diff" 'bone walk/hip'
git commit -qam second
log=$(git log -p --format=%s)
like "git log -p: the change" "$log" $'\n\\+  translation 1 0.2500038 1 2.00001\n'
like "git log -p: the whole first version" "$log" $'\n\\+bone walk/Bone01\n'
printf damaged >w.canm
git commit -qam third
like "a version that does not decode is one line" "$(git log -p --format=%s)" \
	$'\n\\+not decoded: .*\nsecond\n'
git revert --no-edit HEAD >/dev/null
ok "and the file comes back as it was" test -n "$(animfs cat w.canm/walk/clip.json)"

is "the same text every time" "$(animfs text w.canm | cksum)" "$(animfs text w.canm | cksum)"
for file in "$root"/tests/data/*/*; do
	case $file in
	*.expect.json | *.x3d | */bad_* | */cpk/* | */rab/* | */zip/*) continue ;;
	esac
	text=$(animfs text "$file" 2>&1) || not_ok "text of ${file##*/}" "$text"
done
pass "every sample has a text"
animfs text >/dev/null 2>&1
is "without a file the call is wrong" $? 2
fails "a file that is not there" animfs text nothing.canm
cd "$root" || exit 1
