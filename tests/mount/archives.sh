#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# archives.sh - programs that copy with all attributes (cp -a, rsync -aAX, tar --xattrs --acls) copy an
# animation's folder out and back, report no failure, and change nothing; attributes that they set on the
# folders in it are remembered, and change nothing else.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/plain.canm"
cp tests/data/canm/wiki512.canm "$SRC/given.canm"
cp tests/data/ribbon/objects024.anm "$SRC"
chmod 640 "$SRC/given.canm"
files=(plain.canm objects024.anm)
if setfacl -m u:65534:rw,g:65534:r "$SRC/given.canm" && setfattr -n user.tag -v 1 "$SRC/given.canm"; then
	files+=(given.canm)
else
	skip "$SRC has no ACLs or no extended attributes"
fi
OUT=$WORK/out

state_of() { stat -c '%a %u %g %y' "$SRC/$1" && getfacl -cnpE "$SRC/$1" 2>/dev/null && md5sum <"$SRC/$1"; }
unchanged() { is "$1: $2: and nothing changed" "$(state_of "$1")" "$before"; }

round_trips() # FILE
{
	local before f=$1
	before=$(state_of "$f")
	rm -rf "$OUT"
	mkdir "$OUT" "$OUT/tar"
	ok "$f: cp -a out" cp -a "$MNT/$f" "$OUT"
	ok "$f: cp -a back" cp -a "$OUT/$f/." "$MNT/$f"
	unchanged "$f" "cp -a"
	ok "$f: rsync -aAX out" rsync -aAX "$MNT/$f/" "$OUT/rsync"
	ok "$f: rsync -aAX back" rsync -aAX "$OUT/rsync/" "$MNT/$f"
	ok "$f: rsync -aAX back, of every file" rsync -aAXI "$OUT/rsync/" "$MNT/$f"
	unchanged "$f" "rsync -aAX"
	ok "$f: tar out" tar --xattrs --acls -C "$MNT" -cf "$OUT/tar.tar" "$f"
	ok "$f: unpacked" tar --xattrs --acls -C "$OUT/tar" -xpf "$OUT/tar.tar"
	is "$f: it has all texts" "$(cd "$OUT/tar/$f" && find . | sort)" "$(cd "$MNT/$f" && find . | sort)"
	ok "$f: tar in" tar --xattrs --acls -C "$MNT" -xpf "$OUT/tar.tar"
	ok "$f: tar --xattrs in" tar --xattrs --xattrs-include='*' -C "$MNT" -xpf "$OUT/tar.tar"
	ok "$f: tar --acls in" tar --acls -C "$MNT" -xpf "$OUT/tar.tar"
	unchanged "$f" "tar"
	is "$f: nothing was refused" "$(find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""
}

options=("")
[ "$(id -u)" -ne 0 ] || options+=("-o allow_other")
for option in "${options[@]}"; do
	# shellcheck disable=SC2086 # none, or two words
	mount_stopped $option
	for file in "${files[@]}"; do
		round_trips "$file"
	done
	umount_animfs
done

# ---- what is given to the folders and texts ----

# shellcheck disable=SC2086 # none, or two words
mount_stopped $option
TOP=$MNT/plain.canm
before=$(state_of plain.canm)
value() { getfattr --absolute-names --only-values -n user.note "$1" 2>/dev/null; }
for folder in walk walk/bones walk/frames; do
	ok "$folder: setfattr" setfattr -n user.note -v "of $folder" "$TOP/$folder"
	is "$folder: getfattr" "$(value "$TOP/$folder")" "of $folder"
	ok "$folder: chmod" chmod 710 "$TOP/$folder"
	ok "$folder: utimens" touch -d '2001-02-03 04:05:06' "$TOP/$folder"
	is "$folder: are remembered" "$(stat -c '%a %Y' "$TOP/$folder")" "710 $(date -d '2001-02-03 04:05:06' +%s)"
done
chmod 711 "$TOP/Idle/bones" # nothing else was given to it
is "one of them alone is, too" "$(stat -c %a "$TOP/Idle/bones")" 711
unchanged plain.canm "given to folders"
ok "an attribute can be removed" setfattr -x user.note "$TOP/walk"
is "and is gone" "$(value "$TOP/walk")" ""
ok "a renamed clip" mv "$TOP/walk" "$TOP/run"
is "keeps what was given to its folders" "$(stat -c %a "$TOP/run" "$TOP/run/bones" | xargs)" "710 710"
ok "under its old name again" mv "$TOP/run" "$TOP/walk"

before=$(state_of plain.canm)
BONE=$TOP/walk/bones/Bone01.csv
acl_of() { getfacl -cnpE "$1" 2>/dev/null | sort | xargs; }
if [ ${#files[@]} -eq 3 ] && [ -n "$option" ]; then
	ok "setfacl of a folder" setfacl -m u:65534:r-x "$TOP/walk/bones"
	is "is remembered" "$(acl_of "$TOP/walk/bones")" "group::--x mask::r-x other::--- user:65534:r-x user::rwx"
	is "its mode has the mask" "$(stat -c %a "$TOP/walk/bones")" 750
	ok "setfacl of a text" setfacl -m u:65534:rw "$BONE"
	is "is, too" "$(acl_of "$BONE")" "group::r-- mask::rw- other::r-- user:65534:rw- user::rw-"
	is "its mode has the mask" "$(stat -c %a "$BONE")" 664
	ok "chmod of that" chmod 640 "$BONE"
	like "is the mask's" "$(acl_of "$BONE")" "mask::r-- .*user:65534:rw-"
	ok "an ACL that says no more than a mode" setfacl -b "$BONE"
	ok "another" setfacl --set u::rw,g::-,o::- "$TOP/walk/bones/Bone01.json"
	is "is that mode" "$(stat -c %a "$TOP/walk/bones/Bone01.json")" 600
	unchanged plain.canm "ACLs"
else
	skip "ACLs are shown with allow_other only, and where SOURCE has them"
fi

# ---- made before it is written ----

made_first() # PATH: what tar --xattrs does
{
	python3 - "$1" <<'PYTHON'
import os, sys

path = sys.argv[1]
with open(path, "rb") as f:
    text = f.read()
os.unlink(path)
os.mknod(path, 0o600)
with open(path, "r+b") as f:
    f.write(text.replace(b",1.5,", b",2.5,", 1))
PYTHON
}
ok "a text that is made by mknod, and then written" made_first "$BONE"
like "is saved" "$("$ANIMFS" cat "$SRC/plain.canm/walk/bones/Bone01.csv")" ",2\.5,"
fails "mknod of a text that is there" python3 -c "import os; os.mknod('$BONE')"
ok "mknod of an ordinary file" python3 -c "import os; os.mknod('$TOP/walk/note', 0o640)"
is "makes one" "$(stat -c '%a %s' "$TOP/walk/note")" "640 0"
fails "a FIFO is not made in there" mkfifo "$TOP/walk/fifo"
umount_animfs
