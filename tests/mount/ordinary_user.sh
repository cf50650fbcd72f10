#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ordinary_user.sh - an ordinary user mounts through fusermount3, edits and unmounts; where SOURCE
# cannot be written the mount is read-only.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all "only root can become another user"
[ -u "$(command -v fusermount3)" ] || skip_all "fusermount3 is not set-uid"
[ -e /etc/mtab ] || skip_all "fusermount3 needs /etc/mtab"
reason=$(can_mount) || skip_all "$reason"

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }
mode=$(stat -c %a /dev/fuse)
chmod 666 /dev/fuse
restore() { chmod "$mode" /dev/fuse; finish; }
trap restore EXIT

chmod 755 "$WORK"
mkdir "$WORK/bin"
cp "$ANIMFS" "$WORK/bin/animfs"
cp tests/data/canm/wiki512.canm "$SRC"
chown -R 65534:65534 "$SRC" "$MNT"
F=$MNT/wiki512.canm/walk/bones/Bone01.csv

ok "mounts" as_user "$WORK/bin/animfs" "$SRC" "$MNT"
ok "reads" as_user grep -q 0,0,1.5,-2 "$F"
ok "edits" as_user sed -i s/1.5,-2/2.5,-2/ "$F"
like "the edit is in the binary" "$("$ANIMFS" cat "$SRC/wiki512.canm/walk/bones/Bone01.csv")" 0,0,2.5,-2
is "which is the user's" "$(stat -c %U "$SRC/wiki512.canm")" nobody
is "a bad save is refused" "$(as_user sed -i s/2.5,-2/x,-2/ "$F" 2>&1 | grep -c 'Bad message')" 1
ok "and kept" as_user grep -q 'x,-2' "$F.rejected"
ok "unmounts" as_user "$WORK/bin/animfs" umount "$MNT"

ok "mounts again" as_user "$WORK/bin/animfs" "$SRC" "$MNT"
ok "unmounts with fusermount3" as_user fusermount3 -u "$MNT"

chown 0:0 "$SRC" "$SRC"/*
rm -rf "$SRC/.animfs"
as_user "$WORK/bin/animfs" "$SRC" "$MNT" 2>"$WORK/words"
is "mounts what it cannot write" $? 0
like "and says that it is read-only" "$(<"$WORK/words")" 'read-only'
ok "which can be read" as_user grep -q 0,0,2.5,-2 "$F"
is "and not written" "$(as_user touch "$F" 2>&1 | grep -c 'Read-only file system')" 1
ok "unmounts that" as_user "$WORK/bin/animfs" umount "$MNT"

chmod 700 "$SRC"
fails "what it cannot read is not mounted" as_user "$WORK/bin/animfs" "$SRC" "$MNT"
