#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# max_file.sh - a file or a member larger than --max-file is not read, and no edit makes one, since the
# mount would show it as a plain file from then on.
. "$(dirname "$0")/lib.sh"

cp tests/data/canm/wiki512.canm "$SRC/file.canm"
cp tests/data/cpk/nested.cpk "$SRC/Root.cpk"
mount_animfs --max-file=540
member=$MNT/Root.cpk.d/OBJECT

is "a member past it has its size" "$(stat -c %s "$MNT/Root.cpk.d/WEAPON/readme.txt")" 3000
like "reading it is EFBIG" "$(cat "$MNT/Root.cpk.d/WEAPON/readme.txt" 2>&1)" 'File too large'
ok "an animation past it is a plain file" test -f "$member/WALKER.CAS"
like "both are named" "$(<"$MNT/.animfs/errors")" \
	'WALKER.CAS: shown as it is: 2662 bytes .*readme.txt: not read: 3000 bytes unpacked are more than 540, the limit'

# ANIMATION FILE: edits that would make the file larger
refused()
{
	local what=$1 top=$2 file=$3 before long
	before=$(sha256sum <"$file")
	{ cat "$top/raw.canm"; head -c 3000 /dev/zero; } >"$WORK/long.canm"
	fails "$what: more bytes are refused" cp "$WORK/long.canm" "$top/raw.canm"
	like "with both sizes" "$(<"$MNT/.animfs/errors")" \
		"raw.canm: the file would have [0-9]+ bytes; --max-file allows 540"
	long=$(sed '/^Scene_Root,translation,0,/a Scene_Root,translation,1,,1,2,3,\nScene_Root,translation,2,,3,5,8,' \
		"$top/walk/curves.csv")
	is "$what: so are more values" "$(save_errno close "$top/walk/curves.csv" "$long")" EBADMSG
	like "in the same words" "$(<"$MNT/.animfs/errors")" \
		"curves.csv: the file would have [0-9]+ bytes; --max-file allows 540"
	is "$what: the text is kept" "$(cat "$top/walk/curves.csv.rejected")" "$long"
	is "$what: the file is as it was" "$(sha256sum <"$file")" "$before"
	ok "$what: and still a folder" test -d "$top/walk/bones"
}
refused "a file" "$MNT/file.canm" "$SRC/file.canm"
refused "a member" "$member/walker.canm" "$SRC/Root.cpk"
is "no loose file was made" "$(find "$SRC/.animfs/overlay" -type f 2>/dev/null)" ""
umount_animfs
