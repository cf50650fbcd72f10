#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# absent.sh - a view that is removed or moved away is absent for a moment, for editors that write their new
# file then, and comes back by itself; nothing is removed from the file.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_stopped
F=$MNT/wiki512.canm/$BONE
BONES=${F%/*}
names=$(ls "$BONES")

ok "a view can be removed" rm "$F"
fails "it is absent" cat "$F"
fails "from the listing" ls "$BONES/Bone01.csv"
ok "its JSON is not" test -f "$BONES/Bone01.json"
ok "the binary is as it was" cmp "$SRC/wiki512.canm" "$SAMPLE"
ok "it comes back" after 2000 test -f "$F"
is "and all are listed" "$(ls "$BONES")" "$names"
ok "as it was" cmp "$F" "$OLD"

ok "moved away" mv "$F" "$BONES/mine"
fails "it is absent, too" cat "$F"
ok "what was moved is a file" cmp "$BONES/mine" "$OLD"
ok "it comes back, too" after 2000 cmp -s "$F" "$OLD"
ok "and the file is there still" cmp "$BONES/mine" "$OLD"
ok "which can be written" sh -c "echo anything >'$BONES/mine'"
ok "and removed" rm "$BONES/mine"
ok "moved out of the mount" mv "$F" "$WORK/mine"
ok "it is there" cmp "$WORK/mine" "$OLD"
ok "moved back" mv "$WORK/mine" "$F"
ok "moved onto another view of the same kind" mv "$BONES/hip.csv" "$F"
like "is a save there" "$(<"$F")" $'\n0,0,0,-1,2,-180,'
ok "and comes back" after 2000 test -f "$BONES/hip.csv"
ok "as it was" cmp "$BONES/hip.csv" <("$ANIMFS" cat "$SAMPLE/walk/bones/hip.csv")
cp "$SAMPLE" "$SRC"
ok "the binary replaced" after 300 cmp -s "$F" "$OLD"

ok "all views of a folder" rm -r "$BONES"
fails "are absent" ls "$BONES"
ok "until a moment later" after 2000 test -d "$BONES"
is "all of them" "$(ls "$BONES")" "$names"
fails "a clip of which nothing was removed is not empty" rmdir "$MNT/wiki512.canm/Idle"
fails "nor is a file" rmdir "$MNT/wiki512.canm"

ok "an absent name can be linked to" sh -c "cp '$NEW' '$BONES/t' && rm '$F' && ln '$BONES/t' '$F'"
ok "which saves" cmp "$F" "$NEW"
ok "a link of a view" ln "$F" "$BONES/copy"
is "is a file of its own" "$(stat -c %h "$BONES/copy" "$F" | tr '\n' ' ')" "1 1 "
ok "with its text" cmp "$BONES/copy" "$NEW"
ok "writing it" sh -c "echo other >'$BONES/copy'"
ok "leaves the view" cmp "$F" "$NEW"
fails "a link onto a view" ln "$BONES/copy" "$F"
fails "mv -n leaves a view" sh -c "mv -n '$BONES/copy' '$F'; test ! -e '$BONES/copy'"
fails "an exchange with a view" python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) != 0:
    sys.exit(1)' "$F" "$BONES/copy"
fails "a fifo in a virtual folder" mkfifo "$BONES/fifo"
fails "a folder in place of a view" mkdir "$F"
fails "a folder moved onto a view" sh -c "mkdir '$BONES/.folder' && mv -T '$BONES/.folder' '$F'"

# Who has a view open that is removed writes on, as on any filesystem, even if the file's folder goes.
mkdir "$SRC/folder"
cp tests/data/canm/wiki512.canm "$SRC/folder/a.canm"
ok "a view that goes with the folder of its file can be written, synced and closed" python3 -c '
import os, shutil, sys
view = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
shutil.rmtree(sys.argv[2])
with open(sys.argv[3], "rb") as text:
    os.write(view, text.read())
os.fsync(view)
os.close(view)
sys.exit(os.path.exists(sys.argv[2]))' "$MNT/folder/a.canm/walk/bones/hip.csv" "$MNT/folder" "$NEW"
umount_animfs
