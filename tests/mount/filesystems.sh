#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# filesystems.sh - SOURCE on filesystems that lack something: flags of renameat2(), links, times finer
# than a second, a ctime of their own, owners and modes. Each that this machine has, and two that
# fault.so makes out of any.
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
export PYTHONDONTWRITEBYTECODE=1
cp tests/data/canm/wiki512.canm "$WORK/plain.canm"
bone=walk/bones/Bone01.csv other=walk/bones/Scene_Root.csv
# What the same edits come to on an ordinary filesystem.
edited()
{
	cp "$1" "$WORK/edited.canm"
	"$ANIMFS" cat "$WORK/edited.canm/$2" | sed "$3" | "$ANIMFS" put "$WORK/edited.canm/$2"
}

is_there() { [ -e "$1" ]; }
is_away() { [ ! -e "$1" ]; }
nothing_left() { [ -z "$(find "$SRC" -name '.animfs-*' ! -path "$SRC/.animfs" -o -path '*/partial/*')" ]; }
kill_mount()
{
	kill -KILL "${DAEMON[$MNT]}"
	wait "${DAEMON[$MNT]}" 2>/dev/null
	unset "DAEMON[$MNT]"
	fusermount3 -u "$MNT" 2>/dev/null || umount -l "$MNT" 2>/dev/null
}

# write_unseen TIMES FILE BYTES: an edit of $bone in the mount is saved; then what is in BYTES is written into
# FILE, in place, and its times are set back. Where TIMES are "coarse", all in one second, if the machine is
# as fast. Makes $WORK/other.csv, the text of $other between the two, and prints whether stat() shows it.
write_unseen()
{
	python3 - "$@" "$MNT/unseen.canm/$bone" "$MNT/unseen.canm/$other" "$WORK/other.csv" <<'PYTHON'
import os, sys, time

times, path, theirs, view, other, copy = sys.argv[1:]

def read(name):
    with open(name, "rb") as file:
        return file.read()

facts = lambda st: (st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns)
theirs, saved = read(theirs), read(view).replace(b"1.5,-2", b"2.5,-2", 1)
with open(view + ".new", "wb") as file:
    file.write(saved)
if times == "coarse":
    time.sleep(1.02 - time.time() % 1)  # in real time: stamps are of whole seconds
os.rename(view + ".new", view)
between = read(other)
before = os.stat(path)
fd = os.open(path, os.O_WRONLY)
os.pwrite(fd, theirs, 0)
os.close(fd)
os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
after = os.stat(path)
with open(copy, "wb") as file:
    file.write(between)
print("unseen" if facts(before) == facts(after) else "seen")
PYTHON
}

# An outside change that its times do not show, and a save of another bone: $1 is the filesystem,
# $2 what its times are: "coarse" (to be tried until all of it falls into one second) or "any".
unseen_change()
{
	local shown=seen file=$SRC/unseen.canm
	edited "$WORK/plain.canm" $bone 's/1\.5,-2/7.5,-2/'
	for _ in {1..300}; do
		rm -f "$file"
		cp "$WORK/plain.canm" "$file"
		wait_for 5 is_there "$MNT/unseen.canm/$bone"
		shown=$(write_unseen "$2" "$file" "$WORK/edited.canm")
		sed '2s/^0,0,[^,]*/0,0,42/' "$WORK/other.csv" >"$MNT/unseen.canm/$other"
		[ "$2:$shown" = coarse:seen ] || break
	done
	like "$1: another's change is kept by a save of another bone ($shown)" \
		"$("$ANIMFS" cat "$file/$bone")" '7\.5,-2'
	like "$1: which is saved" "$("$ANIMFS" cat "$file/$other")" '0,0,42'
	like "$1: and the view shows it" "$(cat "$MNT/unseen.canm/$bone")" '7\.5,-2'
	[ "$2" = any ] || is "$1: no time shows that change" "$shown" unseen
}

