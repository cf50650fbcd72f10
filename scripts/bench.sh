#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bench.sh [ROUNDS] - measures a mount against the same work on plain files, and writes the table to
# bench/RESULTS.md. Each round does both sides of every comparison, one right after the other, so
# that what else the machine does meets both; a ratio is taken within its round.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
rounds=${1:-7}
work=$(mktemp -d /var/tmp/animfs-bench.XXXXXX)
plain=$(mktemp -d /dev/shm/animfs-bench.XXXXXX)
mnt=$work/mnt

clean_up()
{
	! grep -q " $mnt fuse" /proc/self/mounts || fusermount3 -uz "$mnt"
	rm -rf "$work" "$plain"
}
trap clean_up EXIT

export LC_ALL=C.UTF-8
mkdir "$mnt"
"$BUILD/make_game" "$work/small" --files 10 --clips 2 --bones 40 --frames 60 --plain 10
"$BUILD/make_game" "$work/game" --files 200 --clips 2 --bones 40 --frames 60 --plain 200

# clock NAME COMMAND...: appends the microseconds that COMMAND takes to the file NAME.
clock()
{
	local name=$1 before=${EPOCHREALTIME/./}
	shift
	"$@" >/dev/null || [ $? -eq 1 ]
	echo $((${EPOCHREALTIME/./} - before)) >>"$work/t.$name"
}

mounted() { "$BUILD/animfs" --views=csv "$1" "$mnt"; }
unmounted() { "$BUILD/animfs" umount "$mnt"; }
search() { grep -r -c --include='*.csv' '^17,.*,1\.5' "$1"; }

bone=object/e0000/ranger.canm/walk/bones/hips.csv
# An edit that changes something every time.
edit="3s/^\\(1,[^,]*\\),[^,]*/\\1,0.00"
plain_edit()
{
	sed -i "${edit}$1/" "$plain/game/$bone"
	cp "$work/game/object/e0000/ranger.canm" "$work/new"
	sync "$work/new"
	mv "$work/new" "$work/copy.canm"
}

mounted "$work/game"
cp -r "$mnt" "$plain/game"
unmounted
files=$(find "$plain/game" -name '*.csv' | wc -l)
megabytes=$(find "$plain/game" -name '*.csv' -print0 | du -cb --files0-from=- | tail -n 1 | cut -f 1)
megabytes=$((megabytes / 1000000))

for ((round = 1; round <= rounds; round++)); do
	clock mount-small mounted "$work/small"
	unmounted
	clock mount-game mounted "$work/game"
	clock plain-cold search "$plain/game"
	clock cold search "$mnt"
	clock warm search "$mnt"
	clock plain-warm search "$plain/game"
	clock edit sed -i "${edit}1$round/" "$mnt/$bone"
	clock plain-edit plain_edit "2$round"
	unmounted
done

# row WHAT NAME BASE: medians in milliseconds, and the ratio's median, least and greatest.
row()
{
	paste "$work/t.$2" "$work/t.$3" | awk '{ print $1 / $2, $1, $2 }' >"$work/rows"
	printf '| %s | %.1f ms | %.1f ms | %.2f (%.2f to %.2f) |\n' "$1" \
		"$(column 2 | middle)" "$(column 3 | middle)" \
		"$(cut -d ' ' -f 1 "$work/rows" | sort -g | middle 1)" \
		"$(cut -d ' ' -f 1 "$work/rows" | sort -g | head -n 1)" \
		"$(cut -d ' ' -f 1 "$work/rows" | sort -g | tail -n 1)"
}
column() { cut -d ' ' -f "$1" "$work/rows" | sort -g | awk '{ print $1 / 1000 }'; }
middle() { awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2 }'; }

{
	echo "# Measurements"
	echo
	echo "Made by \`make bench\`: $rounds rounds, both sides of each comparison one after the other in"
	echo "every round; times are medians, ratios median (least to greatest)."
	echo
	echo "Machine: $(nproc) × $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)," \
		"Linux $(uname -r | cut -d - -f 1), SOURCE on $(stat -f -c %T "$work")." \
		"Source: 200 animation files of 2 clips, 40 bones and 60 frames; $files bone tables," \
		"$megabytes MB of text."
	echo
	echo "| what | animfs | compared with | ratio |"
	echo "|---|---|---|---|"
	row "mount 400 files (mount 20 files)" mount-game mount-small
	row "first grep -r over all bone CSVs (the same text on tmpfs)" cold plain-cold
	row "second grep -r (the same text on tmpfs)" warm plain-warm
	row "one value with sed -i (sed -i on tmpfs, and cp, fsync, mv of the binary)" edit plain-edit
	echo
	echo "| text | render | parse |"
	echo "|---|---|---|"
	"$BUILD/bench_text" "$work/game/object/e0000/ranger.canm"
} >"$work/results"
mkdir -p bench
mv "$work/results" bench/RESULTS.md
cat bench/RESULTS.md
