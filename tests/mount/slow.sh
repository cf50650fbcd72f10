#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# slow.sh - while one file is being decoded, however long that takes, requests for others do not wait.
# "Slow" is a file of which no byte can be read until the test allows it (fault.so).
. "$(dirname "$0")/lib.sh"
reason=$(can_mount) || skip_all "$reason"
FAULT_SO=$(dirname "$ANIMFS")/fault.so
[ -f "$FAULT_SO" ] || skip_all "fault.so is not built"
GATE=$WORK/gate

# The file is not read until `release`. Where others wait for it after all, they do not for ever.
hold()
{
	rm -f "$GATE.held"
	echo "read hold $1" >"$GATE.new"
	mv "$GATE.new" "$GATE"
	{ sleep 300 && rm -f "$GATE"; } >/dev/null 2>&1 & # in real time: against hanging
	WATCHDOG=$!
}
is_held() { [ -e "$GATE.held" ]; }
is_still_held() { [ -e "$GATE" ] && kill -0 "${WAITING[@]}"; }
release()
{
	rm -f "$GATE"
	kill "$WATCHDOG" 2>/dev/null
	wait "${WAITING[@]}" "$WATCHDOG"
	WAITING=()
}

# slowly COMMAND...: what is to wait, in the background.
WAITING=()
mkdir "$WORK/waited"
slowly()
{
	"$@" >"$WORK/waited/${#WAITING[@]}" 2>&1 &
	WAITING+=($!)
}

# Nothing that is asked so takes long; what does not come back waits for the slow file.
soon() { timeout -k 5 100 "$@"; }

# ---- what people do with other files ----

cp tests/data/canm/wiki512.canm "$WORK/one.canm"
cp "$WORK/one.canm" "$WORK/other.canm"
"$ANIMFS" cat "$WORK/other.canm/walk/clip.json" | sed 's/"loop": true/"loop": false/' >"$WORK/false.json"
"$ANIMFS" put "$WORK/other.canm/walk/clip.json" "$WORK/false.json"
mv "$WORK/other.canm" "$WORK/two.canm"
fails "two versions of a file" same_file "$WORK/one.canm" "$WORK/two.canm"
mkdir "$SRC/near" "$SRC/far"