# Another program writes the same number of bytes into an ordinary file of which the kernel has pages,
# in the second in which they were written: is it seen by who opens it, and by who has it open?
plain_change()
{
	python3 - "$SRC/plain" "$MNT/plain" <<'PYTHON'
import os, sys, time

there, here = sys.argv[1:]

def write(data, flags=os.O_WRONLY):
    fd = os.open(there, flags, 0o644)
    os.pwrite(fd, data, 0)
    os.close(fd)

def shows(read, data):
    end = time.monotonic() + 120
    while read() != data:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True

def by_name():
    with open(here, "rb") as file:
        return file.read()

time.sleep(1.02 - time.time() % 1)  # in real time: stamps are of whole seconds
write(b"first", os.O_WRONLY | os.O_CREAT)
fine = shows(by_name, b"first")
write(b"other")
fine = fine and shows(by_name, b"other")
fd = os.open(here, os.O_RDONLY)
for data in (b"third", b"forth"):
    write(data)
    fine = fine and shows(lambda: os.pread(fd, 9, 0), data)
os.unlink(there)
sys.exit(not fine)
PYTHON
}

# A file whose bones have names that FAT and NTFS do not take, and whose texts have notes beside them.
cat >"$WORK/marks.py" <<'PYTHON'
import os, sys

sys.path.append("tests/filesystems")
import oracle

clips = oracle.sample()
marks = "w?*<|>k."
clips[0] = oracle.Clip(marks, {f"{bone}?": keys for bone, keys in clips[0].bones.items()})
with open(sys.argv[1], "wb") as file:
    file.write(oracle.write(clips))
PYTHON

# What differs in case only, where that is one name.
other_case()
{
	cp "$WORK/plain.canm" "$SRC/case.canm"
	if [ ! -e "$SRC/CASE.canm" ]; then
		rm "$SRC/case.canm"
		return
	fi
	ok "$1: it is there by another spelling" wait_for 5 is_there "$MNT/CASE.canm/$bone"
	ok "$1: mv to another spelling" mv -T "$MNT/case.canm" "$MNT/Case.canm"
	is "$1: renames the file" "$(ls "$SRC" | grep -ix case.canm)" Case.canm
	is "$1: and the folder" "$(ls "$MNT" | grep -ix case.canm)" Case.canm
	ok "$1: a save by that" sed -i 's/1\.5,-2/2.5,-2/' "$MNT/Case.canm/$bone"
	edited "$WORK/plain.canm" $bone 's/1\.5,-2/2.5,-2/'
	ok "$1: is in the file" cmp "$SRC/Case.canm" "$WORK/edited.canm"
	ok "$1: rm" rm -r "$MNT/Case.canm"
	ok "$1: removes the file" wait_for 8 is_away "$SRC/Case.canm"
}

# $1: the filesystem's name
odd_names()
{
	local clip=$MNT/marks.canm/'w?*<|>k%2E'
	python3 "$WORK/marks.py" "$SRC/marks.canm"
	ok "$1: odd names: a file" wait_for 5 is_there "$clip/bones/hips?.csv"
	ok "$1: odd names: a note" cp README.md "$clip/what?"
	ok "$1: odd names: another" cp README.md "$clip/bones/end."
	is "$1: odd names: they are listed" \
		"$( (cd "$clip" && find . -name 'what?' -o -name 'end.') | sort | paste -sd ' ')" './bones/end. ./what?'
	is "$1: odd names: a bad text" "$(save_errno close "$clip/bones/hips?.csv" $'frame,tx\n0,x\n')" EBADMSG
	like "$1: odd names: is kept" "$(cat "$clip/bones/hips?.csv.rejected")" 0,x
	ok "$1: odd names: mv of a note" mv "$clip/what?" "$clip/bones/<it>"
	ok "$1: odd names: mv of the clip" mv "$clip" "$MNT/marks.canm/why?"
	clip=$MNT/marks.canm/'why?'
	ok "$1: odd names: the note is with it" cmp README.md "$clip/bones/<it>"
	ok "$1: odd names: ln of a text" ln "$clip/bones/hips?.csv" "$clip/bones/copy?.csv"
	ok "$1: odd names: is a copy" cmp "$clip/bones/hips?.csv" "$clip/bones/copy?.csv"
	ok "$1: odd names: cp -r of the clip" cp -r "$clip" "$MNT/marks.canm/other?"
	ok "$1: odd names: becomes a clip" wait_for 8 "$ANIMFS" cat "$SRC/marks.canm/other?/clip.json"
	ok "$1: odd names: with its note" wait_for 3 cmp README.md "$MNT/marks.canm/other?/bones/<it>"
	ok "$1: odd names: rm -r" rm -r "$MNT/marks.canm"
	ok "$1: odd names: removes the file" wait_for 8 is_away "$SRC/marks.canm"
	is "$1: odd names: nothing of it is left" "$(find "$SRC/.animfs/extra" "$SRC/.animfs/rejected" -path '*marks*')" ""
}

