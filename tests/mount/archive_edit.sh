#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# archive_edit.sh - edits of animations in archives become loose files, where the game takes them.
. "$(dirname "$0")/lib.sh"

data=$PWD/tests/data
pack=$PWD/tests/mount/pack.py
errors() { cat "$MNT/.animfs/errors"; }
mkdir -p "$WORK/in/OBJECT" "$WORK/in/WEAPON" "$WORK/rab/MODEL" "$WORK/rab/TEXTURE"
cp "$data/canm/wiki512.canm" "$WORK/in/OBJECT/RANGER.CANM"
cp "$data/canm/edf6_768.canm" "$WORK/in/OBJECT/OTHER.CANM"
cp "$data/canm/wiki512.canm" "$WORK/rab/MODEL/inner.canm"
head -c 3000 /dev/urandom >"$WORK/rab/TEXTURE/a.dds"
python3 "$pack" rab "$WORK/in/OBJECT/X.MRAB" "$WORK/rab"
echo stock >"$WORK/in/WEAPON/w.txt"
python3 "$pack" cpk "$SRC/Root.cpk" "$WORK/in"
touch "$SRC/EDF6.exe"
stock=$(sha256sum <"$SRC/Root.cpk")
python3 - "$SRC/Root.cpk" "$WORK/opened" <<'EOF' &
# Says when the archive was closed by somebody who could write to it.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init()
libc.inotify_add_watch(fd, sys.argv[1].encode(), 0x2 | 0x8)
os.read(fd, 4096)
open(sys.argv[2], "w").close()
EOF
watcher=$!
mount_stopped

top=$MNT/Root.cpk.d/OBJECT
bone=$top/RANGER.CANM/walk/bones/hip.csv
loose=$SRC/Mods/OBJECT/RANGER.CANM
# edit FILE TX: gives the first key of a bone another x
edit() { sed -i "2s/^0,0,[^,]*,/0,0,$2,/" "$1"; }
# shows FILE TX
shows() { grep -Eq "^0,0,$2[0-9]*," "$1"; }
# What an edit of the extracted member makes
extracted()
{
	mkdir -p "$WORK/ex"
	cp "$data/canm/wiki512.canm" "$WORK/ex/RANGER.CANM"
	edit_text "$1" | "$ANIMFS" put "$WORK/ex/RANGER.CANM/walk/bones/hip.csv"
}
edit_text() { "$ANIMFS" cat "$WORK/ex/RANGER.CANM/walk/bones/hip.csv" | sed "2s/^0,0,[^,]*,/0,0,$1,/"; }

# ---- a save ----
like "a text in an archive can be written" "$(stat -c %A "$bone")" '^-rw'
ok "sed -i saves one" edit "$bone" 0.5
ok "the loose file is where the game takes it" test -f "$loose"
is "it has the archive's mode and owner" "$(stat -c '%a %u %g' "$loose")" "$(stat -c '%a %u %g' "$SRC/Root.cpk")"
is "its folder that of the game" "$(stat -c %a "$SRC/Mods")" "$(stat -c %a "$SRC")"
extracted 0.5
ok "it is what an edit of the extracted member makes" same_file "$loose" "$WORK/ex/RANGER.CANM"
ok "the mount shows it" shows "$bone" 0.5
ok "as raw, too" same_file "$top/RANGER.CANM/raw.CANM" "$loose"
like "file.json names it" "$(cat "$top/RANGER.CANM/file.json")" '"from": "Mods/OBJECT/RANGER.CANM"'
is "so does an attribute" "$(getfattr --absolute-names --only-values -n user.animfs.from "$top/RANGER.CANM")" \
	Mods/OBJECT/RANGER.CANM
