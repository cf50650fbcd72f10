#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# refusals.sh - how long .rejected and .error stay: past a remount, until the view is saved well or
# they are removed; a second refused text gets a name of its own.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_stopped
F=$MNT/wiki512.canm/$BONE
sed s/-180,/1x,/ "$OLD" >"$WORK/bad.csv"
sed s/-180,/2x,/ "$OLD" >"$WORK/worse.csv"

fails "a bad save" cp "$WORK/bad.csv" "$F"
like "is among the errors" "$(<"$MNT/.animfs/errors")" 'wiki512\.canm/walk/bones/Bone01\.csv:2:17: rx: "1x" is not'
umount_animfs
mount_stopped
ok "the text survives a remount" cmp "$F.rejected" "$WORK/bad.csv"
ok "the reason, too" grep -q '"1x" is not a number' "$F.error"
like "and the error is still listed" "$(<"$MNT/.animfs/errors")" Bone01.csv:2:17
like "they are in the folder" "$(ls "${F%/*}")" Bone01.csv.error.Bone01.csv.rejected

fails "the same again" cp "$WORK/bad.csv" "$F"
is "makes no second copy" "$(cd "${F%/*}" && echo *.rejected*)" Bone01.csv.rejected
fails "another bad text" cp "$WORK/worse.csv" "$F"
is "gets a name of its own" "$(cd "${F%/*}" && echo *.rejected*)" "Bone01.csv.rejected Bone01.csv.rejected.~2~"
ok "the first stays" cmp "$F.rejected" "$WORK/bad.csv"
ok "the second is kept" cmp "$F.rejected.~2~" "$WORK/worse.csv"
like "the reason is the last one" "$(<"$F.error")" '"2x"'

ok "saving what is there already" cp "$OLD" "$F"
ok "leaves them" test -f "$F.rejected.~2~"
ok "a good save of another view" sed -i 2s/0,0,0,0/0,0,1,0/ "${F%/*}/Scene_Root.csv"
ok "leaves them, too" test -f "$F.rejected"
ok "a good save" cp "$NEW" "$F"
ok "takes them away" wait_for 2 test ! -e "$F.rejected" -a ! -e "$F.rejected.~2~" -a ! -e "$F.error"
is "from the listing" "$(cd "${F%/*}" && echo *.rejected* *.error)" "*.rejected* *.error"
is "and from the errors" "$(<"$MNT/.animfs/errors")" ""

fails "once more" cp "$WORK/bad.csv" "$F"
ok "they can be removed" rm "$F.rejected" "$F.error"
is "and are no error then" "$(<"$MNT/.animfs/errors")" ""
fails "and again" cp "$WORK/bad.csv" "$F"
ok "a refused text can be taken up again" sed -i s/1x,/-180,/ "$F.rejected"
ok "and moved onto the view" mv "$F.rejected" "$F"

umount_animfs
rm -rf "$SRC/.animfs/rejected"
: >"$SRC/.animfs/rejected" # no folder
mount_stopped
fails "a bad save whose text cannot be kept" cp "$WORK/bad.csv" "$F"
lines=$(wc -l <"$LOG")
advance 120000
is "is not told again and again" "$(wc -l <"$LOG")" "$lines"
ok "the view still has it" cmp "$F" "$WORK/bad.csv"
rm "$SRC/.animfs/rejected"
ok "it is kept once that is possible" after 60000 cmp "$F.rejected" "$WORK/bad.csv"
rm "$F.rejected" "$F.error"

# The text as it was saved, which is not how the view is rendered, outlives what is refused.
sed '1s/,sx,sy,sz$//; 2,$s/,[^,]*,[^,]*,[^,]*$//' "$NEW" >"$WORK/mine.csv"
cp "$WORK/mine.csv" "$F"
cp "$SRC/wiki512.canm" "$WORK/saved.canm"
ok "a text of fewer columns stays as it was typed" cmp "$F" "$WORK/mine.csv"
fails "a bad one over it" cp "$WORK/bad.csv" "$F"
ok "leaves it" wait_for 2 cmp -s "$F" "$WORK/mine.csv"
is "with its size" "$(stat -c %s "$F")" "$(wc -c <"$WORK/mine.csv")"
is "a bad one by fsync" "$(save_errno fsync "$F" "$(<"$WORK/bad.csv")")" EBADMSG
ok "leaves it, too" wait_for 2 cmp -s "$F" "$WORK/mine.csv"
is "a bad one by rename" "$(save_errno rename "$F" "$(<"$WORK/bad.csv")")" EBADMSG
ok "as well" wait_for 2 cmp -s "$F" "$WORK/mine.csv"
: >"$F"
ok "so does an empty one that nobody goes on with" after 2000 cmp -s "$F" "$WORK/mine.csv"
fails "a size by name that is refused" python3 -c 'import os, sys; os.truncate(sys.argv[1], 40)' "$F"
ok "leaves it all the same" wait_for 2 cmp -s "$F" "$WORK/mine.csv"
ok "the file is as it was saved" cmp "$SRC/wiki512.canm" "$WORK/saved.canm"
rm -f "$F.rejected"* "$F.error" "$F.new~"

cp "$OLD" "$F"
fails "one handle: refused by fsync" python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, b"?", 0)
os.fsync(fd)' "$F"
ok "refused, then put right in one open file" python3 -c '
import os, sys
path, bad, new = sys.argv[1:]
fd = os.open(path, os.O_RDWR)
os.pwrite(fd, open(bad, "rb").read(), 0)
try:
    os.fsync(fd)
    sys.exit(1)
except OSError:
    pass
os.ftruncate(fd, 0)
os.pwrite(fd, open(new, "rb").read(), 0)
os.fsync(fd)
os.close(fd)' "$F" "$WORK/worse.csv" "$NEW"
ok "leaves no refusal" wait_for 2 test ! -e "$F.rejected" -a ! -e "$F.error"
ok "and the text" cmp "$F" "$NEW"

# Each of many refusals replaces those before it, and what is read of them is there or is not.
read_while_refused()
{
	python3 - "$F" <<'PYTHON'
import os, sys
view = sys.argv[1]
text = open(view).read()
end, ended = os.pipe()
os.set_blocking(end, False)

def goes_on():
    try:
        return os.read(end, 1) != b""
    except BlockingIOError:
        return True

def write(new):
    fd = os.open(view, os.O_WRONLY | os.O_TRUNC)
    for part in new:
        try:
            os.pwrite(fd, part.encode(), 0)
            os.fsync(fd)
        except OSError:
            pass
    try:
        os.close(fd)
    except OSError:
        pass

def refuse():
    times = 0
    while goes_on():
        times += 1
        write(["nonsense %d %d" % (times, i) for i in range(3)])
        if times % 5 == 0:
            write([text])

pid = os.fork()
if pid == 0:
    os.close(ended)
    refuse()
    os._exit(0)
read = 0
while read < 9000:
    for suffix in (".error", ".rejected", ".rejected.~2~"):
        try:
            with open(view + suffix) as file:
                file.read()
            read += 1
        except FileNotFoundError:
            pass
os.close(ended)
os.waitpid(pid, 0)
PYTHON
}
ok "refused texts are read while others replace them" read_while_refused
umount_animfs