# What every filesystem must be able to do. $1: its name; $2: as of unseen_change; then options.
work_on()
{
	local name=$1 times=$2
	shift 2
	cp "$WORK/plain.canm" "$SRC/a.canm"
	mount_animfs "$@"
	local F=$MNT/a.canm/$bone

	edited "$WORK/plain.canm" $bone 's/1\.5,-2/2.5,-2/'
	ok "$name: a save" sed -i 's/1\.5,-2/2.5,-2/' "$F"
	ok "$name: is in the file" cmp "$SRC/a.canm" "$WORK/edited.canm"
	edited "$SRC/a.canm" $bone 's/2\.5,-2/3.5,-2/'
	is "$name: a save by rename" "$(save_errno rename "$F" "$("$ANIMFS" cat "$WORK/edited.canm/$bone")")" 0
	ok "$name: is, too" cmp "$SRC/a.canm" "$WORK/edited.canm"
	edited "$SRC/a.canm" $bone 's/3\.5,-2/4.5,-2/'
	is "$name: a save by write and fsync" "$(save_errno fsync "$F" "$("$ANIMFS" cat "$WORK/edited.canm/$bone")")" 0
	ok "$name: is, too" cmp "$SRC/a.canm" "$WORK/edited.canm"
	is "$name: a bad one is refused" "$(save_errno close "$F" "$(sed s/4.5,-2/x,-2/ "$F")")" EBADMSG
	like "$name: and kept" "$(cat "$F.rejected")" x,-2
	ok "$name: it can go" rm "$F.rejected"
	edited "$SRC/a.canm" $bone 's/4\.5,-2/5.5,-2/'
	ok "$name: the whole file" cp "$WORK/edited.canm" "$MNT/a.canm/raw.canm"
	ok "$name: is what it says" cmp "$SRC/a.canm" "$WORK/edited.canm"
	ok "$name: a skeleton" sh -c "printf 'bone,parent,ty\\nBone01,Scene_Root,1\\nScene_Root,,\\n' >'$MNT/a.canm/skeleton.csv'"
	ok "$name: is beside the file" grep -q Bone01,Scene_Root "$SRC/a.canm.skeleton.csv"

	ok "$name: an ordinary file" cp README.md "$MNT/note"
	ok "$name: mv -n of it" mv -n "$MNT/note" "$MNT/note2"
	ok "$name: has moved it" cmp README.md "$SRC/note2"
	ok "$name: a text in a virtual folder" cp README.md "$MNT/a.canm/note"
	echo theirs >"$MNT/note"
	ok "$name: mv -n where a file is" mv -n "$MNT/note" "$MNT/note2"
	ok "$name: leaves that" cmp README.md "$SRC/note2"
	ok "$name: mv over it" mv "$MNT/note" "$MNT/note2"
	is "$name: replaces it" "$(cat "$SRC/note2")" theirs
	ok "$name: mkdir and mv -n of a folder" sh -c "mkdir '$MNT/d' && mv -n '$MNT/d' '$MNT/e' && touch '$MNT/e/f'"
	ok "$name: rm" rm "$MNT/note2" "$MNT/e/f"
	ok "$name: rmdir" rmdir "$MNT/e"

	ok "$name: cp -r of an animation" cp -r "$MNT/a.canm" "$MNT/c.canm"
	ok "$name: becomes a file" wait_for 8 cmp -s "$SRC/c.canm" "$SRC/a.canm"
	ok "$name: with its skeleton" wait_for 3 cmp -s "$SRC/c.canm.skeleton.csv" "$SRC/a.canm.skeleton.csv"
	ok "$name: and its text" wait_for 3 cmp -s README.md "$MNT/c.canm/note"
	ok "$name: mv of an animation" mv "$MNT/c.canm" "$MNT/d.canm"
	ok "$name: moves the file" cmp "$SRC/d.canm" "$SRC/a.canm"
	ok "$name: its skeleton" test -f "$SRC/d.canm.skeleton.csv" -a ! -e "$SRC/c.canm.skeleton.csv"
	ok "$name: and its text" cmp README.md "$MNT/d.canm/note"
	ok "$name: a clip renamed" mv "$MNT/d.canm/walk" "$MNT/d.canm/run"
	ok "$name: is in the file" "$ANIMFS" cat "$SRC/d.canm/run/clip.json"
	cp "$SRC/d.canm" "$WORK/before.canm"
	ok "$name: rm -r of a clip" rm -r "$MNT/d.canm/run"
	ok "$name: takes it out of the file" wait_for 8 sh -c "! cmp -s '$SRC/d.canm' '$WORK/before.canm'"
	ok "$name: undo" "$ANIMFS" undo "$SRC/d.canm"
	ok "$name: brings it back" cmp "$SRC/d.canm" "$WORK/before.canm"
	ok "$name: rm -r of an animation" rm -r "$MNT/d.canm"
	ok "$name: removes the file" wait_for 8 is_away "$SRC/d.canm"

	unseen_change "$name" "$times"
	ok "$name: changes of an ordinary file within a second" plain_change
	odd_names "$name"
	other_case "$name"
	ok "$name: nothing is left" wait_for 5 nothing_left

	cp -r "$MNT/a.canm" "$WORK/texts"
	ok "$name: a folder of texts" cp -r "$WORK/texts" "$MNT/k.canm"
	kill_mount
	# The daemon may have been about to do that, or have done it.
	if [ -d "$SRC/k.canm" ]; then
		printf '\0' >"$SRC/.animfs/mounts/0123456789abcdef"
		mv -T "$SRC/k.canm" "$SRC/.animfs-0123456789abcdef-to-k.canm"
	fi
	mount_animfs "$@"
	ok "$name: becomes a file after a kill" wait_for 8 cmp -s "$SRC/k.canm" "$SRC/a.canm"
	rm -r "$SRC/k.canm" "$WORK/texts"
	edited "$SRC/a.canm" $bone 's/5\.5,-2/6.5,-2/'
	ok "$name: a save then" sed -i 's/5\.5,-2/6.5,-2/' "$F"
	ok "$name: is in the file" cmp "$SRC/a.canm" "$WORK/edited.canm"
	ok "$name: nothing is left then" wait_for 5 nothing_left
	umount_animfs
}

