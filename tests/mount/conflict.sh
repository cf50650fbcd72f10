#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# conflict.sh - two editors at once: edits of different curves all land, and of two edits of the same
# curve the second is refused, with its text kept.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_stopped

fresh()
{
	cp "$SAMPLE" "$SRC/$1.canm"
	F=$MNT/$1.canm/$BONE
	BONES=${F%/*}
	OTHER=$SRC/$1.canm/${BONE%/*}
}

put() { sh -c "'$ANIMFS' cat '$1' | sed 's/$2/' | '$ANIMFS' put '$1'"; }
export -f put
export ANIMFS

fresh same
is "the same curve, saved by another program meanwhile" \
	"$(save_around "$F" "$NEW" bash -c "put '$OTHER/Bone01.csv' 1.5,-2/3.5,-2")" EBADMSG
like "the first edit stays" "$(<"$F")" '^frame[^'$'\n'']*.0,0,3\.5,-2'
ok "the second is kept" cmp "$F.rejected" "$NEW"
like "with the reason" "$(<"$F.error")" 'somebody|changed|meantime'

fresh other
is "another curve of the same bone" \
	"$(save_around "$F" "$NEW" bash -c "put '$OTHER/Bone01.csv' 1.5,1.5,1.5/1.25,1.5,1.5")" 0
like "both edits are there" "$("$ANIMFS" cat "$OTHER/Bone01.csv")" '0,0,2\.5,-2.*,1\.25[0-9]*,1\.5,1\.5'

fresh bones
is "another bone" "$(save_around "$F" "$NEW" bash -c "put '$OTHER/Scene_Root.csv' 0,0,0,0/0,0,7,0")" 0
like "both edits are there" "$(<"$F")$(<"$BONES/Scene_Root.csv")" '0,0,2\.5,-2.*0,0,7,0,0'
is "and nothing else" "$("$ANIMFS" cat "${OTHER%/*}/curves.csv" | diff - <("$ANIMFS" cat "$SAMPLE/walk/curves.csv") | grep -c '^<')" 2

fresh mount
is "another bone, through the mount" "$(save_around "$F" "$NEW" sed -i 2s/0,0,0,0/0,0,7,0/ "$BONES/Scene_Root.csv")" 0
like "both edits are there" "$(<"$F")$(<"$BONES/Scene_Root.csv")" '0,0,2\.5,-2.*0,0,7,0,0'

fresh json
is "the same bone, by its JSON" "$(save_around "$F" "$NEW" sed -i 's/\[1.5, -2/[4.5, -2/' "$BONES/Bone01.json")" EBADMSG
like "the JSON's edit stays" "$(<"$F")" 0,0,4.5,-2
ok "the CSV's is kept" cmp "$F.rejected" "$NEW"

fresh replaced
cp "$SAMPLE" "$WORK/replacing.canm"
put "$WORK/replacing.canm/walk/bones/hip.csv" 0,0,0,-1/0,0,1,-1
is "the binary replaced, with another curve changed" "$(save_around "$F" "$NEW" mv "$WORK/replacing.canm" "$SRC/replaced.canm")" 0
like "both edits are there" "$(<"$F")$(<"$BONES/hip.csv")" '0,0,2\.5,-2.*0,0,1,-1'

fresh gone
is "the binary removed" "$(save_around "$F" "$NEW" rm "$SRC/gone.canm")" ENOENT
ok "what was typed is kept" cmp "$SRC/.animfs/rejected/gone.canm/walk/bones/Bone01.csv.rejected" "$NEW"

fresh damaged
is "the binary damaged" "$(save_around "$F" "$NEW" cp tests/data/canm/bad_version.canm "$SRC/damaged.canm")" EBADMSG
ok "what was typed is kept" cmp "$SRC/.animfs/rejected/damaged.canm/walk/bones/Bone01.csv.rejected" "$NEW"
ok "stays what it is" cmp "$SRC/damaged.canm" tests/data/canm/bad_version.canm

fresh editors
is "two editors that rename: the last one wins, as anywhere" \
	"$(sed s/1.5,-2/8.5,-2/ "$OLD" >"$F.a"; cp "$NEW" "$F.b"; mv "$F.a" "$F" && mv "$F.b" "$F" && cmp "$F" "$NEW" && echo yes)" yes

# beside FIRST READ OTHER LAST: a handle on F writes and syncs each of the texts FIRST, the last of
# them refused, or LAST without a sync; OTHER is saved meanwhile in the JSON of the bone. With READ a
# reader has F open all the time. Prints the line of F with frame 0 once the handle's close is done:
# close() does not wait for it, and an open that is answered before still gets the draft.
beside()
{
	sed "s/$3" "$BONES/Bone01.json" >"$WORK/beside.json"
	python3 - "$F" "$BONES/Bone01.json" "$WORK/beside.json" "$MNT/.animfs/clock" "$1" "$2" "$4" <<'PYTHON'
import os, sys
path, json, changed, clock, first, read, last = sys.argv[1:]
text = open(path).read()
reader = os.open(path, os.O_RDONLY) if read else None
fd = os.open(path, os.O_RDWR)

def write(new):
    os.ftruncate(fd, 0)
    os.pwrite(fd, new.encode(), 0)

for each in first.split():
    write(each if each == "nonsense" else text.replace("1.5,-2", each))
    try:
        os.fsync(fd)
    except OSError:
        assert each == "nonsense"
if last:
    write(text.replace("1.5,-2", last))
open(json, "w").write(open(changed).read())
os.close(fd)
with open(clock, "w") as f:
    f.write("0")
print(open(path).read().split("\n")[1])
PYTHON
}

# A text that was given up says nothing of what others have saved since.
for reader in "" reader; do
	fresh "given-up$reader"
	like "what was refused is given up for what others saved meanwhile ${reader:+(a $reader has it open)}" \
		"$(beside nonsense "$reader" '\[1.5, -2/[4.5, -2/' "")" '^0,0,4\.5,-2'
	fresh "gone-back$reader"
	like "also where an edit was saved before it ${reader:+(a $reader has it open)}" \
		"$(beside "2.5,-2 nonsense" "$reader" '\[1.5, 1.5, 1.5/[1.25, 1.5, 1.5/;s/\[1.5, -2/[4.5, -2/' "")" \
		'^0,0,4\.5,-2'
	fresh "merged$reader"
	like "and one that was saved over it says both ${reader:+(a $reader has it open)}" \
		"$(beside "" "$reader" '\[1, 1, 1/[1.25, 1, 1/' 2.5,-2)" '^0,0,2\.5,-2.*,1\.25[0-9]*,1,1$'
done

# One text under one name is one draft, whoever has it open.
fresh shared
ok "two handles on one view share its text" python3 - "$F" "$NEW" <<'PYTHON'
import os, sys
path, new = sys.argv[1:]
text = open(new, "rb").read()
a, b = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
os.pwrite(a, text[:60], 0)
assert os.pread(b, 60, 0) == text[:60]
os.pwrite(b, text[60:], 60)
assert os.pread(a, len(text), 0) == text
os.close(a)
os.close(b)
PYTHON
ok "and it is saved" cmp "$SRC/shared.canm" "$EDITED"

fresh open
ok "a handle on a view that was replaced saves nothing" python3 - "$F" "$NEW" <<'PYTHON'
import os, sys
path, new = sys.argv[1:]
old = os.open(path, os.O_RDWR)
with open(path + ".new", "w") as f:
    f.write(open(new).read())
os.rename(path + ".new", path)
os.ftruncate(old, 0)
os.write(old, b"nonsense")
os.fsync(old)
os.close(old)
PYTHON
ok "the one that replaced it stays" cmp "$SRC/open.canm" "$EDITED"
is "without an error" "$(ls "$BONES" | grep -c error)" 0
umount_animfs
