#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# history_kill.sh - undo, redo and put, also where they drop old versions for want of room, killed at
# every call that changes something: the file is one of the two versions, all that were there can be had,
# and the next command leaves nothing behind.
# (crash.sh kills mounts.)
. "$(dirname "$0")/lib.sh"
FAULT_SO=$(dirname "$ANIMFS")/fault.so
[ -f "$FAULT_SO" ] || skip_all "fault.so is not built"
FILE=$SRC/w.canm
BONE=$FILE/walk/bones/Bone01.csv
mkdir "$SRC/.animfs"
cp tests/data/canm/wiki512.canm "$FILE"
"$ANIMFS" cat "$BONE" | sed 's/,1.5,-2,/,2.5,-2,/' >"$WORK/two.csv"
"$ANIMFS" cat "$BONE" | sed 's/,1.5,-2,/,3.5,-2,/' >"$WORK/three.csv"
cp "$FILE" "$WORK/v1"
"$ANIMFS" put "$BONE" "$WORK/two.csv"
cp "$FILE" "$WORK/v2"
cp -a "$SRC" "$WORK/template"
"$ANIMFS" put "$BONE" "$WORK/three.csv"
cp "$FILE" "$WORK/v3"

# Is that what the file is, or one of its versions?
can_be_had()
{
	local number
	cmp -s "$1" "$FILE" && return
	for number in $("$ANIMFS" log "$FILE" 2>/dev/null | sed 's/^\*\? *\([0-9]*\) .*/\1/'); do
		"$ANIMFS" cat --version="$number" "$FILE/raw.canm" 2>/dev/null | cmp -s "$1" - && return
	done
	return 1
}

old=("$WORK/v1") # what can be had in any case
# What is wrong after a kill; A and B are the versions before and after.
look()
{
	local version number
	for number in $("$ANIMFS" log "$FILE" | sed 's/^\*\? *\([0-9]*\) .*/\1/'); do
		"$ANIMFS" cat --version="$number" "$FILE/walk/clip.json" >/dev/null ||
			echo "version $number is listed and cannot be read"
	done
	cp "$FILE" "$WORK/found"
	cmp -s "$FILE" "$1" || cmp -s "$FILE" "$2" || echo "the file is neither"
	"$ANIMFS" ls "$FILE" >/dev/null || echo "the file cannot be read"
	"$ANIMFS" bone add "$FILE" after >/dev/null || echo "nothing can be saved"
	for version in "$1" "$WORK/found" "${old[@]}"; do
		can_be_had "$version" || echo "${version##*/} is lost"
	done
	"$ANIMFS" undo "$FILE" || echo "no undo"
	cmp -s "$FILE" "$1" || cmp -s "$FILE" "$2" || echo "undo leads elsewhere"
	find "$SRC" -name '.animfs-*'
	find "$SRC/.animfs/history" -type f -links +1
}

# kills NAME A B COMMAND...: from $WORK/template.
kills()
{
	local name=$1 a=$2 b=$3 n wrong status
	shift 3
	for ((n = 1; n < 200; n++)); do
		rm -rf "$SRC"
		cp -a "$WORK/template" "$SRC"
		echo "change kill $SRC $n" >"$WORK/fault"
		status=0
		{ FAULT=$WORK/fault LD_PRELOAD=$FAULT_SO "$@" >/dev/null 2>&1; } 2>/dev/null || status=$?
		[ "$status" -ge 128 ] || break
		wrong=$(look "$a" "$b" 2>&1)
		[ -z "$wrong" ] || not_ok "$name, killed at call $n" "$wrong"
	done
	is "$name ends well when it is not killed" "$status" 0
	ok "$name was killed at many calls ($((n - 1)))" test "$n" -gt 8
}

kills undo "$WORK/v2" "$WORK/v1" "$ANIMFS" undo "$FILE"
kills put "$WORK/v2" "$WORK/v3" "$ANIMFS" put "$BONE" "$WORK/three.csv"
rm -rf "$SRC"
cp -a "$WORK/template" "$SRC"
"$ANIMFS" undo "$FILE"
rm -rf "$WORK/template"
cp -a "$SRC" "$WORK/template"
kills redo "$WORK/v1" "$WORK/v2" "$ANIMFS" redo "$FILE"

# ---- without room the oldest versions go ----
"$ANIMFS" put "$BONE" "$WORK/three.csv"
"$ANIMFS" put "$BONE" "$WORK/two.csv"
"$ANIMFS" bone add "$FILE" fourth
cp "$FILE" "$WORK/v4"
"$ANIMFS" bone add "$FILE" fifth
cp "$FILE" "$WORK/v5"
rm -rf "$WORK/template"
cp -a "$SRC" "$WORK/template"
"$ANIMFS" put "$BONE" "$WORK/three.csv"
cp "$FILE" "$WORK/v6"
rm -rf "$SRC"
cp -a "$WORK/template" "$SRC"
kept() { find "$SRC/.animfs/history" -type f -regex '.*/[0-9]+' | wc -l; }
before=$(kept)
old=("$WORK/v4")
kills "put without room" "$WORK/v5" "$WORK/v6" "$ANIMFS" put --history=$((3 * 8192)) "$BONE" "$WORK/three.csv"
ok "old versions went ($before, and then $(kept))" test "$(kept)" -lt "$before"
