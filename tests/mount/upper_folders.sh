#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# upper_folders.sh - ordinary files beside texts are kept in folders of the same names in the state
# directory. When others remove the clip or the file, empty ones and their watches are removed, too; files
# of the user stay.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
cp "$SAMPLE" "$SRC"
mount_stopped
FILE=$MNT/wiki512.canm
STATE=$SRC/.animfs

# A note, and a text that is refused, come and go.
leave_folders()
{
	local clip=$1 bone=$1/bones/hip.csv
	echo note >"$clip/bones/note" && rm "$clip/bones/note" || return
	sed '2s/,[^,]*/,1..5/2' "$bone" >"$WORK/refused"
	cp "$WORK/refused" "$bone" 2>/dev/null
	rm "$bone.rejected" "$bone.error"
}
has_folders() { [ -d "$STATE/extra/$1" ] || [ -d "$STATE/rejected/$1" ]; }
gone() { ! has_folders "$1" && [ ! -e "$MNT/$1" ]; }
clip_is() { [ -e "$FILE/$1/clip.json" ]; }

leave_folders "$FILE/walk"
ok "what was put there has folders in the state directory" has_folders wiki512.canm/walk/bones
mkdir "$FILE/.own" "$FILE/Idle/own"
echo note >"$FILE/empty/note"
for clip in walk Idle empty; do
	"$ANIMFS" clip rename "$SRC/wiki512.canm/$clip" "new_$clip"
	ok "$clip is renamed by others" after 250 clip_is "new_$clip"
done
ok "an empty folder goes with the old name, and is not seen" after 250 gone wiki512.canm/walk
is "nor listed" "$(ls "$FILE" | grep -cx walk)" 0
ok "one that somebody made stays" test -d "$FILE/.own" -a -d "$FILE/Idle/own"
ok "and one with something in it" grep -qx note "$FILE/empty/note"

# A file that comes and goes leaves nothing behind, in the kernel's list of what is watched neither.
watches() { cat "/proc/${DAEMON[$MNT]}"/fdinfo/* 2>/dev/null | grep -c '^inotify'; }
come_and_go()
{
	cp "$SAMPLE" "$SRC/guest.canm" &&
		after 250 test -d "$MNT/guest.canm" && leave_folders "$MNT/guest.canm/walk" &&
		has_folders guest.canm/walk && mv "$MNT/guest.canm/walk" "$MNT/guest.canm/run" &&
		mv "$MNT/guest.canm" "$MNT/other.canm" &&
		rm "$SRC/other.canm" && after 250 gone other.canm && gone guest.canm
}
ok "a file comes and goes" come_and_go
before=$(watches)
for i in 1 2 3 4 5; do
	come_and_go || break
done
is "and again and again" $i 5
# Then the last one may not have been given up yet.
no_more_watches() { [ "$(watches)" -le "$before" ]; }
ok "no more folders are watched than before" wait_for 3 no_more_watches
is "and no more are kept" "$(ls "$STATE/extra" "$STATE/rejected" "$STATE/staging" 2>/dev/null | grep -v '^/\|^$\|^wiki512.canm$')" ""
umount_animfs
finish
