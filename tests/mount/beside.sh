#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# beside.sh - with --beside each animation file stays a file, with its folder beside it.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,edf6_768,bad_version}.canm "$SRC"
mkdir "$SRC/edf6_768.canm.d"
touch "$SRC/edf6_768.canm.d/own"
mount_animfs --beside

is "files and folders" "$(cd "$MNT" && echo *)" \
	"bad_version.canm edf6_768.canm edf6_768.canm.d edf6_768.canm.d~2 wiki512.canm wiki512.canm.d"
ok "the file is the binary" cmp "$MNT/wiki512.canm" "$SRC/wiki512.canm"
is "a real entry of the folder's name wins" "$(ls "$MNT/edf6_768.canm.d")" own
ok "and the folder has another" test -f "$MNT/edf6_768.canm.d~2/turn/clip.json"

cached() { sed -n 's/^cache_bytes //p' "$MNT/.animfs/status"; }
before=$(cached)
is "the file has no attribute" "$(getfattr -d "$MNT/wiki512.canm")" ""
is "and no second model is kept to say so" "$(cached)" "$before"

F=$MNT/wiki512.canm.d/walk/bones/Bone01.csv
ok "an edit in the folder" sed -i s/1.5,-2/2.5,-2/ "$F"
ok "is in the file at once" cmp "$MNT/wiki512.canm" "$SRC/wiki512.canm"
fails "which has changed" cmp "$MNT/wiki512.canm" tests/data/canm/wiki512.canm

ok "writing the file" cp tests/data/canm/wiki512.canm "$MNT/wiki512.canm"
ok "is in the folder within a second" wait_for 2 grep -q 0,1.5,-2 "$F"
ok "and its stray folder is not a file of SOURCE" test ! -e "$SRC/wiki512.canm.d"
umount_animfs
