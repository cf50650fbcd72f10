#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# mapped.sh - a program that has mapped a text keeps it, whatever view the text is renamed onto and whatever
# happens to it there: only writes to that very file change it.
. "$(dirname "$0")/lib.sh"
for name in a b; do cp tests/data/canm/wiki512.canm "$SRC/$name.canm"; done

# mapped OLD NEW [MS [COPY VIEW]...]: OLD is mapped and renamed onto NEW, the clock is moved on, and it is
# read again. Before that the same program writes each COPY into its VIEW.
cat >"$WORK/mapped.py" <<'PYTHON'
import mmap, os, sys

clock, old, new, pause = sys.argv[1:5]
fd = os.open(old, os.O_RDONLY)
text = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
before = text[:]
for copy, view in zip(sys.argv[5::2], sys.argv[6::2]):
    with open(copy, "rb") as data, open(view, "wb") as out:
        out.write(data.read())
os.rename(old, new)
with open(clock, "w") as out:
    out.write(pause)
text.madvise(mmap.MADV_DONTNEED)
print("the same" if text[:] == before else "another")
print(os.fstat(fd).st_size - len(before), os.pread(fd, len(before) + 1, 0) == before)
PYTHON
mapped() { python3 "$WORK/mapped.py" "$MNT/.animfs/clock" "$1" "$2" "${3:-0}" "${@:4}" 2>&1 | paste -sd ' '; }
says() { cmp -s "$1" "$2"; }

mount_stopped
TOP=$MNT/b.canm/walk
A=$MNT/a.canm/walk
cp "$TOP/curves.csv" "$WORK/old.csv"
cp "$TOP/clip.svg" "$WORK/old.svg"
# All that is in x is one digit, so that every text that follows is shorter.
awk -F, -v OFS=, 'NR > 1 && $3 != "" { $3 = 1 } { print }' "$TOP/bones/Bone01.csv" >"$WORK/bone.csv"
cp "$SRC/b.canm" "$WORK/c.canm"
ok "another text" "$ANIMFS" put "$WORK/c.canm/walk/bones/Bone01.csv" <"$WORK/bone.csv"
"$ANIMFS" cat "$WORK/c.canm/walk/curves.csv" >"$WORK/new.csv"
ok "is shorter" test "$(stat -c %s "$WORK/new.csv")" -lt "$(stat -c %s "$WORK/old.csv")"

# The texts of a folder that come back: one is edited, the others are copies.
cp "$TOP/bones/Bone01.json" "$WORK/old.json"
BACK=("$WORK/bone.csv" "$TOP/bones/Bone01.csv" "$WORK/old.json" "$TOP/bones/Bone01.json")
cp "$WORK/old.csv" "$TOP/temporary"
is "an old copy renamed onto a view" "$(mapped "$TOP/temporary" "$TOP/curves.csv" 0 "${BACK[@]}")" "the same 0 True"
ok "which it changes nothing of" says "$TOP/curves.csv" "$WORK/new.csv"
is "a view renamed onto another file's" "$(mapped "$A/curves.csv" "$TOP/curves.csv" 300 "${BACK[@]}")" "the same 0 True"
ok "of which the same is true" says "$TOP/curves.csv" "$WORK/new.csv"

# A generated text of another version.
cp "$WORK/old.svg" "$TOP/temporary"
is "an old picture renamed onto a view" "$(mapped "$TOP/temporary" "$TOP/clip.svg")" "the same 0 True"
fails "which shows what is there" says "$TOP/clip.svg" "$WORK/old.svg"

# The texts that the view has from then on are another one in the end, rendered again, and that one.
sed 's/$/\r/' "$TOP/curves.csv" >"$TOP/temporary"
is "lines that end otherwise" "$(mapped "$TOP/temporary" "$TOP/curves.csv" 3000)" "the same 0 True"
sed 's/,/;/g' "$TOP/bones/Bone01.csv" >"$TOP/temporary"
is "another separator" "$(mapped "$TOP/temporary" "$TOP/bones/Bone01.csv" 3000)" "the same 0 True"
umount_animfs
