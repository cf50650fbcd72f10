#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# owanim.sh - Overwatch animations: keys that are added and removed with rows and cells, and bones named by
# bone-names.csv.
. "$(dirname "$0")/lib.sh"
cp tests/data/owanim/*.006 "$SRC"
ORIGINALS=$PWD/tests/data/owanim

save() { printf '%s\n' "$2" >"$1"; }
checks() { ok "$1: it checks" "$ANIMFS" check "$SRC/$1"; }

mount_animfs --rotations=stored
bone=$MNT/small.006/small/bones/bone_0E7A.csv
clip=$MNT/small.006/small/clip.json

# ---- keys ----

like "the folder" "$(ls -1 "$MNT/small.006")" $'raw.006\n(.*\n)?small'
is "a bone" "$(<"$bone")" 'frame,time,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz
0,0,,,,0.7071517,0.7070618,0.000043158264,0.000021579132,1,12.046875,1
1,0.033333,,,,0.7608207,-0.37025475,-0.5054264,-0.16913724,,,'
ok "its own text" save "$bone" "$(<"$bone")"
ok "its own text: nothing is written" cmp "$SRC/small.006" "$ORIGINALS/small.006"
ok "a value" sed -i 's/,12.046875,/,2.5,/' "$bone"
is "a value: two bytes differ" "$(cmp -l "$SRC/small.006" "$ORIGINALS/small.006" | wc -l)" 2
ok "a key is added" save "$bone" "$(<"$bone")"$'\n3,,1,2,3,,,,,,,'
like "a key is added: it is there" "$(<"$bone")" '3,,1,2,3,,,,,,,'
checks small.006
ok "a key is removed" sed -i '/^3,/d' "$bone"
ok "a key is blanked" sed -i 's/^0,.*/0,0,,,,0.7071517,0.7070618,0.000043158264,0.000021579132,,,/' "$bone"
is "keys are gone" "$(cut -d, -f1,10- "$bone")" $'frame,sx,sy,sz\n0,,,\n1,,,'
checks small.006
ok "undone" cp "$ORIGINALS/small.006" "$MNT/small.006/raw.006"

# ---- what is refused ----

is "a scale out of range" "$(save_errno close "$bone" "$(sed 's/,12.046875,/,64,/' "$bone")"$'\n')" EBADMSG
like "a scale out of range: the range" "$(<"$bone.error")" '0 to 63.999'
rm -f "$bone".*
is "no rotation" "$(save_errno close "$bone" "$(sed 's/0.7071517/0.9/' "$bone")"$'\n')" EBADMSG
like "no rotation: its length" "$(<"$bone.error")" 'has length 1.1'
ok "refused: nothing is written" cmp "$SRC/small.006" "$ORIGINALS/small.006"
rm -f "$bone".*

# ---- the clip ----

long=$MNT/n255.006/n255/clip.json
ok "a frame more" sed -i 's/"frames": 255/"frames": 256/' "$long"
like "a frame more: the duration follows" "$(<"$long")" '"frames": 256, "duration": 8.5,'
ok "a frame more: indices are wider" test "$(stat -c %s "$SRC/n255.006")" -gt "$(stat -c %s "$ORIGINALS/n255.006")"
checks n255.006
ok "and back" sed -i 's/"frames": 256/"frames": 255/' "$long"
ok "and back: as it was" cmp "$SRC/n255.006" "$ORIGINALS/n255.006"
ok "another bone" sed -i 's/"bone": "bone_1BB5"/"bone": "bone_12345678", "was": "bone_1BB5"/' "$clip"
is "another bone: its number is stored" "$(od -An -tx4 -j84 -N4 "$SRC/small.006")" ' 12345678'
is "a name without a number" "$(save_errno close "$clip" "$(sed 's/"bone": "bone_11EA"/"bone": "hips", "was": "bone_11EA"/' "$clip")"$'\n')" EBADMSG
rm -f "$clip".*

# ---- names ----

bones() { ls -1 "$MNT/small.006/small/bones"; }
called() { bones | grep -qx "$1.csv"; }
is_error() { grep -q "$1" "$MNT/.animfs/errors"; }

# Maps the clip's text, has a table of names written, and waits until the mapping says its name.
# A new mapping has the new names, and the old one stays as it is.
mapping_follows()
{
	python3 - "$clip" "$SRC/bone-names.csv" <<'PYTHON'
import mmap, sys, time
def mapping():
    with open(sys.argv[1], "rb") as f:
        return mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)

old = mapping()
text = old[:]
assert b"hips" not in text
with open(sys.argv[2], "w") as table:
    table.write("id,name\n3706,hips\n0x11EA,spine\n")
end = time.monotonic() + 120
while b'"hips"' not in mapping()[:]:
    assert time.monotonic() < end, mapping()[:]
    time.sleep(0.02)
assert old[:] == text
PYTHON
}
ok "a new mapping follows" mapping_follows
ok "named" wait_for 5 called hips
is "all of them" "$(bones | grep csv)" $'bone_12345678.csv\nhips.csv\nspine.csv'
ok "an edit by a name" sed -i 's/,12.046875,/,1.5,/' "$MNT/small.006/small/bones/hips.csv"
like "an edit by a name: it is there" "$(<"$MNT/small.006/small/bones/hips.csv")" ',1,1.5,1'
ok "renamed by a name" sed -i 's/"bone": "spine"/"bone": "bone_0005", "was": "spine"/' "$clip"
is "renamed by a name: its number" "$(od -An -tx4 -j88 -N4 "$SRC/small.006")" ' 00000005'
ok "through the mount" save "$MNT/bone-names.csv" $'id;name\n5;tail'
ok "through the mount: named" wait_for 5 called tail
save "$SRC/bone-names.csv" $'id,name\n5,tail\nx,head'
ok "a bad table: not used" wait_for 5 called bone_0005
ok "a bad table: among the errors" wait_for 5 is_error 'bone-names.csv: not used: line 3: "x" is not the number'
like "a bad table: in the log" "$(<"$LOG")" 'bone-names.csv: not used: line 3'
rm "$SRC/bone-names.csv"
no_error() { bones >/dev/null && ! is_error bone-names.csv; }
ok "no table: no error" wait_for 5 no_error
is "no table: no names" "$(bones | head -n 1)" bone_0005.csv
checks small.006
umount_animfs

# ---- without a mount ----

save "$SRC/bone-names.csv" $'id,name\n3706,hips'
like "ls" "$("$ANIMFS" ls "$SRC/small.006/small/bones")" 'hips.csv'
like "cat" "$("$ANIMFS" cat "$SRC/small.006/small/bones/hips.csv")" '^frame,time'
ok "put" "$ANIMFS" put "$SRC/small.006/small/bones/hips.csv" < <("$ANIMFS" cat "$SRC/small.006/small/bones/hips.csv")
save "$SRC/bone-names.csv" $'id,name\n3706,hips\n3706,head'
like "a bad table" "$("$ANIMFS" check "$SRC/small.006" 2>&1)" 'bone-names.csv: not used: line 3: the number of bone 0xE7A is listed twice'
