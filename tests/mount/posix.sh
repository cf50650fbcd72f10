#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is no animation behaves as on the bare filesystem: the same calls end alike in a plain folder
# and through the mount (posix_ops.c: case by case; random_ops.c: those of a seed), and what other programs do to
# SOURCE meanwhile shows within a second and leads nowhere else.
. "$(dirname "$0")/lib.sh"
TOOLS=$(dirname "$ANIMFS")
BARE=$WORK/bare
mkdir "$BARE"

options=()
[ "$(id -u)" -ne 0 ] || options=(-o allow_other)
mount_animfs "${options[@]}"

# ---- case by case ----

# as_bare CASE
as_bare()
{
	mkdir "$BARE/$1" "$MNT/$1"
	"$TOOLS/posix_ops" "$BARE/$1" "$1" >"$WORK/$1.bare" 2>&1
	"$TOOLS/posix_ops" "$MNT/$1" "$1" >"$WORK/$1.mounted" 2>&1
	ok "$1 is as on the bare filesystem" diff "$WORK/$1.bare" "$WORK/$1.mounted"
	ok "$1 says something" test -s "$WORK/$1.bare"
	rm -rf "${MNT:?}/$1"
	fails "$1 can be removed" test -e "$SRC/$1"
}

for case in $("$TOOLS/posix_ops" list); do
	[ "$case" = privileged ] || as_bare "$case"
done
umount_animfs
mount_animfs "${options[@]}" -o unconfined
as_bare privileged
umount_animfs
mount_animfs "${options[@]}"

# ---- any operations ----

mkdir "$BARE/random" "$MNT/random"
ok "operations of one seed" "$TOOLS/random_ops" "$BARE/random" "$MNT/random" "${RANDOM_OPS:-5000}" "${SEED:-1}"
rm -rf "$MNT/random"

# Two programs at once, each in a folder of its own.
mkdir "$BARE/left" "$BARE/right" "$MNT/left" "$MNT/right"
"$TOOLS/random_ops" "$BARE/left" "$MNT/left" 2000 2 >"$WORK/left" 2>&1 &
left=$!
ok "operations beside others" "$TOOLS/random_ops" "$BARE/right" "$MNT/right" 2000 3
status=0
wait $left || status=$?
is "the others" "$(tail -n 1 "$WORK/left") $status" "2000 operations, both the same 0"
rm -rf "$MNT/left" "$MNT/right"

# ---- many ----

mkdir "$SRC/many"
(cd "$SRC/many" && seq 20000 | xargs touch)
is "20,000 files" "$(find "$MNT/many" -type f | wc -l)" 20000
is "again" "$(cd "$MNT/many" && stat -c %s -- * | sort | uniq -c | xargs)" "20000 0"
ok "removed while they are read" rm -r "$MNT/many"
fails "all gone" test -e "$SRC/many"

# ---- what happens outside ----

content_is() { [ "$(cat "$1")" = "$2" ]; }
gone() { [ ! -e "$1" ]; }

echo first >"$SRC/text"
ok "a file made outside" wait_for 2 content_is "$MNT/text" first
exec 5<"$MNT/text"
echo second >"$SRC/text"
ok "written outside" wait_for 2 content_is "$MNT/text" second
is "through a descriptor that was open" "$(cat <&5)" second
echo third >"$SRC/new" && mv "$SRC/new" "$SRC/text"
ok "replaced outside" wait_for 2 content_is "$MNT/text" third
exec 5<&-
chmod 600 "$SRC/text"
mode_is() { [ "$(stat -c %a "$1")" = "$2" ]; }
ok "its mode changed outside" wait_for 2 mode_is "$MNT/text" 600
stat "$MNT/text" >/dev/null
mv "$SRC/text" "$SRC/moved"
ok "moved outside" wait_for 2 gone "$MNT/text"
is "to a new name" "$(cat "$MNT/moved")" third
rm "$SRC/moved"
ok "removed outside" wait_for 2 gone "$MNT/moved"

# The inode number of what was removed comes back with something else.
for kind in file folder link; do
	stat "$MNT/reused" >/dev/null 2>&1
	rm -rf "$SRC/reused"
	case $kind in
	file) echo "$kind" >"$SRC/reused" ;;
	folder) mkdir "$SRC/reused" ;;
	link) ln -s nowhere "$SRC/reused" ;;
	esac
	same_kind() { [ "$(stat -c '%F %s' "$MNT/reused")" = "$(stat -c '%F %s' "$SRC/reused")" ]; }
	if [ "$kind" = folder ]; then
		ok "a name that becomes a $kind" wait_for 2 test -d "$MNT/reused"
	else
		ok "a name that becomes a $kind" wait_for 2 same_kind
	fi
done

mkdir -p "$SRC/a/b/c" && echo deep >"$SRC/a/b/c/f"
is "a deep file" "$(cat "$MNT/a/b/c/f")" deep
mv "$SRC/a/b" "$SRC/other"
ok "a folder moved outside" wait_for 2 gone "$MNT/a/b/c/f"
is "is at its new place" "$(cat "$MNT/other/c/f")" deep
mkdir -p "$SRC/a/b/c" && echo again >"$SRC/a/b/c/f"
ok "another in its place" wait_for 2 content_is "$MNT/a/b/c/f" again

# ---- nothing leads out of SOURCE ----

mkdir "$WORK/outside" && echo secret >"$WORK/outside/f"
ln -s "$WORK/outside" "$SRC/link"
ln -s "$WORK/outside/f" "$SRC/file-link"
is "a link is a link" "$(readlink "$MNT/link")" "$WORK/outside"
is "and its own size" "$(stat -c %F "$MNT/file-link")" "symbolic link"
chmod 700 "$WORK/outside"
chown -h "$(id -u):$(id -g)" "$MNT/file-link"
touch -h -d @1000 "$MNT/file-link"
is "times of a link are the link's" "$(stat -c %Y "$SRC/file-link")" 1000
like "and not the target's" "$(stat -c %Y "$WORK/outside/f")" '^[0-9]{6,}$'
# A folder in use is swapped for a link out of SOURCE, back and forth.
mkdir "$SRC/swap"
swap_many()
{
	for ((i = 0; i < 300; i++)); do
		mv -T "$SRC/swap" "$WORK/kept" && ln -s "$WORK/outside" "$SRC/swap"
		rm -f "$SRC/swap" && mv -T "$WORK/kept" "$SRC/swap"
	done
}
swap_many &
swapper=$!
# By the mount's own folder, so that it is the daemon that goes there and not the kernel.
python3 - "$MNT/swap" <<'PYTHON'
import os, sys

made = 0
for i in range(3000):
    try:
        folder = os.open(sys.argv[1], os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        continue
    for act in (lambda: os.close(os.open("made", os.O_CREAT | os.O_WRONLY, dir_fd=folder)),
                lambda: os.mkdir("folder", dir_fd=folder),
                lambda: os.unlink("f", dir_fd=folder),
                lambda: os.unlink("made", dir_fd=folder),
                lambda: os.rmdir("folder", dir_fd=folder)):
        try:
            act()
        except OSError:
            pass
    os.close(folder)
PYTHON
wait $swapper
is "nothing was made or removed out there" "$(ls "$WORK/outside")" f
is "nor written" "$(cat "$WORK/outside/f")" secret
umount_animfs
