#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# start_errors.sh - a mount that cannot be made reports the reason on the terminal, with a status other than
# 0, also if it would have gone into the background.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
mkdir "$SRC/inside" "$WORK/full"
touch "$WORK/full/file"

# refused NAME REGEX ARGUMENT...
refused()
{
	local name=$1 wanted=$2 words
	shift 2
	fails "$name" timeout 60 "$ANIMFS" "$@"
	words=$(timeout 60 "$ANIMFS" "$@" 2>&1)
	like "$name: says why" "$words" "$wanted"
	is "$name: nothing is mounted" "$(grep " $WORK/" /proc/self/mounts | grep fuse)" ""
}

refused "no argument" SOURCE
refused "no mountpoint" MOUNTPOINT "$SRC"
refused "one argument too many" 'more|argument' "$SRC" "$MNT" "$MNT"
refused "no SOURCE" "$WORK/nowhere.*No such file" "$WORK/nowhere" "$MNT"
refused "SOURCE is a file" 'Not a directory' "$SRC/wiki512.canm" "$MNT"
refused "no such mountpoint" "$WORK/nowhere.*No such file" "$SRC" "$WORK/nowhere"
refused "the mountpoint is a file" 'directory' "$SRC" "$WORK/full/file"
refused "the mountpoint is not empty" 'not empty' "$SRC" "$WORK/full"
refused "the mountpoint lies in SOURCE" 'inside' "$SRC" "$SRC/inside"
refused "a wrong option" 'nonsense' --nonsense "$SRC" "$MNT"
refused "a wrong mount option" 'nonsense' -o nonsense "$SRC" "$MNT"
refused "a wrong view" 'jpeg' --views=jpeg "$SRC" "$MNT"
refused "a wrong rate" 'rate|canm=0' --rate canm=0 "$SRC" "$MNT"
refused "a form of rotations that is none" 'euler, quaternion or stored' --rotations matrix "$SRC" "$MNT"
refused "bones drawn otherwise" 'octahedra or lines' --bones=boxes "$SRC" "$MNT"
refused "a BVH that is neither" 'lossless or lossy' -o bvh=tiny "$SRC" "$MNT"
refused "a frame rate that is neither" 'match, or to resample' -o gltf-rate=24 "$SRC" "$MNT"
refused "a rate of no format" 'bvh' --rate bvh=30 "$SRC" "$MNT"
refused "a wrong size" 'size' --cache=many "$SRC" "$MNT"
refused "a state directory that cannot be" 'No such file|Not a directory' --state="$WORK/no/where" "$SRC" "$MNT"
refused "an unknown uid" 'uid' -o uid=nobody-at-all "$SRC" "$MNT"
refused "a wrong umask" 'umask' -o umask=9 "$SRC" "$MNT"

is "help is on standard output" "$("$ANIMFS" --help 2>/dev/null | head -n 1)" "Usage: animfs [OPTION]... SOURCE MOUNTPOINT"
like "the version, too" "$("$ANIMFS" --version)" '^animfs [0-9]'
for command in ls cat put check umount; do
	like "animfs $command --help" "$("$ANIMFS" "$command" --help)" "^Usage: animfs $command"
	fails "animfs $command without anything" "$ANIMFS" "$command"
done
like "a file that is not there" "$("$ANIMFS" ls "$SRC/none.canm" 2>&1)" 'none\.canm: No such file'
like "a view that is not there" "$("$ANIMFS" cat "$SRC/wiki512.canm/none" 2>&1)" 'there is no "none" in wiki512'
like "a folder" "$("$ANIMFS" cat "$SRC/wiki512.canm/walk" 2>&1)" 'a folder; expected a view'
