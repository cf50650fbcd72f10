#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# cas.sh - CAS files of the Earth Defense Force games, the containers of CANM: edits leave everything around
# the animations unchanged, and a file that is not understood is read-only, with a reason.
. "$(dirname "$0")/lib.sh"
cp tests/data/cas/*.cas "$SRC"

# records FILE: all that the records say, names as text, and the bytes that are no names' offsets.
records()
{
	python3 - "$1" <<'PYTHON'
import struct, sys

data = open(sys.argv[1], "rb").read()
version, canm = struct.unpack_from("<II", data, 4)
size = 0x24 if version == 0x200 else 0x34
rest = bytearray(data[:canm])

def u32(at):
    return struct.unpack_from("<I", data, at)[0]

def follow(record, field):
    return record + struct.unpack_from("<i", data, record + field)[0]

def name(record, kind):
    rest[record:record + 4] = bytes(4)
    end = at = follow(record, 0)
    while data[end:end + 2] != bytes(2):
        end += 2
    print(kind, record, data[at:end].decode("utf-16le"))

def table(field, length):
    return [u32(field + 4) + i * length for i in range(u32(field))]

for at in table(0x0C, 0x0C):
    name(at, "TControl")
for at in table(0x14, 0x14):
    name(at, "VControl")
for at in table(0x24, 4):
    name(at, "Bone")
for at in table(0x1C, 0x0C):
    name(at, "AnmGroup")
    for i in range(u32(at + 4)):
        name(follow(at, 8) + i * 0x24, "MCAnm")
print(rest.hex())
PYTHON
}

# changes FILE NAME COMMAND...: COMMAND changes the file, and none of its records.
changes()
{
	local file=$SRC/$1 name=$2 before
	shift 2
	before=$(records "$file")
	cp "$file" "$WORK/before.cas"
	ok "$name" "$@"
	fails "$name: the file is another one" cmp "$file" "$WORK/before.cas"
	is "$name: the records are the same" "$(records "$file")" "$before"
	ok "$name: it checks" "$ANIMFS" check "$file"
}

save() { printf '%s\n' "$2" >"$1"; }
sizes() { stat -c %s "$SRC/$1"; }

mount_animfs
is "the folder" "$(ls -1 "$MNT/v200.cas")" $'Idle\nempty\nfile.json\nraw.cas\nskeleton.csv\nwalk\n攻撃_01'
ok "raw.cas is the file" cmp "$MNT/v200.cas/raw.cas" "$SRC/v200.cas"
like "its type" "$(<"$MNT/v203.cas/file.json")" '"type": "cas", "version": 515,'
like "fields are under its name" "$(<"$MNT/v204.cas/turn/clip.json")" '"cas": \{"loop": 1\}'

for file in v200 v203; do
	bone=$MNT/$file.cas/walk/bones/Bone01.csv
	clip=$MNT/$file.cas/walk/clip.json
	before=$(sizes $file.cas)
	changes $file.cas "$file: loop" sed -i 's/"loop": true/"loop": false/' "$clip"
	is "$file: takes no room" "$(sizes $file.cas)" "$before"
	changes $file.cas "$file: another scale" save "$bone" "$(sed 's/,1.5,1.5,1.5$/,1.25,1.5,1.5/' "$bone")"
	like "$file: is there" "$(<"$bone")" ',1.25,1.5,1.5'
	changes $file.cas "$file: a position in each frame" save "$bone" "$(sed 's/^\([12],[^,]*\),,,,/\1,\1,7,/' "$bone")"
	ok "$file: takes some" test "$(sizes $file.cas)" -gt "$before"
	before=$(sizes $file.cas)
	changes $file.cas "$file: a longer name" save "$clip" "$(sed 's/{"bone": "Bone01"/{"bone": "Bone_with_a_long_name", "was": "Bone01"/; s/"name": "Bone01"//; s/", }/"}/' "$clip")"
	ok "$file: takes more" test "$(sizes $file.cas)" -gt "$before"
	before=$(sizes $file.cas)
	changes $file.cas "$file: a bone less" save "$clip" "$(python3 -c '
import json, sys
clip = json.load(open(sys.argv[1]))
del clip["bones"][-1]
print(json.dumps(clip))' "$clip")"
	ok "$file: takes less" test "$(sizes $file.cas)" -lt "$before"
done
changes v204.cas "v204: sed -i" sed -i 's/,0,1.002,2.006$/,0.5,1.002,2.006/' "$MNT/v204.cas/turn/bones/body.csv"
like "v204: is there" "$(<"$MNT/v204.cas/turn/bones/body.csv")" $',0.5,1.002,2.006\n'
umount_animfs

# A word of the padding before the CANM that nobody knows.
damage()
{
	python3 - "$@" <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
data[struct.unpack_from("<I", data, 8)[0] - 1] = 1
open(sys.argv[2], "wb").write(data)
PYTHON
}
damage tests/data/cas/v203.cas "$SRC/odd.cas"
cp "$SRC/odd.cas" "$WORK/odd.cas"
mount_animfs
bone=$MNT/odd.cas/walk/bones/Bone01.csv
reason='a byte that belongs to no record \(at byte 0x[0-9a-f]+\)'
text=$(<"$bone")
like "damaged: shown" "$text" '^frame,time,'
like "damaged: the reason" "$(<"$MNT/odd.cas/file.json")" "\"read_only\": \"$reason\""
like "damaged: among the errors" "$(<"$MNT/.animfs/errors")" "odd.cas: read-only: $reason"
is "damaged: views are read-only" "$(stat -c %a "$bone" "$MNT/odd.cas/file.json" "$MNT/odd.cas/walk/clip.json" | sort -u)" 444
is "damaged: others are not" "$(stat -c %a "$MNT/v200.cas/file.json")" 644
is "damaged: opening one to write" "$(save_errno close "$bone" "$text")" EACCES
like "damaged: truncating one" "$(truncate -s 0 "$bone" 2>&1)" 'Permission denied'
is "damaged: a rename onto one" "$(save_errno rename "$bone" "${text/1.5/2.5}")" EBADMSG
like "damaged: and without a mount" "$("$ANIMFS" put "$SRC/odd.cas/walk/bones/Bone01.csv" <<<"${text/1.5/2.5}" 2>&1)" "this CAS is read-only: $reason"
like "damaged: the reason beside it" "$(<"$bone.error")" "this CAS is read-only: $reason"
is "damaged: and the text" "$(<"$bone.rejected")" "${text/1.5/2.5}"
fails "damaged: a clip keeps its name" mv "$MNT/odd.cas/walk" "$MNT/odd.cas/run"
is "damaged: the text stays" "$(<"$bone")" "$text"
ok "damaged: the file stays" cmp "$SRC/odd.cas" "$WORK/odd.cas"
ok "damaged: its own text is no change" test "$(save_errno rename "$bone" "$text"$'\n')" = 0
ok "damaged: it can be replaced" cp tests/data/cas/v203.cas "$MNT/odd.cas/raw.cas"
ok "replaced: no reason any more" wait_for 3 eval '! grep -q read_only "$MNT/odd.cas/file.json"'
is "replaced: it is writable" "$(save_errno close "$bone" "${text/1.5/2.5}"$'\n')" 0
like "replaced: and written" "$(<"$bone")" 2.5
no_error() { ls -l "$MNT" >/dev/null && ! grep -q odd.cas "$MNT/.animfs/errors"; }
ok "replaced: and no error" wait_for 3 no_error
umount_animfs