# The file is replaced, not written to, so that it is whole whenever somebody looks.
replace_file()
{
	cp "$1" "$2~" && mv "$2~" "$2"
}
begin()
{
	local folder
	rm -rf "${SRC:?}"/*/*
	for folder in near far; do
		cp "$WORK/one.canm" "$SRC/$folder/other.canm"
		cp "$WORK/one.canm" "$SRC/$folder/seen.canm"
		cp tests/data/kanim/stick.kanim "$SRC/$folder/other.kanim"
		echo text >"$SRC/$folder/plain.txt"
	done
	cp "$WORK/one.canm" "$SRC/near/slow.canm"
	cp tests/data/kanim/stick.kanim "$SRC/near/slow.kanim"
	LD_PRELOAD=$FAULT_SO FAULT=$GATE mount_animfs -o unconfined
}
# By what the kernel has been told, and believes until it is told otherwise.
size() { soon stat -c %s "$MNT/$1/seen.canm/walk/clip.json"; }
has_grown() { [ "$(size "$1")" -eq "$(($2 + 1))" ]; }

# others_go_on WHEN
others_go_on()
{
	local folder at seen
	ok "$1: it is being read" wait_for 10 is_held
	for folder in near far; do
		at=$MNT/$folder
		is "$1: $folder: cat of a plain file" "$(soon cat "$at/plain.txt")" text
		ok "$1: $folder: stat" soon stat "$at/plain.txt" "$at/other.canm" "$at/other.kanim.d"
		ok "$1: $folder: ls" soon ls -l "$at/other.canm" "$at/other.canm/walk/bones" "$at/other.kanim.d"
		ok "$1: $folder: cat" soon cat "$at/other.canm/walk/bones/hip.csv" "$at/other.kanim.d/frames.csv"
		is "$1: $folder: what is not there" "$(soon stat "$at/none" 2>&1 | grep -c 'No such')" 1
		is "$1: $folder: a save" "$(soon cp "$WORK/false.json" "$at/other.canm/walk/clip.json" 2>&1)" ''
		ok "$1: $folder: it is stored" same_file "$WORK/two.canm" "$SRC/$folder/other.canm"
		seen=$(size "$folder")
		replace_file "$WORK/two.canm" "$SRC/$folder/seen.canm"
		ok "$1: $folder: what other programs change" wait_for 20 has_grown "$folder" "$seen"
	done
	ok "$1: ls of the other folder" soon ls -l "$MNT/far"
	ok "$1: the slow file is still being read" is_still_held
}

# ---- nobody has seen the file before ----

for way in 'ls -l' ls stat; do
	for name in slow.canm slow.kanim; do
		begin
		hold "$SRC/near/$name"
		case $way in
		stat) slowly stat "$MNT/near/$name" "$MNT/near/$name.d" ;;
		*) slowly $way "$MNT/near" ;;
		esac
		others_go_on "$way of $name"
		release
		umount_animfs
	done
done

# ---- others replace it, and many ask for what is in it ----

for name in slow.canm slow.kanim.d; do
	begin
	ls -lR "$MNT" >/dev/null
	hold "$SRC/near/${name%.d}"
	case $name in
	*.canm) replace_file "$WORK/two.canm" "$SRC/near/slow.canm" ;;
	*) replace_file <(sed 's/2\.0/3.0/' tests/data/kanim/stick.kanim) "$SRC/near/slow.kanim" ;;
	esac
	for i in {1..40}; do
		slowly stat "$MNT/near/$name/none$i"
	done
	others_go_on "40 that ask for $name"
	release
	is "$name: they have their answers" "$(cat "$WORK"/waited/* | grep -c 'No such file')" 40
	umount_animfs
done

# ---- they replace it, and nobody asks ----

begin
ls -lR "$MNT" >/dev/null
hold "$SRC/near/slow.canm"
replace_file "$WORK/two.canm" "$SRC/near/slow.canm"
slowly sleep 3600 # in real time: somebody to wait for
others_go_on "an event"
kill "${WAITING[@]}"
release
ok "then it is shown" wait_for 10 grep -q '"loop": false' "$MNT/near/slow.canm/walk/clip.json"
umount_animfs

# ---- who asks for the same at once gets the same ----

rm -rf "${SRC:?}"/*/*
for i in {1..60}; do
	echo broken >"$SRC/near/broken$i.canm"
	cp "$WORK/one.canm" "$SRC/near/good$i.canm"
	cp tests/data/kanim/stick.kanim "$SRC/near/good$i.kanim"
done
types() { (cd "$MNT/near" && stat -c '%n %F' broken{1..60}.canm good{1..60}.{canm,kanim,kanim.d} 2>&1); }
wanted=$(for i in {1..60}; do
	printf '%s\n' "broken$i.canm regular file" "good$i.canm directory" \
		"good$i.kanim regular file" "good$i.kanim.d directory"
done | sort)
for round in {1..5}; do
	mount_animfs
	for i in {1..6}; do
		types >"$WORK/types.$i" &
		WAITING+=($!)
		ls -l "$MNT/near" >/dev/null &
		WAITING+=($!)
	done
	wait "${WAITING[@]}"
	is "round $round: all see the same" "$(sort -u "$WORK"/types.*)" "$wanted"
	is "round $round: and afterwards" "$(types | sort)" "$wanted"
	WAITING=()
	umount_animfs
done

# ---- somebody is removing what is in it ----

# What was removed comes back when nobody goes on with that for two seconds; to wait is to go on.
begin
ls -lR "$MNT" >/dev/null
rm "$MNT/near/slow.canm/walk/clip.json"
hold "$SRC/near/slow.canm"
replace_file "$WORK/two.canm" "$SRC/near/slow.canm"
slowly stat "$MNT/near/slow.canm/walk/none"
ok "a removal: the file is being read" wait_for 10 is_held
sleep 3 # in real time: a stopped clock waits for the call that is held
released=$EPOCHREALTIME
release
# What is seen 2 s after that says nothing.
is_away() { ! stat "$MNT/near/slow.canm/walk/clip.json" || ((${EPOCHREALTIME/./} - ${released/./} >= 2000000)); }
ok "a removal: what was removed is away" is_away
ok "a removal: later it is back" wait_for 10 stat "$MNT/near/slow.canm/walk/clip.json"
umount_animfs
