#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# files.sh - animation files come, go and change names: through the mount and behind it.
. "$(dirname "$0")/lib.sh"
SAMPLE=tests/data/canm/wiki512.canm
cp "$SAMPLE" "$SRC"
mkdir "$SRC/sub"
mount_animfs

ok "cp of a new one into the mount" cp tests/data/canm/edf6_768.canm "$MNT/new.canm"
ok "is a folder" wait_for 2 test -d "$MNT/new.canm/turn"
ok "and the file" cmp "$SRC/new.canm" tests/data/canm/edf6_768.canm
ok "cp of one that does not decode" cp tests/data/canm/bad_truncated.canm "$MNT/bad.canm"
ok "is a file" cmp "$MNT/bad.canm" tests/data/canm/bad_truncated.canm
ok "while one is written it is a file" python3 - "$MNT/slow.canm" "$SAMPLE" <<'PYTHON'
import os, stat, sys
data = open(sys.argv[2], "rb").read()
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(fd, data[:100])
assert stat.S_ISREG(os.stat(sys.argv[1]).st_mode)
os.write(fd, data[100:])
os.close(fd)
PYTHON
ok "and then a folder" wait_for 2 test -d "$MNT/slow.canm/walk"
ok "by rename" sh -c "cp '$SAMPLE' '$MNT/t' && mv '$MNT/t' '$MNT/renamed.canm'"
ok "it is one, too" wait_for 2 test -d "$MNT/renamed.canm/walk"

ok "under a name of no format" mv "$MNT/renamed.canm" "$MNT/renamed.bin"
ok "it is a file" wait_for 2 cmp -s "$MNT/renamed.bin" "$SAMPLE"
ok "and back" mv "$MNT/renamed.bin" "$MNT/again.canm"
ok "a folder" wait_for 2 test -d "$MNT/again.canm/walk"
ok "into another folder" mv "$MNT/again.canm" "$MNT/sub"
ok "it is one there" wait_for 2 test -d "$MNT/sub/again.canm/walk"
ok "and can be edited" sed -i s/1.5,-2/2.5,-2/ "$MNT/sub/again.canm/walk/bones/Bone01.csv"
fails "which the file shows" cmp "$SRC/sub/again.canm" "$SAMPLE"
ok "its folder renamed" mv "$MNT/sub" "$MNT/moved"
ok "is another path to it" grep -q 0,0,2.5,-2 "$MNT/moved/again.canm/walk/bones/Bone01.csv"
ok "which can be edited" sed -i s/2.5,-2/3.5,-2/ "$MNT/moved/again.canm/walk/bones/Bone01.csv"
like "and is" "$("$ANIMFS" cat "$SRC/moved/again.canm/walk/bones/Bone01.csv")" 0,0,3.5,-2

# Behind the mount.
cp "$SAMPLE" "$SRC/behind.canm"
ok "made in SOURCE it is seen" wait_for 3 test -d "$MNT/behind.canm/walk"
cat "$MNT/behind.canm/walk/bones/Bone01.csv" >"$WORK/old.csv"
exec 3<"$MNT/behind.canm/walk/bones/Bone01.csv"
cp "$SRC/moved/again.canm" "$WORK/t" && mv "$WORK/t" "$SRC/behind.canm"
ok "replaced there, its views follow" wait_for 3 grep -q 0,0,3.5,-2 "$MNT/behind.canm/walk/bones/Bone01.csv"
is "with their sizes" "$(stat -c %s "$MNT/behind.canm/walk/bones/Bone01.csv")" "$(wc -c <"$WORK/old.csv")"
exec 3<&-
cat tests/data/canm/edf6_768.canm >"$SRC/behind.canm"
ok "written in place, too" wait_for 3 test -d "$MNT/behind.canm/turn"
ok "and old clips go" wait_for 3 test ! -e "$MNT/behind.canm/walk"
mv "$SRC/behind.canm" "$SRC/behind2.canm"
ok "renamed there" wait_for 3 test -d "$MNT/behind2.canm/turn"
ok "the old name goes" wait_for 3 test ! -e "$MNT/behind.canm"
rm "$SRC/behind2.canm"
ok "removed there" wait_for 3 test ! -e "$MNT/behind2.canm"
ln "$SRC/wiki512.canm" "$SRC/hard.canm"
ok "with a second name" wait_for 3 test -d "$MNT/hard.canm/walk"
ok "an edit" sed -i s/1.5,-2/4.5,-2/ "$MNT/hard.canm/walk/bones/Bone01.csv"
ok "is under the edited name only" cmp "$SRC/wiki512.canm" "$SAMPLE"
like "as the log says" "$(<"$LOG")" 'link'

# What nobody may lose: the file that an editor put there while another had it open.
chmod 444 "$SRC/wiki512.canm"
ok "a file without write bits can be replaced as its folder allows" sh -c "cp '$SAMPLE' '$MNT/t' && mv -f '$MNT/t' '$MNT/hard2.canm'"
umount_animfs
is "no temporaries are left" "$(find "$SRC" -name '.animfs-*')" ""
