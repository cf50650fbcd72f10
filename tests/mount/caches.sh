#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# caches.sh - the kernel's caches of a mount (names, listings, attributes, pages; in a read-only mount even
# opens) are at most a second out of date, whatever program changes the files; and an unused mount costs
# nothing.
. "$(dirname "$0")/lib.sh"

walk=wiki512.canm/walk
bone=$walk/bones/Bone01.csv
edited=$WORK/edited.canm

has() { [ -e "$MNT/$1" ]; }
has_not() { [ ! -e "$MNT/$1" ]; }
says() { grep -qF -- "$2" "$MNT/$1"; }
lists() { ls -A "$MNT/$1" | grep -qxF -- "$2"; }
lists_not() { ! lists "$1" "$2"; }
mode_is() { [ "$(stat -c %a "$MNT/$1")" = "$2" ]; }
soon() { ok "$1" wait_for 2 "${@:2}"; }
told() { has wiki512.canm && says .animfs/errors wiki512.canm; }
# Nothing of it is news to the kernel any more.
use() { find "$MNT" -type f -exec cat {} + >/dev/null 2>&1; ls -lR "$MNT" >/dev/null; }
fresh() { rm -rf "${SRC:?}"/* "$SRC/.animfs"; cp tests/data/canm/wiki512.canm "$SRC"; }

# The file with 2.5 in place of 1.5, by the commands.
cp tests/data/canm/wiki512.canm "$edited"
"$ANIMFS" cat "$edited/walk/bones/Bone01.csv" | sed 's/,1\.5,-2,/,2.5,-2,/' >"$WORK/new.csv"
"$ANIMFS" put "$edited/walk/bones/Bone01.csv" <"$WORK/new.csv"
bad=$(sed 's/2\.5/2..5/' "$WORK/new.csv")
# With a clip of another name.
renamed=$WORK/renamed.canm
cp tests/data/canm/wiki512.canm "$renamed"
"$ANIMFS" cat "$renamed/walk/clip.json" | sed 's/"clip": "walk"/"clip": "stroll"/' >"$WORK/clip.json"
"$ANIMFS" put "$renamed/walk/clip.json" <"$WORK/clip.json"

# A mapping keeps its text when the file is replaced; a new one has the new text.
cat >"$WORK/mapped.py" <<'PYTHON'
import mmap, os, sys, time

def mapping():
    with open(sys.argv[1], "rb") as f:
        return mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)

text = mapping()
print(text[:].find(b"1.5,-2") >= 0, flush=True)
end = time.monotonic() + 120
while mapping()[:].find(b"2.5,-2") < 0 and time.monotonic() < end:
    time.sleep(0.02)
print(mapping()[:].find(b"2.5,-2") >= 0, flush=True)
time.sleep(0.9)  # longer than the kernel is notified of a change
print(text[:].find(b"1.5,-2") >= 0, flush=True)
PYTHON

outside()
{
	local how=$1 reader
	fresh
	echo text >"$SRC/plain"
	ln "$SRC/plain" "$WORK/elsewhere"
	mkdir "$SRC/sub"
	mount_animfs -o "$how"
	use

	rm -f "$WORK/mapped"
	python3 "$WORK/mapped.py" "$MNT/$bone" >"$WORK/mapped" &
	reader=$!
	wait_for 3 grep -q True "$WORK/mapped"
	cp "$edited" "$SRC/new" && mv "$SRC/new" "$SRC/wiki512.canm"
	soon "$how: a file that was replaced: its texts" says $bone 0,0,2.5,-2
	soon "$how: all of them" says ${bone%csv}json '[2.5, -2'
	wait $reader
	is "$how: new mappings too, and the old one stays" "$(paste -sd ' ' "$WORK/mapped")" "True True True"
	cat tests/data/canm/wiki512.canm >"$SRC/wiki512.canm"
	soon "$how: one that was written in place" says $bone 0,0,1.5,-2
	is "$how: the size is the text's" "$(stat -c %s "$MNT/$bone")" "$(wc -c <"$MNT/$bone")"
	chmod 640 "$SRC/wiki512.canm"
	[ "$how" = ro ] && mode=440 || mode=640
	soon "$how: its mode" mode_is $bone $mode
	touch -d 2001-02-03 "$SRC/wiki512.canm"
	soon "$how: its times" test "$SRC/wiki512.canm" -ot "$SRC/plain" -a ! "$MNT/wiki512.canm" -nt "$SRC/wiki512.canm"

	cp "$renamed" "$SRC/new" && mv "$SRC/new" "$SRC/wiki512.canm"
	soon "$how: a clip of another name" says wiki512.canm/stroll/clip.json stroll
	soon "$how: is not under its old one" has_not $walk
	soon "$how: nor is that listed" lists_not wiki512.canm walk
	ok "$how: but the other" lists wiki512.canm stroll
	cp tests/data/canm/wiki512.canm "$SRC/new" && mv "$SRC/new" "$SRC/wiki512.canm"
	soon "$how: and back" has $bone
	soon "$how: and listed" lists wiki512.canm walk

	cp "$edited" "$SRC/another.canm"
	soon "$how: a file that came" says another.canm/walk/bones/Bone01.csv 2.5
	soon "$how: is listed" lists . another.canm
	rm "$SRC/another.canm"
	soon "$how: one that went" has_not another.canm/walk/bones/Bone01.csv
	soon "$how: is not" lists_not . another.canm
	cp "$edited" "$SRC/sub/moved.canm"
	soon "$how: in a folder" says sub/moved.canm/walk/bones/Bone01.csv 2.5
	mv "$SRC/sub" "$SRC/top"
	soon "$how: that was moved" says top/moved.canm/walk/bones/Bone01.csv 2.5
	soon "$how: away" has_not sub/moved.canm/walk/bones/Bone01.csv

	echo more >>"$SRC/plain"
	soon "$how: an ordinary file" says plain more
	echo most >>"$WORK/elsewhere"
	soon "$how: by another name of it" says plain most
	rm "$WORK/elsewhere"

	exec 7<"$MNT/$bone"
	echo no animation >"$SRC/wiki512.canm"
	soon "$how: that a file is damaged is told" told
	like "$how: who has a text open reads it" "$(cat <&7)" 0,0,1.5,-2
	exec 7<&-
	soon "$how: it is a file" says wiki512.canm "no animation"
	cp tests/data/canm/wiki512.canm "$SRC/wiki512.canm"
	soon "$how: repaired it is a folder" says $bone 0,0,1.5,-2
	soon "$how: and no error" eval '! told'
	umount_animfs
}

outside ro
outside rw

# Another mount of the same SOURCE, that can be written.
one=$MNT two=$WORK/mnt2
mkdir "$two"
for how in ro rw; do
	fresh
	MNT=$two mount_animfs -o "$how"
	mount_animfs
	MNT=$two use
	sed -i s/1.5,-2/2.5,-2/ "$one/$bone"
	MNT=$two soon "$how: what another mount saved" says $bone 2.5
	echo note >"$one/$walk/note.txt"
	MNT=$two soon "$how: put there" lists $walk note.txt
	save_errno close "$one/$bone" "$bad" >"$WORK/errno"
	MNT=$two soon "$how: and refused" lists $walk/bones Bone01.csv.rejected
	rm "$one/$walk/note.txt"
	MNT=$two soon "$how: and took away" lists_not $walk note.txt
	mkdir "$one/$walk/.deep" "$one/$walk/.deep/er"
	MNT=$two soon "$how: folders, too" lists $walk .deep
	umount_animfs
	MNT=$two umount_animfs
done

# Where the state directory is elsewhere, and not there yet.
fresh
MNT=$two mount_animfs -o ro --state="$WORK/elsewhere"
mount_animfs --state="$WORK/elsewhere"
MNT=$two use
echo note >"$one/$walk/note.txt"
MNT=$two soon "--state: what another mount put there" lists $walk note.txt
umount_animfs
MNT=$two umount_animfs

# Names that come and go by our own doing are right at once.
fresh
mount_stopped --extra-max=64K
use
has_not "$bone.rejected"
save_errno close "$MNT/$bone" "$bad" >"$WORK/errno"
ok "a refusal is there" has "$bone.rejected"
ok "and listed" lists "$walk/bones" Bone01.csv.rejected
sed -i s/1.5,-2/3.5,-2/ "$MNT/$bone"
soon "it goes with the next save" has_not "$bone.rejected"
ok "is not listed" lists_not "$walk/bones" Bone01.csv.rejected
rm "$MNT/$bone"
ok "a view that was removed is not there" has_not "$bone"
ok "nor listed" lists_not "$walk/bones" Bone01.csv
ok "it comes back" after 2000 has "$bone"
ok "is listed" lists "$walk/bones" Bone01.csv
mv "$MNT/$walk" "$MNT/wiki512.canm/stroll"
ok "a clip that was renamed" lists wiki512.canm stroll
ok "left its name" has_not "$walk"
ok "in listings, too" lists_not wiki512.canm walk
is "texts say the new one" "$(grep -c stroll "$MNT/wiki512.canm/stroll/clip.json")" 1
mv "$MNT/wiki512.canm" "$MNT/other.canm"
like "and a file's" "$(<"$MNT/other.canm/file.json")" '"file": "other.canm"'
chmod 600 "$MNT/other.canm"
soon "a file's mode is its texts'" mode_is other.canm/file.json 600
umount_animfs

# Listings that take several requests, read by two at once.
fresh
mkdir "$SRC/many"
(cd "$SRC/many" && seq -f 'a name that is not short %05g' 3000 | xargs -d '\n' touch)
for how in ro rw; do
	mount_animfs -o "$how"
	(ls "$MNT/many" >"$WORK/list1") &
	ls "$MNT/many" >"$WORK/list2"
	wait $!
	ls "$SRC/many" >"$WORK/want"
	ok "$how: a long listing" same_file "$WORK/list1" "$WORK/want"
	ok "$how: read twice at once" same_file "$WORK/list2" "$WORK/want"
	ok "$how: and again" same_file <(ls "$MNT/many") "$WORK/want"
	touch "$SRC/many/zzz"
	soon "$how: with one name more" lists many zzz
	rm "$SRC/many/zzz"
	soon "$how: and less" lists_not many zzz
	umount_animfs
done

# Milliseconds that the daemon's threads have been running.
running() { cat "/proc/${DAEMON[$MNT]}/task"/*/schedstat | awk '{ t += $1 } END { print int(t / 1e6) }'; }
fresh
mount_animfs
use
idle()
{
	local before
	before=$(running)
	for _ in 1 2 3 4; do sleep 0.5; done
	[ $(($(running) - before)) -le 2 ]
}
ok "an idle mount does nothing" wait_for 10 idle
umount_animfs
