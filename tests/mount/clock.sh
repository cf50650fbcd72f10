#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clock.sh - a mount whose clock a test stops: nothing is due until .animfs/clock is written, and all due
# work is done when that write returns.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
CLIP=$MNT/wiki512.canm/walk
BONE=$CLIP/bones/Bone01.csv
status() { sed -n "s/^$1 //p" "$MNT/.animfs/status"; }
has_clip() { "$ANIMFS" text "$SRC/wiki512.canm" | grep -qx "clip $1"; }

mount_stopped
is "there is a file for it" "$(ls "$MNT/.animfs")" $'clock\nerrors\nformats\nstatus'
is "it is the owner's" "$(stat -c '%a %u' "$MNT/.animfs/clock")" "600 $(id -u)"
now=$(<"$MNT/.animfs/clock")
ok "it moves" advance 1500
is "by as much" "$(($(<"$MNT/.animfs/clock") - now))" 1500
for wrong in "" x -1 1s 0x10 10000000000 123456789012345678901234567890; do
	fails "not by '$wrong'" sh -c "printf '%s\n' '$wrong' >'$MNT/.animfs/clock'"
done
is "and nothing has moved it" "$(($(<"$MNT/.animfs/clock") - now))" 1500

# A removed name is absent for 2 s.
rm "$CLIP/curves.csv"
fails "a name that was removed is absent" test -e "$CLIP/curves.csv"
advance 1999
fails "and still is after 1.999 s" test -e "$CLIP/curves.csv"
advance 1
ok "and back after 2 s" test -e "$CLIP/curves.csv"

# close() does not wait for the release, but the clock does.
for i in {1..20}; do
	: >"$BONE"
	advance 1999
	[ "$(status pending)" -eq 1 ] || break
	advance 1
	[ "$(status pending)" -eq 0 ] || break
done
is "an empty text is given up exactly then, again and again" "$i $(status pending)" "20 0"

# A clip whose folder is removed leaves the file; one that is made is in it when its maker has ended.
cp -r "$CLIP" "$WORK/copy"
rm -r "$CLIP"
before=$(stat -c %i "$SRC/wiki512.canm")
advance 1999
ok "the clip is still there" has_clip walk
is "nothing is written in that time" "$(stat -c %i "$SRC/wiki512.canm")" "$before"
advance 1
fails "and then it is" has_clip walk
cp -r "$WORK/copy" "$MNT/wiki512.canm/run"
advance 0
ok "a program's end is no matter of time" has_clip run

# What others do in SOURCE.
for i in {1..10}; do
	cp tests/data/canm/wiki512.canm "$SRC/other.canm"
	"$ANIMFS" clip rename "$SRC/other.canm/walk" "walk$i" || break
	advance 250
	[ -d "$MNT/other.canm/walk$i" ] || break
done
is "others' changes are seen" "$i $(ls "$MNT/other.canm" | grep walk)" "10 walk10"
umount_animfs

mount_animfs
fails "without the option there is no such file" test -e "$MNT/.animfs/clock"
fails "and none can be written" sh -c "echo 1 >'$MNT/.animfs/clock'"
umount_animfs

fails "the option has no long form" "$ANIMFS" mount --stopped_clock "$SRC" "$MNT"
is "and users need not know it" "$("$ANIMFS" mount --help | grep -c stopped)" 0
