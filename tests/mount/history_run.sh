#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_run.sh - what one run of a program saves and removes in a mount is one batch in all files, by
# which it is taken back: an edit of many files with one sed, a folder removed with rm -r.
. "$(dirname "$0")/lib.sh"
BONE=walk/bones/Bone01.csv
SAMPLE=tests/data/canm/wiki512.canm
mkdir -p "$SRC/obj/deep"
for file in a b deep/c; do cp "$SAMPLE" "$SRC/obj/$file.canm"; done
A=$SRC/obj/a.canm B=$SRC/obj/b.canm C=$SRC/obj/deep/c.canm
M=$MNT/obj
undo() { "$ANIMFS" undo "$@"; }
# batch_of FILE [N]: of its last version but N
batch_of() { "$ANIMFS" log "$1" | sed -n "$((${2:-0} + 1))s/.*  batch \([0-9a-f]*\).*/\1/p"; }
batches() { for file in "$A" "$B" "$C"; do batch_of "$file"; done | sort -u; }
all_are() { for file in "$A" "$B" "$C"; do same_file "$file" "$1" || return 1; done; }
edit() { sed -i "s/,1\.5,-2,\|,[0-9]\.5,-2,/,$1.5,-2,/" "$M"/{a,b,deep/c}.canm/$BONE; }

# ---- one program, many files ----
mount_stopped
edit 2
cp "$A" "$WORK/two"
first=$(batches)
is "one batch for all that sed saved" "$(wc -w <<<"$first")" 1
like "by its name" "$("$ANIMFS" log "$B")" 'Bone01 translation  \[sed\]  batch'
edit 3
second=$(batches)
is "the next sed has one of its own" "$(wc -w <<<"$second") $([ "$first" = "$second" ] || echo other)" "1 other"
like "what would be taken back" "$(undo --dry-run --batch="$second" "$MNT" 2>&1)" 'translation'
fails "nothing is, yet" all_are "$WORK/two"
ok "all is" undo --batch="$second" "$MNT"
ok "to the byte" all_are "$WORK/two"
ok "and the one before" undo --batch="$first" "$SRC"
ok "to the byte, too" all_are "$SAMPLE"
is "nothing is left of it" "$(undo --batch="$first" "$MNT" 2>&1; echo $?)" 0
ok "and nothing has changed" all_are "$SAMPLE"

# ---- a program that saves a view twice ----
# save FILE X: by this shell
save()
{
	local text
	text=$(sed "s/,[0-9]\.5,-2,/,$2.5,-2,/" "$M/$1.canm/$BONE")
	printf '%s\n' "$text" >"$M/$1.canm/$BONE"
}
# The mount sees what undo did to the file behind it.
shows() { after 250 grep -q ",$2.5,-2," "$M/$1.canm/$BONE"; }
shows a 1 && shows b 1
save a 4
save b 4
save a 5
id=$(batch_of "$A")
is "both versions are of its batch" "$(batch_of "$A" 1)" "$id"
is "and the other file's" "$(batch_of "$B")" "$id"
ok "undo takes one back" undo "$A"
like "the first is there" "$("$ANIMFS" cat "$A/$BONE")" ,4.5,-2,
ok "undo --batch takes the rest back" undo --batch="$id" "$MNT"
ok "of both files" all_are "$SAMPLE"
shows a 1 && shows b 1

# ---- after a pause it is another batch ----
save a 6
advance 1999
save b 6
is "without a pause: one" "$(batch_of "$A")" "$(batch_of "$B")"
advance 2000
save deep/c 6
fails "after two seconds: another" test "$(batch_of "$C")" = "$(batch_of "$A")"

# ---- others in between ----
id=$(batch_of "$C")
undo "$C"
shows deep/c 1
save deep/c 7
is "the same program has saved after an undo" "$(batch_of "$C")" "$id"
like "then its batch is not taken back in part" "$(undo --batch="$id" "$C" 2>&1)" 'saved after that batch'
like "and the file stays" "$("$ANIMFS" cat "$C/$BONE")" ,7.5,-2,
for file in a b deep/c; do undo --number=1 "$SRC/obj/$file.canm"; done
ok "all is as before" all_are "$SAMPLE"