is "other members have none" "$(getfattr --absolute-names --only-values -n user.animfs.from "$top/OTHER.CANM" 2>/dev/null)" ""
fails "nor does their text" grep -q '"from"' "$top/OTHER.CANM/file.json"
ok "cp saves, too" sh -c "sed '2s/^0,0,[^,]*,/0,0,0.25,/' '$bone' >'$WORK/t.csv' && cp '$WORK/t.csv' '$bone'"
ok "and replaces it" shows "$bone" 0.25
like "a text that is wrong is refused" "$(sed -i '2s/^0,0,/0,0,x/' "$bone" 2>&1)" 'Bad message'
ok "with the reason beside it" test -f "$bone.error"
rm -f "$bone.error" "$bone.rejected"
is "copying it back changes nothing" "$(cp -r "$top/RANGER.CANM" "$WORK/copy" && before=$(sha256sum <"$loose") &&
	cp -r "$WORK/copy/." "$top/RANGER.CANM" && [ "$before" = "$(sha256sum <"$loose")" ] && echo same)" same
echo note >"$top/RANGER.CANM/walk/notes.txt"
is "ordinary files can lie there" "$(cat "$top/RANGER.CANM/walk/notes.txt")" note
if command -v vim >/dev/null; then
	vim -es -u NONE -c '2s/^0,0,[^,]*,/0,0,0.75,/' -c wq "$bone" </dev/null >/dev/null 2>&1
	ok "vim saves one" shows "$bone" 0.75
else
	skip "vim is not installed"
fi
ok "chmod and touch of a text are remembered" sh -c "chmod 640 '$bone' && touch -d 2020-01-01 '$bone'"

# ---- history ----
advance 2500
like "log lists the versions" "$("$ANIMFS" log "$loose")" 'walk: hip translation 1 key'
is "by its path in the mount, too" "$("$ANIMFS" log "$top/RANGER.CANM")" "$("$ANIMFS" log "$loose")"
like "status lists it" "$("$ANIMFS" status "$MNT")" 'Mods/OBJECT/RANGER\.CANM'
for i in 1 2 3 4 5 6; do "$ANIMFS" undo "$SRC/Root.cpk/OBJECT/RANGER.CANM" >/dev/null 2>&1 || break; done
ok "undo of the first edit removes it" test ! -e "$loose"
ok "and the member is shown" wait_for 5 shows "$bone" 0
ok "redo brings it back" "$ANIMFS" redo "$SRC/Root.cpk/OBJECT/RANGER.CANM"
ok "in the mount" wait_for 5 sh -c "! grep -q '^0,0,0,' '$bone'"

# ---- others add, change and remove it ----
rm "$loose"
ok "removing the loose file brings the member back" wait_for 5 shows "$bone" 0
ok "byte for byte" same_file "$top/RANGER.CANM/raw.CANM" "$data/canm/wiki512.canm"
fails "and says so" grep -q '"from"' "$top/RANGER.CANM/file.json"
cp "$WORK/ex/RANGER.CANM" "$loose"
ok "one that is added shows" wait_for 5 shows "$bone" 0.5
extracted 0.125
mv "$WORK/ex/RANGER.CANM" "$loose"
ok "one that changes shows" wait_for 5 shows "$bone" 0.125
mkdir -p "$SRC/Mods/WEAPON"
echo mod >"$SRC/Mods/WEAPON/w.txt"
ok "a file that is no animation shows, too" wait_for 5 sh -c "[ \"\$(cat '$MNT/Root.cpk.d/WEAPON/w.txt')\" = mod ]"
is "and says so" "$(getfattr --absolute-names --only-values -n user.animfs.from "$MNT/Root.cpk.d/WEAPON/w.txt")" \
	Mods/WEAPON/w.txt
is "with its size" "$(stat -c %s "$MNT/Root.cpk.d/WEAPON/w.txt")" 4
rm "$SRC/Mods/WEAPON/w.txt"
ok "until it is gone" wait_for 5 sh -c "[ \"\$(cat '$MNT/Root.cpk.d/WEAPON/w.txt')\" = stock ]"

# ---- removing ----
ok "rm -r of its folder removes the loose file" rm -r "$top/RANGER.CANM"
ok "which is gone" test ! -e "$loose"
like "into history" "$("$ANIMFS" log "$loose")" 'removed'
ok "and the member is shown" wait_for 5 shows "$bone" 0
like "a member itself cannot be removed" "$(rm -r "$top/OTHER.CANM" 2>&1)" 'Read-only file system'
advance 3000
ok "and has everything that it had" same_file "$top/OTHER.CANM/raw.CANM" "$data/canm/edf6_768.canm"
ok "no loose file came of it" test ! -e "$SRC/Mods/OBJECT/OTHER.CANM"
for command in "mv $top/OTHER.CANM $top/NEW.CANM" "mv $top/OTHER.CANM $MNT/NEW.CANM" "mkdir $top/NEW.CANM" \
	"cp $data/canm/wiki512.canm $top/NEW.CANM" "ln $MNT/Root.cpk.d/WEAPON/w.txt $MNT/link"; do
	like "${command%% *} is refused" "$($command 2>&1)" 'Read-only file system'
