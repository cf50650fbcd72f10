#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# samba.sh - a mount served by smbd, used by smbclient: folders are listed, views read, and saved.
# shellcheck source-path=SCRIPTDIR/../..
. tests/mount/lib.sh
. tests/mount/editing.bash
. tests/export/samba.bash

cp "$SAMPLE" "$SRC/walk.canm"
echo plain >"$SRC/plain.txt"
mount_animfs -o allow_other
chmod 755 "$WORK" "$SRC"

serve_samba anim "$MNT"

# client COMMANDS
client() { smbclient //127.0.0.1/anim -p $SMB_PORT -N -U root% -s "$SMB_CONF" -c "$1" 2>&1; }
like "the files are listed" "$(<"$WORK/samba/ls")" 'walk\.canm +D.*'
like "a clip is" "$(client 'cd walk.canm/walk; ls')" 'clip\.json.*'
client "get walk.canm/$BONE $WORK/got.csv" >/dev/null
ok "a bone is read" cmp "$WORK/got.csv" "$OLD"
client "get plain.txt $WORK/got.txt" >/dev/null
is "an ordinary file, too" "$(<"$WORK/got.txt")" plain
client "put $NEW walk.canm/$BONE" >/dev/null
ok "a bone is saved" wait_for 5 cmp -s "$SRC/walk.canm" "$EDITED"
client "get walk.canm/$BONE $WORK/again.csv" >/dev/null
ok "and reads as it was saved" cmp "$WORK/again.csv" "$NEW"
client "put $OLD walk.canm/walk/bones/new.tmp" >/dev/null
client "rename walk.canm/walk/bones/new.tmp walk.canm/$BONE -f" >/dev/null
binary_says() { "$ANIMFS" cat "$SRC/walk.canm/$BONE" | cmp -s - "$1"; }
ok "by a rename, too" wait_for 5 binary_says "$OLD"
cp "$SRC/walk.canm" "$WORK/before.canm"
echo '0,0,1..5' >"$WORK/bad.csv"
client "put $WORK/bad.csv walk.canm/$BONE" >/dev/null
ok "what is wrong is kept beside it" wait_for 5 test -e "$MNT/walk.canm/$BONE.error"
like "and listed" "$(client "cd walk.canm/walk/bones; ls")" 'Bone01\.csv\.rejected'
ok "the binary stays" cmp "$SRC/walk.canm" "$WORK/before.canm"
client "mkdir sub; put $NEW sub/file.txt; rename sub/file.txt sub/moved.txt" >/dev/null
ok "ordinary files are made and moved" cmp "$NEW" "$SRC/sub/moved.txt"
client "del sub/moved.txt; rmdir sub" >/dev/null
fails "and removed" test -e "$SRC/sub"
end_samba
umount_animfs
