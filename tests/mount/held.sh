#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# held.sh - a program that has a text open when the file is replaced can read it to the end, as long as all
# open old versions together take at most --held-max. Beyond it the version that was replaced first is
# dropped: only its texts end with EIO.
. "$(dirname "$0")/lib.sh"
make_game --files 1 --clips 2 --bones 40 --frames 120 --plain 0 --version 512
file=$(cd "$SRC" && find . -name '*.canm' -printf '%P\n')
mkdir "$WORK/a" "$WORK/b"
mv "$SRC/$file" "$WORK/a/file.canm"
rm -rf "${SRC:?}"/*
mapfile -t clips < <("$ANIMFS" ls "$WORK/a/file.canm" | sed -n 's,/$,,p')
view=${clips[0]}/curves.csv
other=${clips[1]}/curves.csv
"$ANIMFS" cat "$WORK/a/file.canm/$view" >"$WORK/a.csv"
"$ANIMFS" cat "$WORK/a/file.canm/$other" >"$WORK/other.csv"
cp "$WORK/a/file.canm" "$WORK/b"
awk -F, -v OFS=, '$2 == "rotation" && $5 != "" { $5 = $5 + 1 } { print }' "$WORK/a.csv" |
	"$ANIMFS" put "$WORK/b/file.canm/$view"
"$ANIMFS" cat "$WORK/b/file.canm/$view" >"$WORK/b.csv"
fails "the texts differ" cmp "$WORK/a.csv" "$WORK/b.csv"
# Smaller ones the kernel is given when they are opened.
ok "and are read in pieces" test "$(stat -c %s "$WORK/a.csv")" -gt 100000
cp "$WORK/a/file.canm" "$SRC"

F=$MNT/file.canm/$view
reads() { cmp -s "$F" "$WORK/$1.csv"; }
becomes() { cp "$WORK/$1/file.canm" "$WORK/new" && mv "$WORK/new" "$SRC/file.canm" && wait_for 3 reads "$1"; }
held() { sed -n 's/^held_bytes //p' "$MNT/.animfs/status"; }
holds() { [ "$(held)" = "$1" ]; }
ends_in_eio() { ! cat >"$WORK/read" 2>"$WORK/said" && grep -q 'Input/output error' "$WORK/said"; }

# ---- what counts ----

mount_animfs
exec 5<"$MNT/file.canm/$other"
ok "another version" becomes b
is "what says the same holds none" "$(held)" 0
ok "and is read" cmp - "$WORK/other.csv" <&5
exec 5<&-

exec 5<"$F"
ok "the next" becomes a
size=$(held)
ok "the old one is held" test "$size" -gt 0
ok "and read as it was" cmp - "$WORK/b.csv" <&5
exec 5<&-
ok "until it is closed" wait_for 5 holds 0

bone=$(dirname "$F")/bones/$(ls "$(dirname "$F")/bones" | grep -m 1 'csv$')
exec 5<"$F" 6<"$F" 7<"$bone"
ok "two texts" becomes b
ok "of one version count once" test "$(held)" -gt 0 -a "$(held)" -lt $((size * 3 / 2))
exec 5<&- 6<&-
ok "as long as one is open" test "$(held)" -gt 0
exec 7<&-
ok "of them" wait_for 5 holds 0
umount_animfs

# ---- beyond it ----

becomes_old() { cp "$WORK/$1/file.canm" "$SRC/file.canm"; }
becomes_old a
mount_animfs --held-max=$((size * 5 / 2))
exec 5<"$F"
ok "one old version" becomes b
exec 6<"$F"
ok "two" becomes a
ok "have room" test "$(held)" -gt "$size"
exec 7<"$F"
ok "a third one" becomes b
ok "has none" test "$(held)" -le $((size * 5 / 2))
ok "the first one is given up" ends_in_eio <&5
ok "and stays so" ends_in_eio <&5
ok "the second is read" cmp - "$WORK/b.csv" <&6
ok "and the third" cmp - "$WORK/a.csv" <&7
ok "and who opens the name now" cmp "$F" "$WORK/b.csv"
exec 5<&- 6<&- 7<&-
ok "all are closed" wait_for 5 holds 0
umount_animfs

# ---- who has it open for writing ----

# writes_lost FILE REPLACED GO: opens it, and writes when it was given up.
writes_lost()
{
	timeout 100 python3 - "$@" <<'PYTHON'
import errno, os, sys, time

path, opened, go = sys.argv[1:]
fd = os.open(path, os.O_RDWR)
open(opened, "w").close()
while not os.path.exists(go):
    time.sleep(0.02)
try:
    os.pwrite(fd, b"x", 0)
    print(0)
except OSError as error:
    print(errno.errorcode[error.errno])
PYTHON
}

becomes_old a
mount_animfs --held-max=1
writes_lost "$F" "$WORK/opened" "$WORK/go" >"$WORK/errno" &
writer=$!
ok "a writer" wait_for 10 test -e "$WORK/opened"
ok "who has not begun" becomes b
: >"$WORK/go"
wait $writer
is "cannot any more" "$(<"$WORK/errno")" EIO
is "nothing is saved" "$(md5sum <"$SRC/file.canm")" "$(md5sum <"$WORK/b/file.canm")"
echo "x" >"$WORK/x"
fails "other saves are as ever" cp "$WORK/x" "$F"
ok "good ones, too" cp "$WORK/b.csv" "$F"
ok "and are there" reads b
umount_animfs

# ---- where the kernel opens no files ----

for max in 1G 1; do
	becomes_old a
	mount_animfs -o ro --held-max=$max
	exec 5<"$F"
	ok "ro, $max: another version" becomes b
	if [ $max = 1 ]; then
		ok "ro, $max: the old one is given up" ends_in_eio <&5
		is "ro, $max: and holds nothing" "$(held)" 0
	else
		ok "ro, $max: the old one is read" cmp - "$WORK/a.csv" <&5
	fi
	exec 5<&-
	ok "ro, $max: the new one is there" reads b
	umount_animfs
done