done
like "and named" "$(errors)" 'OBJECT/NEW\.CANM: not changed: '

# ---- spelling ----
rm -rf "$SRC/Mods"
mkdir -p "$SRC/mods/Object"
ok "a folder that is there under another case is used" edit "$bone" 0.5
is "and no second one made" "$(cd "$SRC" && find . -ipath './mods/*' -type f)" ./mods/Object/RANGER.CANM
rm -rf "$SRC/mods"

# ---- a RAB ----
inner=$top/X.MRAB.d/MODEL/inner.canm/walk/bones/hip.csv
like "a member of a RAB is read-only" "$(stat -c %A "$inner")" '^-r--'
fails "it cannot be saved" edit "$inner" 0.5
like "the reason names the way" "$(errors)" 'cannot be a loose file, since the game opens that archive as a whole; --rebuild writes a new one, animfs export'
ok "nothing was written" test ! -e "$SRC/Mods"

# ---- many at once ----
reader() { while [ ! -e "$WORK/stop" ]; do cat "$top"/*.CANM/*/bones/*.csv; done >/dev/null 2>"$WORK/reader.$1"; }
for i in 1 2; do reader $i & readers[i]=$!; done
for i in $(seq 20); do
	edit "$bone" "0.$((i + 10))"
	edit "$top/RANGER.CANM/walk/bones/Bone01.csv" "1.$((i + 10))"
done
touch "$WORK/stop"
wait "${readers[@]}"
ok "edits among readers are all there" sh -c "grep -q '^0,0,0.3,' '$bone' || grep -q '^0,0,0.30' '$bone' || grep -q '^0,0,0.29' '$bone'"
is "no reader met an error" "$(cat "$WORK"/reader.*)" ""
umount_animfs

# ---- --rebuild ----
rm -rf "$SRC/Mods"
mount_animfs --rebuild
ok "with --rebuild it is saved" edit "$inner" 0.5
ok "in a new archive" test -f "$SRC/Mods/OBJECT/X.MRAB"
ok "the mount shows that" wait_for 5 shows "$inner" 0.5
ok "as a file, too" wait_for 5 same_file "$top/X.MRAB" "$SRC/Mods/OBJECT/X.MRAB"
is "the others in it are as they were" "$("$ANIMFS" cat "$SRC/Mods/OBJECT/X.MRAB/TEXTURE/a.dds" | sha256sum)" \
	"$(sha256sum <"$WORK/rab/TEXTURE/a.dds")"
rm "$SRC/Mods/OBJECT/X.MRAB"
ok "until it is removed" wait_for 5 shows "$inner" 0
umount_animfs

# ---- elsewhere ----
rm -rf "$SRC/Mods" "$SRC/EDF6.exe"
mount_animfs
ok "without a game the loose file is in the state directory" edit "$bone" 0.5
ok "by the archive's path" test -f "$SRC/.animfs/overlay/Root.cpk/OBJECT/RANGER.CANM"
ok "and shown" shows "$bone" 0.5
umount_animfs
mkdir "$WORK/mods"
mount_animfs --overlay="$WORK/mods"
ok "--overlay has others" shows "$bone" 0
ok "and takes edits" edit "$bone" 0.25
ok "there" test -f "$WORK/mods/Root.cpk/OBJECT/RANGER.CANM"
ok "which are shown" shows "$bone" 0.25
umount_animfs
mount_animfs -o ro
ok "a read-only mount shows the loose file" shows "$bone" 0.5
fails "and takes no edit" edit "$bone" 0.25
umount_animfs

is "the archive has not changed" "$(sha256sum <"$SRC/Root.cpk")" "$stock"
ok "nor was it opened for writing" test ! -e "$WORK/opened"
kill "$watcher"
