#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# source_changes.sh - the binary is changed in SOURCE by cp, mv, rsync and git, again and again: who
# reads a text meanwhile (at once, in pieces, mapped) gets the old one or the new one and never some
# of each, and soon after the last change it is the new one, the kernel's pages included. $ROUNDS (1)
# is how often.
. "$(dirname "$0")/lib.sh"
READERS=$(realpath "$(dirname "$0")/readers.py")
make_game --files 1 --clips 1 --bones 40 --frames 120 --plain 0 --version 512
file=$(cd "$SRC" && find . -name '*.canm' -printf '%P\n')
mkdir "$WORK/a" "$WORK/b"
cp "$SRC/$file" "$WORK/a/file.canm"
rm -r "${SRC:?}"/*
view=$("$ANIMFS" ls "$WORK/a/file.canm" | sed -n 's,/$,,p' | head -n 1)/curves.csv
"$ANIMFS" cat "$WORK/a/file.canm/$view" >"$WORK/a.csv"
# The other has other values in all of the text, and another size.
cp "$WORK/a/file.canm" "$WORK/b"
awk -F, -v OFS=, '$2 == "rotation" && $5 != "" { $5 = $5 + 1 } { print }' "$WORK/a.csv" |
	"$ANIMFS" put "$WORK/b/file.canm/$view"
"$ANIMFS" cat "$WORK/b/file.canm/$view" >"$WORK/b.csv"
fails "the texts differ" cmp "$WORK/a.csv" "$WORK/b.csv"

by_mv() { cp "$WORK/$1/file.canm" "$WORK/new" && mv "$WORK/new" "$SRC/file.canm"; }
# Changes of such a file may not be heard of, so it is looked at each time; and the notifier, which
# has just looked at another one, will not be first.
by_mv_of_links()
{
	cp "$WORK/$1/file.canm" "$WORK/new" && ln -f "$WORK/new" "$WORK/link.$1" &&
		cp "$WORK/a/file.canm" "$SRC/other.canm" && mv "$WORK/new" "$SRC/file.canm"
}
by_cp() { cp "$WORK/$1/file.canm" "$SRC/file.canm"; }
by_rsync() { rsync -I "$WORK/$1/file.canm" "$SRC/file.canm"; }
by_rsync_inplace() { rsync -I --inplace "$WORK/$1/file.canm" "$SRC/file.canm"; }
by_git() { git -C "$SRC" checkout -q "$1" -- file.canm; }
by_git_branch() { git -C "$SRC" checkout -q "$1"; }

git init -q "$SRC"
printf '.animfs\n' >"$SRC/.git/info/exclude"
for version in a b; do
	git -C "$SRC" checkout -q -b $version
	by_cp $version
	git -C "$SRC" add file.canm
	git -C "$SRC" -c user.name=test -c user.email=test@example.com commit -q -m $version
done

reads() { cmp -s "$MNT/file.canm/$view" "$WORK/$1.csv"; }
# mappings_keep MARK TEXT...: a mapping made while the view says the first text, after which MARK.1
# is made, one of the second, and so on: at the end each still has its own.
mappings_keep()
{
	python3 - "$MNT/file.canm/$view" "$@" <<'PYTHON'
import mmap, sys, time

path, mark, *names = sys.argv[1:]
texts = [open(name, "rb").read() for name in names]

def map_it(text):
    """None where it is another text, or for a moment not there."""
    try:
        with open(path, "rb") as file:
            view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except (OSError, ValueError):
        return None
    return view if view[:] == text else None

views = []
for i, text in enumerate(texts):
    end = time.monotonic() + 120
    while not (view := map_it(text)):
        if time.monotonic() > end:
            sys.exit("text %d is not seen" % i)
        time.sleep(0.02)
    views.append(view)
    open("%s.%d" % (mark, i + 1), "w").close()
time.sleep(0.9)  # longer than the kernel is notified of a change
for i, (view, text) in enumerate(zip(views, texts)):
    if view[:] != text:
        sys.exit("mapping %d has another text" % i)
PYTHON
}

all_read() { [ -e "$WORK/stop.whole" ] && [ -e "$WORK/stop.in_pieces" ] && [ -e "$WORK/stop.mapped" ]; }

# way CALM ROUNDS FUNCTION NAME
way()
{
	local calm=$1 rounds=$(($2 * ${ROUNDS:-1})) how=$3 name=$4 late='' i version reading turn=0
	rm -f "$WORK"/stop*
	python3 "$READERS" "$calm" "$WORK/stop" "$MNT/file.canm/$view" "$WORK/a.csv" "$WORK/b.csv" >"$WORK/wrong" 2>&1 &
	reading=$!
	wait_for 10 all_read || late+=" first"
	for ((i = 0; i < rounds; i++)); do
		for version in a b; do
			"$how" $version
			wait_for 3 reads $version || late+=" $i$version"
			sleep 0.05
		done
	done
	# Faster than anybody reads.
	for ((i = 0; i < rounds; i++)); do
		"$how" a
		"$how" b
	done
	wait_for 3 reads b || late+=" last"
	: >"$WORK/stop"
	wait $reading
	is "$name: every text that is read is whole" "$(head -n 4 "$WORK/wrong")" ""
	is "$name: the new one is there soon" "$late" ""
	rm -f "$WORK"/mark.*
	mappings_keep "$WORK/mark" "$WORK/b.csv" "$WORK/a.csv" "$WORK/b.csv" >"$WORK/mapped" 2>&1 &
	reading=$!
	for version in a b; do
		wait_for 200 test -e "$WORK/mark.$((++turn))"
		"$how" $version
	done
	wait $reading
	is "$name: each mapping keeps the text that it was made of" "$? $(<"$WORK/mapped")" "0 "
}

# ---- what was put into a clip that others take away ----

by_mv a
clip=${view%/*}
mount_animfs
echo note >"$MNT/file.canm/$clip/note"
is "a bad save" "$(save_errno close "$MNT/file.canm/$clip/clip.json" '{"loop": 3}')" EBADMSG
ok "another name for the clip" "$ANIMFS" clip rename "$SRC/file.canm/$clip" other
other_clip() { [ -e "$MNT/file.canm/other/clip.json" ] && [ ! -e "$MNT/file.canm/$clip/clip.json" ]; }
ok "another clip is there" wait_for 3 other_clip
is "what was put there is listed once" "$(ls "$MNT/file.canm" | sort | uniq -d)" ""
ok "and there" grep -qx note "$MNT/file.canm/$clip/note"
umount_animfs
rm -r "$SRC/.animfs"
by_mv a

# Reads the text in $1 pieces, with pauses that take more than three seconds in all; it is replaced
# meanwhile.
read_slowly()
{
	python3 - "$MNT/file.canm/$view" "$WORK/begun" "$1" <<'PYTHON'
import os, sys, time

pieces = int(sys.argv[3])
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)  # no page before it is read
size = os.fstat(fd).st_size
piece = size // pieces // 4096 * 4096 + 4096
while text := os.read(fd, piece):
    sys.stdout.buffer.write(text)
    open(sys.argv[2], "w").close()
    time.sleep(3.5 / pieces)  # in real time: longer than the kernel and the mount believe anything
PYTHON
}

is_as_large_as() { [ "$(stat -c %s "$MNT/file.canm/$view")" = "$(stat -c %s "$WORK/$1.csv")" ]; }
# slow_reader FUNCTION PIECES NAME
slow_reader()
{
	local how=$1 pieces=$2 name=$3 reading
	rm -f "$WORK/begun"
	"$how" a
	"$how" b
	wait_for 3 is_as_large_as b # nobody has read it yet
	read_slowly "$pieces" >"$WORK/slow" &
	reading=$!
	wait_for 5 test -e "$WORK/begun"
	"$how" a
	wait $reading
	ok "$name: who reads slowly reads it to the end as it was" cmp "$WORK/slow" "$WORK/b.csv"
	ok "$name: and then as it is" wait_for 3 reads a
	"$how" b
}

# keeps_open NAME: others take away what somebody has open, and has read before.
keeps_open()
{
	local clip=${view%/*}
	wait_for 3 reads b
	cat "$MNT/file.canm/$view" >"$WORK/kept"
	exec 5<"$MNT/file.canm/$view"
	"$ANIMFS" clip rename "$SRC/file.canm/$clip" other
	wait_for 3 other_clip
	sleep 1.2 # in real time: the kernel believes what it knows for a second
	ok "$1: who has open what is no more reads it" cmp "$WORK/kept" /dev/fd/5
	exec 5<&-
	by_mv b
	wait_for 3 reads b
}

# ---- read meanwhile ----

for how in rw ro; do
	mount_animfs -o $how
	way 1 2 by_mv "$how, mv"
	way 0 2 by_cp "$how, cp"
	slow_reader by_mv 3 "$how, in long pauses"
	slow_reader by_mv 30 "$how"
	cp "$WORK/a/file.canm" "$SRC/other.canm"
	ls "$MNT/other.canm" >/dev/null
	slow_reader by_mv_of_links 500 "$how, several links"
	keeps_open "$how"
	if [ $how = rw ] || [ "${ROUNDS:-1}" -gt 1 ]; then
		way 1 1 by_rsync "$how, rsync"
		way 0 1 by_rsync_inplace "$how, rsync --inplace"
		way 0 1 by_git "$how, git checkout of the file"
		way 0 1 by_git_branch "$how, git checkout of a branch"
	fi
	umount_animfs
done