# ---- the filesystems ----

mounted=()
loop=
finish_mounts()
{
	local status=$? at mount
	for mount in "${!DAEMON[@]}"; do
		MNT=$mount umount_animfs
	done
	for at in "${mounted[@]}"; do
		umount "$at" 2>/dev/null || fusermount3 -u "$at" || umount -l "$at"
	done
	[ -z "$loop" ] || losetup -d "$loop"
	(exit "$status")
	finish
}
trap finish_mounts EXIT

# $1: name, $2: as of unseen_change, then the command that mounts it on the folder after it.
filesystem()
{
	local name=$1 times=$2 words
	shift 2
	SRC=$WORK/$name
	mkdir -p "$SRC"
	if ! words=$("$@" "$SRC" 2>&1) || ! mountpoint -q "$SRC"; then
		skip "$name cannot be mounted here: $(tail -n 1 <<<"$words")"
		return
	fi
	mounted+=("$SRC")
	work_on "$name" "$times"
}

# image TYPE SIZE MKFS...: a file with such a filesystem
image()
{
	local file=$WORK/$1.image size=$2
	shift 2
	truncate -s "$size" "$file"
	"$@" "$file" >/dev/null 2>&1
}

has()
{
	command -v "$1" >/dev/null && return
	skip "$1 is not installed"
	return 1
}

