#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# concurrent.sh - one file is changed from several sides at once: by two mounts of one SOURCE, by programs
# that copy over the binary and take no lock, by renames of the clip, by an unmount. No accepted edit is
# lost, and the binary is always complete. $ROUNDS (1) is the number of rounds.
. "$(dirname "$0")/lib.sh"
ROUNDS=${ROUNDS:-1}
TIMES=$((4 * ROUNDS))
WRITERS=$(realpath "$(dirname "$0")/writers.py")
make_game --files 1 --clips 2 --bones 16 --frames 10 --plain 0 --version 512
file=$(cd "$SRC" && find . -name '*.canm' -printf '%P\n')
cp "$SRC/$file" "$WORK/original.canm"
fresh() { cp "$WORK/original.canm" "$WORK/a.new" && mv "$WORK/a.new" "$SRC/$file"; }
writers() { python3 "$WRITERS" "$@"; }
bone_value() { "$ANIMFS" cat "$SRC/$file/$1" | sed -n 2p | cut -d, -f6; }

# why MOUNT: what .animfs/errors says there
why() { sed 's/^/\n/' "$1/.animfs/errors"; }

mount_animfs
clip=$(cd "$MNT/$file" && ls -d */ | head -n 1)
clip=${clip%/}
mapfile -t bones < <(cd "$MNT/$file" && ls "$clip"/bones/*.csv)

# ---- two mounts ----

ONE=$MNT
mkdir "$WORK/other"
MNT=$WORK/other mount_animfs
for how in rename fsync close; do
	writers edit "$how" $TIMES "$ONE/$file" "${bones[@]:0:8}" >"$WORK/one" 2>&1 &
	first=$!
	writers edit "$how" $TIMES "$WORK/other/$file" "${bones[@]:8:8}" >"$WORK/two" 2>&1
	is "$how: the second mount's saves" "$? $(<"$WORK/two")$(why "$WORK/other")" "0 $((8 * TIMES)) saved, 0 refused"
	wait $first
	is "$how: the first mount's saves" "$? $(<"$WORK/one")$(why "$ONE")" "0 $((8 * TIMES)) saved, 0 refused"
	ok "$how: the last of each is in the binary" writers holds $TIMES "$ANIMFS" "$SRC/$file" "${bones[@]}"
	ok "$how: the first mount shows them all" wait_for 3 writers shows $TIMES "$ONE/$file" "${bones[@]}"
	ok "$how: so does the second" wait_for 3 writers shows $TIMES "$WORK/other/$file" "${bones[@]}"
	fresh
done
is "no temporary is left" "$(find "$SRC" -name '.animfs?*')" ""
MNT=$WORK/other umount_animfs

# ---- others replace the binary, without a lock ----

# What they bring differs in the last bone: whose value is there, and which edits were before.
cp "$WORK/original.canm" "$WORK/left.canm"
cp "$WORK/original.canm" "$WORK/right.canm"
for side in left right; do
	"$ANIMFS" cat "$WORK/$side.canm/${bones[15]}" >"$WORK/text"
	value=$([ $side = left ] && echo 11 || echo 22)
	awk -F, -v OFS=, -v v="$value" 'NR == 2 { $6 = v } { print }' "$WORK/text" |
		"$ANIMFS" put "$WORK/$side.canm/${bones[15]}"
done
replace_by()
{
	local i
	for ((i = 0; i < 8 * ROUNDS; i++)); do
		for side in left right; do
			case $1 in
			mv) cp "$WORK/$side.canm" "$SRC/$file.tmp" && mv "$SRC/$file.tmp" "$SRC/$file" ;;
			cp) cp "$WORK/$side.canm" "$SRC/$file" ;;
			esac
			sleep 0.02
		done
	done
}
for how in mv cp; do
	replace_by $how &
	replacing=$!
	# Those that read SOURCE meanwhile: with mv, only whole files.
	writers watch "$ANIMFS" "$SRC/$file" "$WORK/stop" >"$WORK/seen" 2>&1 &
	watching=$!
	writers storm $((10 * ROUNDS)) "$MNT/$file" "${bones[@]:0:4}" >"$WORK/storm" 2>&1
	like "$how over the binary meanwhile: saves end as they may" "$? $(<"$WORK/storm")" \
		'^0 [0-9]+ saved, [0-9]+ refused$'
	wait $replacing
	: >"$WORK/stop"
	wait $watching
	rm "$WORK/stop"
	[ $how = cp ] || is "$how: every version that was seen is whole" "$(<"$WORK/seen")" ""
	ok "$how: the file is sound" "$ANIMFS" check "$SRC/$file"
	is "$how: what they brought last is there" "$(bone_value "${bones[15]}" | cut -d. -f1)" 22
	# For as long as the kernel believes it, what was half a binary is a file.
	ok "$how: the folder is there" wait_for 3 test -d "$MNT/$file/$clip"
	ok "$how: and a save on top of it" writers edit close 3 "$MNT/$file" "${bones[0]}"
	ok "$how: is there" writers holds 3 "$ANIMFS" "$SRC/$file" "${bones[0]}"
	is "$how: with what they brought" "$(bone_value "${bones[15]}" | cut -d. -f1)" 22
	fails "$how: no temporary is left" grep -q . <(find "$SRC" -name '.animfs?*')
	rm -f "$SRC/.animfs/rejected/$file/$clip/bones"/*
done

# ---- the clip is renamed while a bone is open ----

fresh
python3 - "$MNT/$file" "$clip" "${bones[3]##*/}" <<'PYTHON'
import os, sys

