#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_full.sh - a full disk costs old versions, and never a save.
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
[ "$(id -u)" -eq 0 ] || skip_all "only root can mount what this needs"
mount -t tmpfs -o size=24m tmpfs "$SRC" || skip_all "no tmpfs can be mounted"

make_game --files 1 --clips 4 --bones 40 --frames 200 --plain 0
mv "$SRC"/object/*/*.canm "$SRC/a.canm"
rm -r "$SRC/object"
size=$(stat -c %s "$SRC/a.canm")
m=$MNT/a.canm
bone=$(cd "$SRC" && "$ANIMFS" ls a.canm/walk/bones | grep -m 1 csv)
F=$m/walk/bones/$bone
# save N: another value in the second line
save() { sed -i "2s/^\([^,]*,[^,]*\),[^,]*/\1,0.$1/" "$F"; }
kept() { "$ANIMFS" log "$m" 2>/dev/null | wc -l; }
used() { find "$SRC/.animfs/history" -type f -regex '.*/[0-9]+' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }

mount_animfs
saved=0
for i in 11 12 13 14 15 16; do
	save $i && ((saved++))
done
is "saves" "$saved" 6
before=$(kept)
ok "more than two versions of $size bytes are kept ($before)" test "$before" -gt 2
ok "no more than a tenth of what is free" test "$(used)" -le $(((24 << 20) / 10))

# All that is free, but less than a save takes.
dd if=/dev/zero of="$SRC/filler" bs=4k 2>/dev/null
truncate -s -$((size / 2 / 4096 * 4096)) "$SRC/filler"
cp "$SRC/a.canm" "$WORK/before"
is "a save on a full disk" "$(save 17; echo $?)" 0
fails "is saved" cmp -s "$SRC/a.canm" "$WORK/before"
like "in the view, too" "$(sed -n 2p "$F")" ',0.17'
ok "old versions went for it" test "$(kept)" -lt "$before"
for i in 18 19 20 21; do
	is "and the next" "$(save $i; echo $?)" 0
done
like "the last is what is there" "$(sed -n 2p "$F")" ',0.2[01]'

# Where nothing can be removed, the temporary of the first try is in the way of the second.
rm "$SRC/filler"
for i in 24 25 26; do
	save $i
done
sed '2s/^\([^,]*,[^,]*\),[^,]*/\1,0.29/' "$F" >"$WORK/text"
dd if=/dev/zero of="$SRC/filler" bs=4k 2>/dev/null
if chattr +a "$SRC" 2>/dev/null; then
	before=$(kept)
	like "a temporary that cannot be removed: the disk is full" \
		"$(LC_ALL=C cp "$WORK/text" "$F" 2>&1)" 'No space left on device$'
	chattr -a "$SRC"
	ok "old versions went for a second try" test "$(kept)" -lt "$before"
else
	skip "chattr +a does nothing on this tmpfs"
fi
rm "$SRC/filler"
save 22
save 23
ok "with room there are versions again" "$ANIMFS" undo "$m"
umount_animfs
umount "$SRC"

# ---- --history ----
mount -t tmpfs -o size=256m tmpfs "$SRC" || skip_all "no tmpfs can be mounted"
cp "$WORK/before" "$SRC/a.canm"
mount_animfs --history=$((size * 4))
for i in $(seq 31 50); do
	save "$i"
	[ "$(used)" -le $((size * 4)) ] || break
done
is "--history is not outgrown" "$i" 50
ok "and is used ($(kept))" test "$(kept)" -ge 3
ok "undo" "$ANIMFS" undo "$m"
umount_animfs
umount "$SRC"

# ---- a save that old versions cannot help costs none ----
kept_bytes() { find "$1/history" -type f -regex '.*/[0-9]+' | wc -l; }
# three_versions STATE: of each of three small files, and w.csv is a text of $WORK/w.canm with an edit
three_versions()
{
	local name number
	for name in x y z; do
		cp tests/data/canm/wiki512.canm "$SRC/$name.canm"
		for number in 2 3 4; do
			"$ANIMFS" cat "$SRC/$name.canm/walk/bones/Bone01.csv" |
				sed "s/,[^,]*,-2,/,$number.5,-2,/" >"$WORK/w.csv"
			"$ANIMFS" put --state="$1" "$SRC/$name.canm/walk/bones/Bone01.csv" "$WORK/w.csv"
		done
	done
	is "versions of three files" "$(kept_bytes "$1")" 9
}

mount -t tmpfs -o size=4m tmpfs "$SRC" || skip_all "no tmpfs can be mounted"
STATE=$WORK/state
mkdir "$STATE"
three_versions "$STATE"
"$ANIMFS" cat "$SRC/x.canm/walk/bones/Bone01.csv" | sed 's/,4.5,-2,/,9.5,-2,/' >"$WORK/w.csv"
dd if=/dev/zero of="$SRC/filler" bs=4k 2>/dev/null
fails "history on another filesystem: the save fails" \
	"$ANIMFS" put --state="$STATE" "$SRC/x.canm/walk/bones/Bone01.csv" "$WORK/w.csv"
is "and every version is there" "$(kept_bytes "$STATE")" 9
umount "$SRC"

mount -t tmpfs -o size=4m tmpfs "$SRC" || skip_all "no tmpfs can be mounted"
STATE=$SRC/.animfs
mkdir "$STATE"
three_versions "$STATE"
cp "$WORK/before" "$SRC/a.canm"
dd if=/dev/zero of="$SRC/filler" bs=4k 2>/dev/null
"$ANIMFS" cat "$SRC/a.canm/walk/bones/$bone" | sed '2s/^\([^,]*,[^,]*\),[^,]*/\1,0.11/' >"$WORK/w.csv"
fails "all versions would not suffice: the save fails" \
	"$ANIMFS" put "$SRC/a.canm/walk/bones/$bone" "$WORK/w.csv"
is "and every version of the others is there" "$(kept_bytes "$STATE")" 9
umount "$SRC"

# ---- to remove a file makes room ----
mount -t tmpfs -o size=4m tmpfs "$SRC" || skip_all "no tmpfs can be mounted"
for options in "" --history=0; do
	rm -f "$SRC/filler"
	cp tests/data/canm/wiki512.canm "$SRC/x.canm"
	mount_animfs $options
	sed -i '2s/,[^,]*,-2,/,4.5,-2,/' "$MNT/x.canm/walk/bones/Bone01.csv" # makes the state directory
	umount_animfs
	mount_animfs $options
	dd if=/dev/zero of="$SRC/filler" bs=4k 2>/dev/null
	ok "rm -r on a full disk $options" rm -r "$MNT/x.canm"
	fails "removes the file" test -e "$SRC/x.canm"
	umount_animfs
done
umount "$SRC"
