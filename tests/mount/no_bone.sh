#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# no_bone.sh - in bones/, cp, mv and rm of texts make, rename and remove no bones; .animfs/errors says so, and
# what does. Programs that save with files of their own there leave no lines.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/w.canm"
cp tests/data/canm/wiki512.canm "$SRC/u.canm"
"$ANIMFS" bone rename "$SRC/u.canm/walk" hip Zähne
"$ANIMFS" clip rename "$SRC/u.canm/Idle" Gähn
mount_stopped
bones=$MNT/w.canm/walk/bones
errors=$MNT/.animfs/errors

cp "$bones/hip.csv" "$bones/tail.csv"
like "cp of a text under another name" "$(<"$errors")" \
	'^w\.canm/walk/bones/tail\.csv: no bone: .*animfs bone add makes a bone'
mv "$bones/tail.csv" "$bones/arm.csv"
like "mv of it" "$(<"$errors")" '^w\.canm/walk/bones/arm\.csv: no bone: '
is "leaves no line of the old name" "$(grep -c 'tail\.csv' "$errors")" 0
rm "$bones/arm.csv"
is "rm of it leaves no line" "$(grep -c 'no bone' "$errors")" 0

mv "$bones/hip.csv" "$bones/leg.csv"
like "mv of a bone's text" "$(<"$errors")" '^w\.canm/walk/bones/leg\.csv: no bone: '
is "says nothing of the bone at once" "$(grep -c 'hip\.csv' "$errors")" 0
advance 2500
ok "the bone's text comes back" test -e "$bones/hip.csv"
like "with a line" "$(<"$errors")" \
	$'\nw\.canm/walk/bones/hip\.csv: came back: [^\n]*animfs bone remove removes it'
rm "$bones/leg.csv"

rm "$bones/Bone01.csv" "$bones/Scene_Root.csv"
advance 2500
ok "as do texts that were removed" test -e "$bones/Bone01.csv" -a -e "$bones/Scene_Root.csv"
is "with one line for them" "$(grep -cE '(Bone01|Scene_Root)\.csv: came back: ' "$errors")" 1

# ---- nothing of these ----
before=$(<"$errors")
sed -i 's/,0.5000076,/,0.25,/' "$bones/hip.csv"
cp "$bones/hip.csv" "$WORK/new.csv"
cp "$WORK/new.csv" "$bones/hip.csv~"
cp "$WORK/new.csv" "$bones/.hip.csv"
rm "$bones/hip.csv~" "$bones/.hip.csv"
rm "$bones/hip.csv"
cp "$WORK/new.csv" "$bones/hip.csv"
cp "$WORK/new.csv" "$bones/hip.tmp.csv"
mv "$bones/hip.tmp.csv" "$bones/hip.csv"
advance 2500
cp -r "$MNT/w.canm/walk" "$MNT/w.canm/stroll"
advance 2500
ok "a clip is copied" test -e "$MNT/w.canm/stroll/bones/hip.csv"
rm -r "$MNT/w.canm/stroll"
advance 2500
ok "and removed" test ! -e "$MNT/w.canm/stroll"
is "what programs do to save leaves no line" "$(<"$errors")" "$before"

# ---- a name that looks the same ----
cp "$WORK/new.csv" "$MNT/u.canm/walk/bones/$(printf 'Za\xcc\x88hne.csv')"
like "a text whose name is in another form of Unicode: the line has the code points" "$(<"$errors")" \
	'no bone: its name looks like .* is written Za<U\+0308>hne\.csv and not Z<U\+00E4>hne\.csv; it is an ordinary file'
rm "$MNT/u.canm/walk/bones/$(printf 'Za\xcc\x88hne.csv')"
ok "the bone's text is where it was" grep -q ^frame, "$MNT/u.canm/walk/bones/Zähne.csv"
cp -r "$MNT/u.canm/Gähn" "$MNT/u.canm/$(printf 'Ga\xcc\x88hn')"
advance 2500
like "so has that of a clip" "$(<"$errors")" \
	$'u\\.canm/Ga\xcc\x88hn: new clip: [^\n]* looks like that of another clip, but is written Ga<U\\+0308>hn and not G<U\\+00E4>hn'
umount_animfs