folder, clip, bone = sys.argv[1:]
path = "%s/%s/bones/%s" % (folder, clip, bone)
lines = open(path).read().split("\n")
cells = lines[1].split(",")
cells[5] = "33"
lines[1] = ",".join(cells)
fd = os.open(path, os.O_RDWR)
os.pwrite(fd, b"x", 0)
os.rename("%s/%s" % (folder, clip), folder + "/renamed")
os.ftruncate(fd, 0)
os.pwrite(fd, "\n".join(lines).encode(), 0)
os.fsync(fd)
os.close(fd)
PYTHON
is "a bone that was open while its clip was renamed: the save" $? 0
is "is in the clip by its new name" "$(bone_value "renamed/bones/${bones[3]##*/}" | cut -d. -f1)" 33
fails "and the old one is gone" test -e "$MNT/$file/$clip"
is "nothing was refused" "$(find "$SRC/.animfs" -name '*.rejected')" ""
mv "$MNT/$file/renamed" "$MNT/$file/$clip"

# A value that the handle saved before the clip was renamed, and saves again after it.
fresh
python3 - "$MNT/$file" "$clip" "${bones[3]##*/}" <<'PYTHON'
import os, subprocess, sys

folder, clip, bone = sys.argv[1:]
fd = os.open("%s/%s/bones/%s" % (folder, clip, bone), os.O_RDWR)
lines = os.pread(fd, 1 << 20, 0).split(b"\n")

def save(value):
    cells = lines[1].split(b",")
    cells[5] = value
    os.ftruncate(fd, 0)
    os.pwrite(fd, b"\n".join(lines[:1] + [b",".join(cells)] + lines[2:]), 0)
    os.fsync(fd)

save(b"44")
save(b"55")
subprocess.run(["mv", "%s/%s" % (folder, clip), folder + "/renamed"], check=True)
save(b"44")
os.close(fd)
PYTHON
is "saved again through the handle after another program's rename" "$? $(grep /renamed/ "$MNT/.animfs/errors")" "0 "
is "is so in the binary" "$(bone_value "renamed/bones/${bones[3]##*/}" | cut -d. -f1)" 44
mv "$MNT/$file/renamed" "$MNT/$file/$clip"

# Many times, with others that save what is in it: by whatever name, each bone has its last value.
fresh
writers handles $TIMES "$MNT/$file" "$WORK/begun" "${bones[@]:0:6}" >"$WORK/renamed" 2>&1 &
saving=$!
ok "bones are open" wait_for 10 test -e "$WORK/begun"
for ((i = 0; i < 5 * ROUNDS; i++)); do
	mv "$MNT/$file/$clip" "$MNT/$file/$clip.b" && mv "$MNT/$file/$clip.b" "$MNT/$file/$clip"
done
wait $saving
is "their saves while the clip is renamed back and forth" "$? $(<"$WORK/renamed")" "0 $((6 * TIMES)) saved, 0 refused"
ok "the last of each is in the binary" writers holds $TIMES "$ANIMFS" "$SRC/$file" "${bones[@]:0:6}"

# ---- unmounted with drafts that nobody closed ----

fresh
cp "$WORK/original.canm" "$SRC/second.canm"
writers leave "$WORK/left" "$MNT/$file" "$MNT/second.canm" "${bones[@]:0:8}" &
leaving=$!
ok "drafts are open" wait_for 10 test -e "$WORK/left"
PID=${DAEMON[$MNT]}
kill -TERM "$PID"
ok "the daemon ends" wait_for 20 is_gone "$PID"
wait "$PID"
is "well" $? 0
unset "DAEMON[$MNT]"
kill $leaving
wait $leaving 2>/dev/null
for f in "$file" second.canm; do
	ok "$f: what was valid is in the binary" writers holds 7 "$ANIMFS" "$SRC/$f" \
		"${bones[0]}" "${bones[2]}" "${bones[4]}" "${bones[6]}"
	is "$f: and what was not is kept" "$(grep -l nonsense "$SRC/.animfs/rejected/$f/$clip/bones"/*.rejected |
		sed 's,.*/,,' | sort | paste -sd ' ')" \
		"$(for i in 1 3 5 7; do echo "${bones[i]##*/}.rejected"; done | sort | paste -sd ' ')"
done
ok "the first file is sound" "$ANIMFS" check "$SRC/$file"
ok "the second, too" "$ANIMFS" check "$SRC/second.canm"
