#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# links.sh - symbolic links in SOURCE and in the state directory, and names that are stored in files, lead
# the daemon nowhere else, so a user who may write in SOURCE gains none of root's rights. (Folders of SOURCE
# that are exchanged for links: posix.sh.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"

SAMPLE=tests/data/canm/wiki512.canm
BONE=walk/bones/Bone01.csv
OUT=$WORK/outside
mkdir "$OUT"
cp "$SAMPLE" "$OUT/private.canm"
echo precious >"$OUT/file"
chmod 700 "$OUT"
chmod 600 "$OUT"/*
untouched()
{
	[ "$(ls -A "$OUT")" = $'file\nprivate.canm' ] && [ "$(<"$OUT/file")" = precious ] &&
		cmp "$SAMPLE" "$OUT/private.canm"
}
fresh()
{
	rm -rf "$SRC"
	mkdir -m 777 "$SRC"
	cp "$SAMPLE" "$SRC/a.canm"
	chmod 666 "$SRC/a.canm"
}

# ---- links in SOURCE ----

fresh
as_user ln -s "$OUT/private.canm" "$SRC/link.canm"
as_user ln -s "$OUT" "$SRC/link"
as_user ln -s "$OUT/private.canm.skeleton.csv" "$SRC/a.canm.skeleton.csv"
as_user ln -s "$OUT/file" "$SRC/bone-names.csv"
mount_animfs -o allow_other
is "a link to an animation is a link" "$(stat -c %F "$MNT/link.canm")" "symbolic link"
fails "whose target is not shown" test -e "$MNT/link.canm/walk"
fails "nor read by who may not" as_user cat "$MNT/link.canm"
fails "nor listed" as_user ls "$MNT/link/"
save_errno close "$MNT/a.canm/skeleton.csv" $'bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nBone01,,1,2,3,0,0,0,1,1,1' >/dev/null
ok "a skeleton is not written through a link" untouched
exec 5<>"$MNT/a.canm/$BONE"
as_user rm -f "$SRC/a.canm"
as_user ln -s "$OUT/private.canm" "$SRC/a.canm"
sed s/1.5,-2/9.5,-2/ <&5 >"$WORK/new"
cat "$WORK/new" >&5
exec 5>&-
ok "a file that becomes a link is not saved to where that leads" untouched
fails "nor read from there" as_user cat "$MNT/a.canm/$BONE"
umount_animfs

# ---- links in the state directory ----

use_state()
{
	save_errno close "$MNT/a.canm/$BONE" nonsense
	save_errno rename "$MNT/a.canm/walk/clip.json" nonsense
	echo note >"$MNT/a.canm/note"
	mkdir "$MNT/a.canm/walk/.folder"
	sed -i 2s/1.5,/2.5,/ "$MNT/a.canm/$BONE"
	rm -r "$MNT/a.canm/empty"
	sync "$MNT/a.canm"
	mkdir "$MNT/a.canm/new"
	cat "$MNT/.animfs/errors"
	ls -R "$MNT"
} >/dev/null 2>&1

for part in "" /extra /rejected /history /staging /mounts /lock /README; do
	fresh
	as_user mkdir -p "$SRC/.animfs"
	[ -n "$part" ] || rm -r "$SRC/.animfs"
	target=$OUT
	case $part in /lock | /README) target=$OUT/new ;; esac
	as_user ln -s "$target" "$SRC/.animfs$part"
	# Where there is no state directory a mount may refuse to be.
	if [ -z "$part" ]; then
		timeout 60 "$ANIMFS" "$SRC" "$MNT" 2>"$WORK/words"
	else
		mount_animfs
	fi
	is_mounted && use_state
	if [ -n "${DAEMON[$MNT]:-}" ]; then
		umount_animfs
	elif is_mounted; then
		"$ANIMFS" umount "$MNT"
	fi
	ok ".animfs$part is a link: nothing is made where it leads" untouched
done

# Swapped while they are used.
fresh
mount_animfs
echo note >"$MNT/a.canm/note"
swap_many()
{
	while [ ! -e "$WORK/stop" ]; do
		mv -T "$SRC/.animfs/extra" "$WORK/kept" && ln -s "$OUT" "$SRC/.animfs/extra"
		rm -f "$SRC/.animfs/extra"
		mv -T "$WORK/kept" "$SRC/.animfs/extra"
		mv -T "$SRC/.animfs" "$WORK/kept" && ln -s "$OUT" "$SRC/.animfs"
		rm -f "$SRC/.animfs"
		mv -T "$WORK/kept" "$SRC/.animfs"
	done
} 2>/dev/null
swap_many &
swapper=$!
python3 - "$MNT/a.canm" <<'PYTHON'
import os, sys

top = sys.argv[1]
def attempt(act, *args):
    try:
        return act(*args)
    except OSError:
        pass
for i in range(1500):
    name = "%s/file%d" % (top, i % 7)
    fd = attempt(os.open, name, os.O_CREAT | os.O_WRONLY)
    if fd is not None:
        attempt(os.write, fd, b"text")
        attempt(os.close, fd)
    attempt(os.mkdir, top + "/.d")
    attempt(os.rename, name, top + "/.d/file")
    attempt(os.unlink, top + "/file")
    attempt(os.unlink, top + "/private.canm")
    attempt(os.listdir, top + "/.d")
    attempt(os.unlink, top + "/.d/file")
    attempt(os.rmdir, top + "/.d")
PYTHON
touch "$WORK/stop"
wait $swapper
ok "swapped for links while in use: nothing is made or removed out there" untouched
umount_animfs

# ---- names that files store ----

# rename_in FILE NAME OTHER: which is no longer
rename_in()
{
	python3 - "$@" <<'PYTHON'
import sys
path, old, new = sys.argv[1:]
data = open(path, "rb").read()
old = old.encode("utf-16le")
new = new.encode("utf-16le").ljust(len(old), b"\0")
assert data.count(old) == 1 and len(new) == len(old)
open(path, "wb").write(data.replace(old, new))
PYTHON
}

fresh
for name in .. . ../x a/.. /etc '\..\'; do
	file=$SRC/$(printf %s "$name" | tr '/.\\' sdb).canm
	cp "$SAMPLE" "$file"
	rename_in "$file" walk "$name"
	"$ANIMFS" check "$file" >/dev/null 2>&1 || not_ok "$file decodes"
done
cp "$SAMPLE" "$SRC/state.canm"
rename_in "$SRC/state.canm" hip ../
"$ANIMFS" clip rename "$SRC/state.canm/walk" '%2Eanimfs'
"$ANIMFS" clip copy "$SRC/state.canm/%2Eanimfs" "$SRC/state.canm/a%2F..%2F..%2Fb"
find "$SRC" -path "$SRC/.animfs" -prune -o -print | sort >"$WORK/before"
mount_animfs
is "a clip called .." "$(cd "$MNT/dd.canm" && ls -d ./%2E*)" ./%2E%2E
is "one called ." "$(cd "$MNT/d.canm" && ls -d ./%2E*)" ./%2E
is "one called ../x" "$(cd "$MNT/ddsx.canm" && ls -d ./%2E*)" "./%2E.%2Fx"
ok "one called /etc" test -d "$MNT/setc.canm/%2Fetc"
ok "one called .animfs" test -d "$MNT/state.canm/%2Eanimfs"
ok "one called a/../../b" test -d "$MNT/state.canm/a%2F..%2F..%2Fb"
ok "one with a bone called ../" test -f "$MNT/state.canm/%2Eanimfs/bones/%2E.%2F.csv"
ok "a text of .. is edited" sed -i 2s/1.5,/2.5,/ "$MNT/dd.canm/%2E%2E/bones/Bone01.csv"
ok "a refused text of it" sh -c "cp '$MNT/dd.canm/file.json' '$MNT/dd.canm/%2E%2E/bones/Bone01.csv'; test -s '$MNT/dd.canm/%2E%2E/bones/Bone01.csv.rejected'"
ok "is in its place" test -s "$SRC/.animfs/rejected/dd.canm/%252E%252E/bones/Bone01.csv.rejected"
sed 's/"clip": "[^"]*"/"clip": "a\\u0000b"/' "$MNT/dd.canm/%2E%2E/clip.json" >"$WORK/new"
is "a name with a NUL in it is refused" "$(save_errno close "$MNT/dd.canm/%2E%2E/clip.json" "$(<"$WORK/new")")" EBADMSG
mkdir "$WORK/copies"
ok "all is copied out" cp -r "$MNT/." "$WORK/copies"
is "into the copy" "$(ls -A "$WORK" | grep -vxE 'src|mnt|bin|copies|kept|outside|before|daemons|log\..*|words|new|stop|probe')" ""
umount_animfs
is "no other file was made" "$(find "$SRC" -path "$SRC/.animfs" -prune -o -print | sort | diff "$WORK/before" -)" ""
ok "nor outside" untouched
