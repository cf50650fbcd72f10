#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# upper.sh - a name that is not a view's is an ordinary file, symlink or folder: it survives a remount, is
# kept in the state directory and never in the binary, and moves with its folder.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
mount_animfs
TOP=$MNT/wiki512.canm
BONES=$TOP/walk/bones

ok "a file" sh -c "echo note >'$BONES/notes.txt'"
ok "in a clip" sh -c "echo clip >'$TOP/walk/todo'"
ok "in the file's folder" sh -c "echo top >'$TOP/README'"
ok "a symbolic link" ln -s hip.csv "$BONES/link"
ok "a folder" mkdir -p "$BONES/sub/sub"
ok "with a file" sh -c "echo deep >'$BONES/sub/sub/f'"
ok "a hidden one in the file's folder" mkdir "$TOP/.git"
ok "with mode, times and xattrs" sh -c "chmod 600 '$BONES/notes.txt' && touch -d 2001-02-03 '$BONES/notes.txt' && setfattr -n user.a -v b '$BONES/notes.txt'"
ok "names like a bone's are files" sh -c "echo text >'$BONES/bone0.csv'"
is "and make none" "$("$ANIMFS" ls "$SRC/wiki512.canm/walk/bones" | grep -c bone0)" 0
ok "append, link, rename, seek in them" sh -c "cd '$BONES' && echo more >>notes.txt && ln notes.txt second && mv second third && truncate -s 1000 third"
is "work" "$(stat -c '%h %s' "$BONES/notes.txt")" "2 1000"
truncate -s 10 "$BONES/notes.txt"
touch -d 2001-02-03 "$BONES/notes.txt"
ok "the binary is as it was" cmp "$SRC/wiki512.canm" tests/data/canm/wiki512.canm
is "SOURCE has nothing new but the state" "$(ls -A "$SRC")" $'.animfs\nwiki512.canm'
is "which is not listed" "$(ls -A "$MNT")" wiki512.canm

listing() { (cd "$TOP" && find . -mindepth 1 ! -path '*/frames*' -printf '%P %M %l\n' | sort); }
before=$(listing)
umount_animfs
mount_animfs
is "all is there after a remount" "$(listing)" "$before"
is "with its text" "$(cat "$BONES/sub/sub/f" "$TOP/walk/todo" "$TOP/README")" $'deep\nclip\ntop'
is "and attributes" "$(stat -c '%a %Y' "$BONES/notes.txt") $(getfattr --absolute-names --only-values -n user.a "$BONES/notes.txt")" \
	"600 $(date -d 2001-02-03 +%s) b"
is "the link leads to the view" "$(<"$BONES/link")" "$(<"$BONES/hip.csv")"
ok "and is saved through" sh -c "sed 2s/,-1,/,-0.5,/ '$BONES/link' >'$WORK/t' && cat '$WORK/t' >'$BONES/link'"
like "as the view" "$("$ANIMFS" cat "$SRC/wiki512.canm/walk/bones/hip.csv")" ',-0\.[45]'

ok "a clip that is renamed" mv "$TOP/walk" "$TOP/run"
is "takes them along" "$(cat "$TOP/run/bones/sub/sub/f" "$TOP/run/todo")" $'deep\nclip'
like "and has the name in the binary" "$("$ANIMFS" ls "$SRC/wiki512.canm")" 'run/'
fails "its old name is gone" ls "$TOP/walk"
ok "its views are there" grep -q '"clip": "run"' "$TOP/run/clip.json"
ok "and save" sed -i 's/"loop": true/"loop": false/' "$TOP/run/clip.json"
fails "onto another clip it cannot be renamed" mv -T "$TOP/run" "$TOP/Idle"
fails "nor into a name that the mapping does not make" mv "$TOP/run" "$TOP/a:b"
umount_animfs
mount_animfs
is "after a remount, too" "$(cat "$TOP/run/bones/sub/sub/f" "$TOP/run/todo")" $'deep\nclip'

ok "a file that is renamed" mv "$TOP" "$MNT/other.canm"
TOP=$MNT/other.canm
is "takes them along, too" "$(cat "$TOP/run/bones/sub/sub/f" "$TOP/README")" $'deep\ntop'
ok "and is the file" test -f "$SRC/other.canm"
ok "they can be removed" rm -r "$TOP/run/bones/sub" "$TOP/run/bones/notes.txt" "$TOP/run/bones/link"
is "and are gone" "$(cd "$TOP/run/bones" && echo sub* notes* link* third)" "sub* notes* link* third"
umount_animfs
mount_animfs
is "for good" "$(ls "$TOP/run/bones" | grep -c 'sub\|notes\|link')" 0

# What stays of files that are gone is told.
cp "$SRC/other.canm" "$SRC/bare.canm"
ok "a note that comes and goes" sh -c "echo note >'$MNT/bare.canm/run/note' && rm '$MNT/bare.canm/run/note'"
rm "$SRC/other.canm" "$SRC/bare.canm"
like "what is kept of a file that is gone" "$(<"$MNT/.animfs/errors")" 'other.canm: there is no such file any more'
fails "and not that nothing is" grep bare.canm "$MNT/.animfs/errors"
umount_animfs