if has_faults; then
	for kind in flags poor; do
		SRC=$WORK/$kind
		mkdir "$SRC"
		echo "$kind 22 $SRC" >"$WORK/$kind.fault"
		export FAULT=$WORK/$kind.fault LD_PRELOAD=$FAULTS
		work_on "$kind" any -o unconfined
		unset FAULT LD_PRELOAD
	done
fi
# What others change below bindfs, whose kernel knows folders by the paths that they had.
changes_below()
{
	local below=$1 SRC=$2
	mkdir -p "$below/one/inner"
	cp "$WORK/plain.canm" "$below/one/inner/in.canm"
	mount_animfs
	ok "bindfs: a file in two folders" wait_for 5 is_there "$MNT/one/inner/in.canm/$bone"
	mv "$below/one" "$below/two"
	ok "bindfs: others rename the upper one" wait_for 5 is_there "$MNT/two"
	sleep 1.5 # in real time: bindfs lets the kernel believe what was there for a second
	ok "bindfs: what is in it is there" wait_for 5 is_there "$MNT/two/inner/in.canm/$bone"
	ok "bindfs: the old name is not" wait_for 5 is_away "$MNT/one"
	ok "bindfs: an edit there" sed -i 's/1\.5,-2/2.5,-2/' "$MNT/two/inner/in.canm/$bone"
	edited "$WORK/plain.canm" $bone 's/1\.5,-2/2.5,-2/'
	ok "bindfs: is in the file" cmp "$below/two/inner/in.canm" "$WORK/edited.canm"
	umount_animfs
}

mkdir "$WORK/below"
if has bindfs; then
	filesystem bindfs any bindfs "$WORK/below"
	mountpoint -q "$WORK/bindfs" && changes_below "$WORK/below" "$WORK/bindfs"
fi
if [ "$(id -u)" -ne 0 ]; then
	skip "only root can mount images"
else
	if has mkfs.ext4; then
		image ext4 16M mkfs.ext4 -q -F -I 128 -m 0
		filesystem ext4-128 coarse mount -o loop "$WORK/ext4.image"
	fi
	if has mkfs.exfat; then
		image exfat 16M mkfs.exfat
		filesystem exfat any mount -o loop -t exfat "$WORK/exfat.image"
		if has mount.exfat-fuse; then
			image exfat 16M mkfs.exfat
			loop=$(losetup -f --show "$WORK/exfat.image" 2>/dev/null)
			filesystem exfat-fuse any mount.exfat-fuse "$loop"
		fi
	fi
	if has mkntfs && has ntfs-3g; then
		image ntfs 16M mkntfs -q -F
		filesystem ntfs-3g any ntfs-3g "$WORK/ntfs.image"
	fi
	if has mkfs.vfat; then
		image vfat 16M mkfs.vfat
		filesystem vfat any mount -o loop -t vfat "$WORK/vfat.image"
	fi
fi
if has sshfs; then
	server=$(find /usr/lib/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/openssh/sftp-server \
		2>/dev/null | head -n 1)
	printf '#!/bin/sh\nexec %s\n' "$server" >"$WORK/ssh"
	chmod +x "$WORK/ssh"
	mkdir "$WORK/remote"
	if [ -n "$server" ]; then
		filesystem sshfs any sshfs -o ssh_command="$WORK/ssh" "localhost:$WORK/remote"
	else
		skip "sftp-server is not installed"
	fi
fi
