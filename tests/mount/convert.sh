#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# convert.sh - animfs convert: a whole file in another format; what is lost is listed first, and nothing
# is made unless that was agreed to. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
data=$PWD/tests/data
cd "$SRC" || exit 1
mkdir .animfs
cp "$data/canm/wiki512.canm" w.canm
cp "$data/canm/edf6_768.canm" e.canm
cp "$data/owanim/small.006" .
cp "$data/ribbon/flags7.anm" .
cp "$data/kanim/stick.kanim" .
animfs() { "$ANIMFS" "$@"; }
# run COMMAND...: OUT and STATUS
run()
{
	OUT=$("$ANIMFS" "$@" 2>&1)
	STATUS=$?
}

# ---- what fits ----
run convert --lossy small.006 small.canm
is "a file of another format: status" "$STATUS" 0
run diff small.006 small.canm
is "has the same poses" "$STATUS $OUT" "0 "
run convert small.canm back.006
is "what fits is made, and nothing is said" "$STATUS $OUT" "0 "
run diff small.canm back.006
is "with the same poses" "$STATUS $OUT" "0 "
run clip copy small.006/small clip.canm
ok "as a copy of its clips" cmp small.canm clip.canm

# ---- the same format ----
# Encoded anew, rotations of sparse.006 would be refused, names that no clip has be gone from
# odd512.canm, and a CAS could not be made at all.
for file in owanim/sparse.006 canm/odd512.canm cas/v204.cas; do
	run convert "$data/$file" "same.${file##*.}"
	is "$file: the same format" "$STATUS $OUT" "0 "
	ok "$file: is a copy" cmp "$data/$file" "same.${file##*.}"
done

# ---- the same as by texts ----
mkdir texts edited made
cp small.006 texts
animfs export texts edited >/dev/null 2>&1
mv edited/small.006 edited/small.canm
rm -f edited/small.canm/raw.*
animfs import edited made >/dev/null 2>&1
ok "the same as import makes of its texts" cmp small.canm made/small.canm

# ---- what does not ----
run convert w.canm w.006
is "what does not fit is refused: status" "$STATUS" 1
like "with what would be lost" "$OUT" '^animfs: w\.canm: owanim cannot store
Idle: the clip: owanim files hold one
攻撃_01: the clip: owanim files hold one
empty: the clip: owanim files hold one
walk: that it loops
walk: the names, which are numbers there, of 4 bones \([^
]*\)
animfs: w\.006: not made, since that would be lost
accepted here: --lossy, which makes it without$'
ok "and is not made" test ! -e w.006
run convert --lossy w.canm w.006
is "--lossy makes it" "$STATUS" 0
like "and lists the same" "$OUT" '^animfs: w\.canm: owanim cannot store
Idle: the clip'
is "with the bones" "$(animfs ls w.006/w/bones | grep -c 'csv$')" 4
is "that decodes" "$(animfs check w.006 2>&1)" "1 checked, 0 failed"
run convert e.canm e.ff9anim
like "a scale, for Final Fantasy IX" "$OUT" $'\nturn: the scale of [0-9]* bones? \('
like "frames of another length" "$OUT" $'\nturn: its [0-9]* frames: ff9anim files have 30 a second, which are [0-9]*\n'
run convert --lossy e.canm e.ff9anim
is "are left out" "$STATUS $(animfs check e.ff9anim 2>&1)" "0 1 checked, 0 failed"
run convert small.006 lost.canm
is "fields of its own, and what is not shown at all: status" "$STATUS" 1
is "are said" "$OUT" "animfs: small.006: canm cannot store
the file: bytes without a known meaning: in the header, the table or at the end
the file: effect_high 118489088, effect_low 4660
small: counter1 160
small: which frames have keys (all get one) of 3 bones (bone_0E7A, bone_1BB5, bone_11EA)
animfs: lost.canm: not made, since that would be lost
accepted here: --lossy, which makes it without"
ok "and not made" test ! -e lost.canm
run convert --lossy flags7.anm flags7.canm
is "keyframes become keys" "$STATUS $(animfs check flags7.canm 2>&1)" "0 1 checked, 0 failed"

animfs cat e.canm/turn/bones/Scene_Root.csv | sed 's/^0,0,0,0,0,/0,0,40000,0,-5,/' >far.csv
cp e.canm far.canm
ok "a bone far away" animfs put far.canm/turn/bones/Scene_Root.csv far.csv
run convert far.canm far.ff9anim
like "is out of range, which is said" "$OUT" \
	$'\nturn: the translation beyond -32768 to 32767 \\(the nearest end instead\\) of 1 bone \\(Scene_Root\\)\n'
ok "and not made" test ! -e far.ff9anim
run convert --lossy far.canm far.ff9anim
is "with --lossy it is at the end of the range" \
	"$STATUS $(animfs cat far.ff9anim/far/bones/bone_000.csv | sed -n 2p | cut -d, -f3-5)" "0 32767,0,-5"

# ---- mistakes ----
run convert w.canm small.006
is "a file that there is" "$STATUS $OUT" "1 animfs: small.006: there is such a file already"
run convert --lossy w.canm w.jpeg
is "no format" "$STATUS" 2
like "no format: says why" "$OUT" 'no format has this name'
run convert --lossy w.canm w.kanim
is "stills" "$STATUS" 1
like "stills: says why" "$OUT" 'is made of curves'
run convert none.canm x.006
is "no such file" "$STATUS $OUT" "2 animfs: none.canm: No such file or directory"
run convert w.canm/walk x.006
is "a part" "$STATUS $OUT" "2 animfs: w.canm/walk: a part of a file; expected only the file"
ok "nothing is left of them" test -z "$(compgen -G 'x.*')"
cd "$OLDPWD" || exit 1