# ---- a folder that is removed ----
chmod 750 "$B"
shows a 1 && shows b 1 && shows deep/c 1
rm -r "$M"
fails "rm -r" test -e "$SRC/obj"
like "the log of a file whose folder is gone" "$("$ANIMFS" log "$M/deep/c.canm" | head -n 1)" 'removed  \[rm\]  batch'
is "by its path in SOURCE, too" "$("$ANIMFS" log "$C")" "$("$ANIMFS" log "$M/deep/c.canm")"
is "all of it is one batch" "$(batches | wc -w)" 1
id=$(batches)
is "cat --version of one" "$("$ANIMFS" cat --version=1 "$M/deep/c.canm/$BONE" 2>&1)" "$("$ANIMFS" cat "$SAMPLE/$BONE")"
ok "undo --dry-run of one" undo --dry-run "$M/deep/c.canm"
fails "makes no folder" test -e "$SRC/obj"
ok "undo of one" undo "$M/deep/c.canm"
ok "has made the folders" same_file "$C" "$SAMPLE"
ok "undo of all" undo --batch="$id" "$MNT"
ok "all is there" all_are "$SAMPLE"
is "with its mode" "$(stat -c %a "$B")" 750
ok "in the mount" shows b 1

# ---- clips and files as folders ----
shows a 1
mv "$M/a.canm/walk" "$M/a.canm/stride"
like "a clip that is renamed" "$("$ANIMFS" log "$A" | head -n 1)" 'stride.*  \[mv\]  batch'
undo "$A"
after 250 test -d "$M/a.canm/walk"
rm -r "$M/a.canm/Idle"
like "a removed clip is pending" "$("$ANIMFS" status "$MNT")" 'pending    1 not saved yet
    obj/a.canm/Idle/ \(removed\)'
ok "undo at once, while the clip is still in the file" undo "$M/a.canm"
like "is undo of its removal" "$("$ANIMFS" log "$A" | head -n 1)" 'undo: clip Idle removed'
ok "to the byte" all_are "$SAMPLE"
after 2000 test -d "$M/a.canm/Idle"
rm -r "$M/a.canm/Idle"
ok "by the path in SOURCE, too" undo "$A"
like "is undo of its removal" "$("$ANIMFS" log "$A" | head -n 1)" 'undo: clip Idle removed'
after 2000 test -d "$M/a.canm/Idle"
rm -r "$M"/{a,b}.canm/Idle
sync "$MNT"
like "a clip that is removed" "$("$ANIMFS" log "$A" | head -n 1)" 'Idle removed  \[rm\]  batch'
is "and in another file" "$(batch_of "$B")" "$(batch_of "$A")"
ok "undo of both" undo --batch="$(batch_of "$A")" "$MNT"
ok "to the byte" all_are "$SAMPLE"
after 250 test -d "$M/a.canm/Idle"
cp -r "$M/a.canm/walk" "$M/a.canm/again"
sync "$MNT"
like "a clip that is copied" "$("$ANIMFS" log "$A" | head -n 1)" 'again.*  \[cp\]  batch'
undo "$A"
after 250 test ! -d "$M/a.canm/again"
cp -r "$M/a.canm" "$M/new.canm"
sync "$MNT"
like "a file that is copied" "$("$ANIMFS" log "$M/new.canm" | head -n 1)" '  \[cp\]  batch'
ok "undo of that" undo --batch="$(batch_of "$SRC/obj/new.canm")" "$MNT"
fails "removes it" test -e "$SRC/obj/new.canm"
ok "and no other" all_are "$SAMPLE"
umount_animfs

# ---- a folder that other programs removed ----
rm -r "$SRC/obj"
like "undo says so" "$(undo "$C" 2>&1)" 'another program changed it'
fails "and makes no folder" test -e "$SRC/obj"
ok "by its number" undo --number=1 "$C"
ok "it comes back" same_file "$C" "$SAMPLE"
like "a folder that never was there" "$(undo "$SRC/nowhere/c.canm" 2>&1)" 'No such file'
