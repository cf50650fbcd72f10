#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# skeleton.sh - skeleton.csv shows the bones of the files beside the animation, stills follow it, and
# changes of those files are noticed.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
cp tests/data/ff9anim/bones024.ff9anim "$SRC"
mount_animfs
HEAD=bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz
SHOWN=$MNT/wiki512.canm/skeleton.csv
STILL=$MNT/wiki512.canm/walk/frames/frame_00000.x3d
BONE=$MNT/wiki512.canm/walk/bones/Bone01.json

# has FILE LINE: for wait_for
has() { grep -qxF -- "$2" "$1"; }
size_is_true() { [ "$(stat -c %s "$1")" = "$(cat "$1" | wc -c)" ]; }

is "nothing is known at first" "$(head -n 3 "$SHOWN")" "$HEAD"$'\n''Scene_Root,,,,,,,,,,'$'\n''Bone01,,,,,,,,,,'
like "bones are crosses" "$(<"$STILL")" IndexedLineSet
printf 'bone,parent,ty\nBone01,Scene_Root,1.5\nScene_Root,,\n' >"$SRC/skeleton.csv"
ok "the folder's table is seen" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,1.5,0,0,0,0,1,1,1'
like "bones are bodies" "$(<"$STILL")" IndexedFaceSet
ok "st_size is what is read" wait_for 3 size_is_true "$STILL"
like "a bone's JSON says parent and rest" "$(<"$BONE")" \
	'"parent": "Scene_Root",.*"rest": .*"translation": \[0, 1\.5, 0\]'
ok "in all its size" wait_for 3 size_is_true "$BONE"
ok "and is edited as ever" sed -i s/0.25/0.5/ "$BONE"
like "with what the file stores" "$(<"${BONE%.json}.csv")" '0,0,1\.5,-2,0\.5,'
fails "but the parent elsewhere" sed -i s/Scene_Root/Bone02/ "$BONE"
rm "$BONE".{error,rejected}
printf 'bone,parent,ty\nBone01,Scene_Root,2\nScene_Root,,\n' >"$SRC/wiki512.canm.skeleton.csv"
ok "the file's own goes before it" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,2,0,0,0,0,1,1,1'
printf 'bone,parent,ty\nBone01,Nobody,2\n' >"$SRC/wiki512.canm.skeleton.csv"
ok "one that cannot be read stands in the way" wait_for 3 has "$SHOWN" 'Bone01,,,,,,,,,,'
rm "$SRC/wiki512.canm.skeleton.csv"
ok "until it is gone" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,1.5,0,0,0,0,1,1,1'

# Two bones, the second at the end of the first.
printf '\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\234\377\0\0' >"$SRC/bones024.ff9model"
ok "a model goes before the folder's table" wait_for 3 \
	has "$MNT/bones024.ff9anim/skeleton.csv" 'bone_001,bone_000,0,0,-100,0,0,0,1,1,1'

mdb() { "$(dirname "$0")/mdb.py" "$SRC/$1" "$2"; }
mdb body.mdb 3
ok "the only model of the folder" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,3,0,0,0,0,1,1,1'
mdb Wiki512.MDB 4
ok "one of the same name goes before it" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,4,0,0,0,0,1,1,1'
mv "$SRC/Wiki512.MDB" "$SRC/other.mdb"
ok "of two others none is it" wait_for 3 has "$SHOWN" 'Bone01,Scene_Root,0,1.5,0,0,0,0,1,1,1'
rm "$SRC"/*.mdb

cp tests/data/ribbon/duplicate.anm "$SRC"
printf '\101\0\0\0\0\0\0\0\3\0\0\0%084d' 0 >"$SRC/duplicate.tmd"
ok "a TMD says how many objects there are" wait_for 3 has "$MNT/duplicate.anm/skeleton.csv" 'object_002,,0,0,0,0,0,0,1,1,1'
fails "which hang from nothing" sed -i '/^object_002/s/,/,object_000/' "$MNT/duplicate.anm/skeleton.csv"
like "and that is said" "$(<"$MNT/duplicate.anm/skeleton.csv.error")" 'object_002 has a parent; ribbon files store none'

cp "$SHOWN" "$WORK/own.csv"
ok "its own text can be saved back" cp "$WORK/own.csv" "$SHOWN"

# Views follow, whatever says the skeleton and whoever changes it: as new texts under their names.
# follow WANTED COMMAND: views of both files are mapped, COMMAND runs; how many say another text to who
# opens them then, once they are as many as is WANTED. Every mapping keeps its own, but that of the view
# which the command writes.
follow()
{
	python3 - "$@" "$MNT"/wiki512.canm/{skeleton.csv,walk/{clip.x3d,clip.gltf,frames/frame_00001.x3d}} \
		"$MNT"/bones024.ff9anim/{skeleton.csv,bones024/clip.x3d} <<'PYTHON'
import mmap, subprocess, sys, time

def read(path):
    with open(path, "rb") as file:
        return file.read()

wanted, command, paths = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
files = [open(path, "rb") for path in paths]
maps = [mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) for f in files]
old = [m[:] for m in maps]
assert subprocess.call(["bash", "-c", command]) == 0
end = time.monotonic() + 120
now = old
while time.monotonic() < end and sum(a != b for a, b in zip(now, old)) < wanted:
    time.sleep(0.02)
    now = [read(path) for path in paths]
time.sleep(0.5)  # whether there are more
now = [read(path) for path in paths]
for path, view, before in zip(paths, maps, old):
    if view[:] != before and path not in command:
        print(path, "was mapped as", before[:200], "and says", view[:200])
        sys.exit(1)
print(sum(a != b for a, b in zip(now, old)))
PYTHON
}
cd "$SRC" || exit 1
say() { printf 'bone,parent,ty\nBone01,Scene_Root,\nScene_Root,floor,\nfloor,,%s\n' "$1"; }
export -f say
is "the file's own is made" "$(follow 4 "say 3 >wiki512.canm.skeleton.csv")" 4
is "written in place" "$(follow 4 "say 4 >wiki512.canm.skeleton.csv")" 4
is "replaced" "$(follow 4 "sed -i 's/4/5/' wiki512.canm.skeleton.csv")" 4
is "through the mount" "$(follow 4 "sed -i 's/5/6/' '$MNT/wiki512.canm.skeleton.csv'")" 4
is "as the view" "$(follow 4 "say 7 >'$SHOWN'")" 4
is "and removed" "$(follow 4 "rm wiki512.canm.skeleton.csv")" 4
is "the folder's table" "$(follow 4 "say 8 >skeleton.csv")" 4
is "a model" "$(follow 2 "printf '\\373' | dd of=bones024.ff9model bs=1 seek=24 conv=notrunc status=none")" 2
cd - >/dev/null || exit 1
umount_animfs
