#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bombs.sh - small files and texts that claim to be huge are shown as far as their bytes go, or refused with
# a reason, in little memory; and the mount survives.
. "$(dirname "$0")/lib.sh"

bombs() { timeout 300 python3 tests/mount/bombs.py "$@"; }
# The most memory that the daemon ever held, in MiB.
peak() { awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/${DAEMON[$MNT]}/status"; }
sanitized() { grep -qE '__[at]san_init' "$ANIMFS"; }

bombs files "$SRC"
cp tests/data/canm/wiki512.canm tests/data/ff9anim/frames007_low.ff9anim "$SRC"
mount_animfs --max-file=32M --max-text=32M --cache=32M

# ---- files ----

for name in frames4g keys one_name clip_names sparse; do
	ok "$name.canm stays a file" test -f "$MNT/$name.canm"
	like "$name.canm: the reason is told" "$(grep -F "$name.canm" "$MNT/.animfs/errors")" \
		'frames|fit into the file|used too often|larger than'
done
for name in laughs nested million attributes utf16 namespaces; do
	ok "$name.kanim has no folder" test ! -e "$MNT/$name.kanim.d"
	ok "$name.kanim: the reason is told" grep -qF "$name.kanim" "$MNT/.animfs/errors"
done
for name in attributes utf16 namespaces; do
	like "$name.kanim: it is too much" "$(grep -F "$name.kanim" "$MNT/.animfs/errors")" \
		'more than 4096'
done
like "and where" "$("$ANIMFS" check "$SRC/attributes.kanim" 2>&1)" \
	'/attributes.kanim:2:12: this tag has more than 4096 attributes'
like "in UTF-16, too" "$("$ANIMFS" check "$SRC/utf16.kanim" 2>&1)" \
	'/utf16.kanim.*: this tag has more than 4096 attributes'
is "what is declared outside is not read" "$(grep -rl root: "$MNT/outside.kanim.d")" ""
is "two billion frames that take no bytes" \
	"$(sed -n 's/.*"frames": \([0-9]*\).*/\1/p' "$MNT/frames.canm/long/clip.json")" 2147483647
is "of which nothing is listed" "$(ls "$MNT/frames.canm/long")" "clip.json
curves.csv"
is "65,535 frames from two thousand bytes" \
	"$(wc -l <"$MNT/frames.ff9anim/frames/bones/bone_001.csv")" 65536
is "65,535 bones with one stream" "$(ls "$MNT/shared.canm/walk/bones" | grep -c csv)" 65535
is "one of them" "$(wc -l <"$MNT/shared.canm/walk/bones/bone65534.csv")" 65536
is "all of them are too much for one text" \
	"$(cat "$MNT/shared.canm/walk/curves.csv" 2>&1 >"$WORK/out" | sed 's/.*: //')" \
	"File too large"
is "and for the others of its clip" \
	"$(stat "$MNT"/shared.canm/walk/clip.{gltf,x3d,bvh} 2>&1 | grep -c 'File too large')" 3

# ---- names ----

cp -r "$MNT/places.canm" "$WORK/places"
is "no name leads out of its folder" "$(ls "$WORK/places" | sort)" "$(ls "$MNT/places.canm" | sort)"
is "each clip has its own" "$(ls -d "$MNT"/places.canm/*/ "$MNT"/places.canm/%2E*/ | sort -u | wc -l)" 7
ok "and each bone" test -s "$MNT/places.canm/%2E%2E/bones/%2E.%2F..%2Fb.csv"
ok "beside the mount nothing was made" test ! -e "$WORK/b" -a ! -e "$SRC/b"

# ---- texts ----

W=$MNT/wiki512.canm/walk
refused() # WHAT VIEW ERRNO [REASON]
{
	is "$1 in $2" "$(bombs save "$1" "$W/$2")" "$3"
	[ $# -lt 4 ] || like "$1 in $2: the reason" "$(cat "$W/$2.error")" "$4"
	rm -f "$W/$2".rejected* "$W/$2".error*
}
refused gigabyte bones/hip.csv EFBIG
refused rows bones/hip.csv EBADMSG 'hip.csv:5:'
refused 'equal rows' bones/hip.csv EBADMSG 'hip.csv:3:'
refused columns bones/hip.csv EBADMSG 'hip.csv:2:'
refused quote bones/hip.csv EBADMSG
refused digits bones/hip.csv EBADMSG
refused curves curves.csv EBADMSG
refused nested bones/hip.json EBADMSG 'nested too deeply'
refused objects bones/hip.json EBADMSG 'there is no member "a" here'
refused members clip.json EBADMSG
refused string clip.json EBADMSG
refused laughs clip.kanim EBADMSG 'DOCTYPE'
refused elements clip.kanim EBADMSG
refused attributes clip.kanim EBADMSG 'clip.kanim:2:12:.*more than 4096 attributes'
refused accessors clip.gltf EBADMSG
refused views clip.gltf EBADMSG
refused glb clip.gltf EBADMSG
W=$MNT/frames007_low.ff9anim/frames007_low
refused joints clip.bvh EBADMSG
refused frames clip.bvh EBADMSG
W=$MNT/wiki512.canm
refused parents skeleton.csv EBADMSG
is "a size of a gigabyte" "$(truncate -s 1G "$W/walk/bones/hip.csv" 2>&1 | sed 's/.*: //')" "File too large"
ok "the file is as it was" same_file tests/data/canm/wiki512.canm "$SRC/wiki512.canm"
ok "and can be edited" sed -i 's/"loop": true/"loop": false/' "$W/walk/clip.json"
fails "which changed it" same_file tests/data/canm/wiki512.canm "$SRC/wiki512.canm"

if sanitized; then
	skip "memory is not measured in a sanitizer"
else
	ok "all of it took less than 448 MiB: $(peak)" test "$(peak)" -lt 448
fi
umount_animfs
