#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# extra_max.sh - ordinary files beside the texts have an upper bound (--extra-max); refused texts and their
# reasons do not count. Those of files that were removed outside of the mount are kept, and reported.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_animfs --extra-max 100K
BONES=$MNT/wiki512.canm/walk/bones
F=$MNT/wiki512.canm/$BONE

# errno_of COMMAND...: the words of the errno in its message
errno_of() { LC_ALL=C "$@" 2>&1 | sed 's/.*: //'; }
full="No space left on device"

ok "a small file" sh -c "head -c 20000 /dev/zero >'$BONES/a'"
is "a large one" "$(errno_of dd if=/dev/zero of="$BONES/b" bs=1k count=200 status=none)" "$full"
ok "removing it" rm "$BONES/b"
ok "makes room" sh -c "head -c 50000 /dev/zero >'$BONES/c'"
is "a file made longer" "$(errno_of truncate -s 80000 "$BONES/a")" "$full"
is "appended to" "$(errno_of dd if=/dev/zero of="$BONES/a" bs=30000 count=1 oflag=append conv=notrunc status=none)" "$full"
ok "written over" dd if=/dev/zero of="$BONES/a" bs=20000 count=1 conv=notrunc status=none
head -c 30000 /dev/zero >"$MNT/outside"
is "one moved in" "$(errno_of mv "$MNT/outside" "$BONES/in")" "$full"
ok "which stays where it was" test -f "$MNT/outside"
ok "a small one can be" sh -c "echo small >'$MNT/small' && mv '$MNT/small' '$BONES/small'"
ok "no limit elsewhere" sh -c "head -c 300000 /dev/zero >'$MNT/outside'"
is "names count, too" "$(for i in $(seq 50); do errno_of mkdir "$BONES/d$i"; done | sort -u)" "$full"
ok "a text is saved when it is full" cp "$NEW" "$F"
fails "a refused one" sh -c "sed 's/2.5,-2/2..5,-2/' '$NEW' | tee '$F'"
ok "is kept when it is full" test -s "$F.rejected"
rm -rf "$BONES"/d* "$BONES/a" "$BONES/c"
umount_animfs
mount_animfs --extra-max=1M
ok "after a remount there is room" sh -c "head -c 500000 /dev/zero >'$BONES/e'"

mkdir "$SRC/sub"
cp "$SAMPLE" "$SRC/sub/gone.canm"
echo note >"$MNT/sub/gone.canm/walk/note"
rm "$SRC/sub/gone.canm"
like "what is left of a file removed outside is told" "$(<"$MNT/.animfs/errors")" \
	'sub/gone.canm: .*extra/sub/gone.canm'
is "and kept" "$(<"$SRC/.animfs/extra/sub/gone.canm/walk/note")" note
cp "$SAMPLE" "$SRC/sub/gone.canm"
is "and is there again with it" "$(<"$MNT/sub/gone.canm/walk/note")" note
ok "it is no error then" sh -c "! grep gone.canm '$MNT/.animfs/errors'"
umount_animfs
