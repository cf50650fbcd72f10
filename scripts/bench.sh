#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bench.sh [ROW...] - measures a mount against the same work done otherwise. All rows: writes the
# table to bench/RESULTS.md and draws it in bench/RESULTS.svg. Some rows: prints them.
#
# ROUNDS (5) says how often each side of a comparison is measured. Sides take turns, so that what
# else the machine does meets all of them, and a ratio is taken within its round.
#
# The baselines: the same text on tmpfs ("tmpfs"); libfuse's example passthrough_ll, cache=always,
# over that text ("passthrough_ll"), which keeps a descriptor for each file; the same edit of a plain
# text with cp, fsync and mv of a file as large as the binary ("plain files").
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
rounds=${ROUNDS:-5}
all="warm-ro warm-rw cold curves list names text decode save save-many two w4 export memory large idle"
work=$(mktemp -d /var/tmp/animfs-bench.XXXXXX)  # SOURCE, as a disk has it
plain=$(mktemp -d /dev/shm/animfs-bench.XXXXXX) # texts on tmpfs
mnt=$work/mnt
export LC_ALL=C.UTF-8

# ---- mounts ----

unmount()
{
	for point in "$mnt"/*; do
		! grep -q " $point fuse" /proc/self/mounts ||
			"$BUILD/animfs" umount "$point" 2>/dev/null || fusermount3 -u "$point"
	done
}

clean_up()
{
	unmount || true
	rm -rf "$work" "$plain"
}
trap clean_up EXIT

# mount_animfs NAME SOURCE OPTION...
mount_animfs()
{
	mkdir -p "$mnt/$1"
	"$BUILD/animfs" "${@:3}" "$2" "$mnt/$1"
}

# mount_passthrough NAME SOURCE; one that is still there has too few descriptors.
mount_passthrough()
{
	mkdir -p "$mnt/$1"
	"$work/passthrough_ll" -o "source=$2,cache=always" "$mnt/$1"
}

status() { sed -n "s/^$2 //p" "$mnt/$1/.animfs/status"; }
memory() { awk '/^VmRSS/ { print $2 / 1024 }' "/proc/$(status "$1" pid)/status"; }
# Milliseconds that the threads of a process have been running.
processor_time() { cat "/proc/$1/task"/*/schedstat | awk '{ t += $1 } END { print t / 1e6 }'; }

build_passthrough()
{
	local example=/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c

	! [ -e "$work/passthrough_ll" ] || return 0
	cp "$example"* "$work"
	! [ -e "$work/passthrough_ll.c.gz" ] || gunzip "$work/passthrough_ll.c.gz"
	cp "${example%/*}"/passthrough_helpers.h* "$work"
	# shellcheck disable=SC2046
	gcc -O2 $(pkg-config --cflags fuse3) -o "$work/passthrough_ll" "$work/passthrough_ll.c" \
		$(pkg-config --libs fuse3)
	ulimit -n 1000000 2>/dev/null || ulimit -n "$(ulimit -Hn)"
}

# ---- measuring ----

# sample NAME VALUE: one more measurement, of another round than those before.
sample() { echo "$2" >>"$work/t.$1"; }

# clock NAME COMMAND...: a sample of the milliseconds that it takes. grep may find nothing.
clock()
{
	local name=$1 before=${EPOCHREALTIME/./}
	shift
	"$@" >/dev/null || [ $? -eq 1 ]
	sample "$name" "$((${EPOCHREALTIME/./} - before))e-3"
}

latest() { tail -n 1 "$work/t.$1"; }
calculate() { awk "BEGIN { print $* }"; }

# row WHAT UNIT MINE BAR [THEIRS NAME]: a line of the table. MINE and THEIRS are names of samples, the
# bar is for their ratio, or for MINE where there are no others.
row() { (IFS=$'\t'; echo "$*") >>"$work/rows"; }

# ---- work ----

small=(--bones 40 --frames 45 --clips 4 --plain 0)

# W1: 400 clips, 4 to a file, in folders of 64 files.
w1()
{
	! [ -d "$work/w1" ] || return 0
	"$BUILD/make_game" "$work/w1" --files 100 "${small[@]}"
	mount_animfs export "$work/w1" --views=csv,curves -o ro
	cp -r "$mnt/export" "$plain/all"
	mkdir "$plain/curves"
	cp -r "$plain/all" "$plain/w1"
	find "$plain/w1" -name curves.csv -delete
	find "$plain/w1" -name skeleton.csv -delete
	cp -r "$plain/all" "$plain/curves"
	find "$plain/curves" -name '*.csv' ! -name curves.csv -delete
	unmount
}

w3_file=w3/object/e0000/ranger.canm

# W3: one file of 40 clips and 200 bones.
w3()
{
	[ -d "$work/w3" ] || "$BUILD/make_game" "$work/w3" --files 1 --clips 40 --bones 200 \
		--frames 245 --version 512 --plain 0
}

search() { grep -r -c --include='*.csv' '^17,.*,1\.5' "$1"; }
search_curves() { grep -r -c --include='curves.csv' ',17,.*,1\.5' "$1"; }

# ---- rows ----

row_warm-ro()
{
	w1
	mount_animfs ro "$work/w1" --views=csv -o ro
	search "$mnt/ro" >"$work/found"
	search "$plain/w1" | sed "s#^$plain/w1#$mnt/ro#" | sort | cmp - <(sort "$work/found")
	for ((i = 0; i < rounds; i++)); do
		clock warm-ro search "$mnt/ro"
		clock warm-plain search "$plain/w1"
	done
	unmount
	row "warm \`grep -rc\` over W1's bones, \`-o ro\`" ms warm-ro '<= 1.15' warm-plain tmpfs
}

row_warm-rw()
{
	w1
	build_passthrough
	mount_animfs rw "$work/w1" --views=csv
	mount_passthrough pass "$plain/w1"
	search "$mnt/rw" >/dev/null
	search "$mnt/pass" >/dev/null
	for ((i = 0; i < rounds; i++)); do
		clock warm-rw search "$mnt/rw"
		clock warm-rw-plain search "$plain/w1"
		clock warm-rw-pass search "$mnt/pass"
	done
	unmount
	row "the same, read-write mount" ms warm-rw '<= 3' warm-rw-plain tmpfs
	row "the same" ms warm-rw '<= 0.4' warm-rw-pass passthrough_ll
}

row_cold()
{
	w1
	build_passthrough
	for ((i = 0; i < rounds; i++)); do
		mount_animfs ro "$work/w1" --views=csv -o ro
		clock cold-ro search "$mnt/ro"
		unmount
		mount_passthrough pass "$plain/w1"
		clock cold-pass search "$mnt/pass"
		unmount
		mount_animfs rw "$work/w1" --views=csv
		clock cold-rw search "$mnt/rw"
		unmount
	done
	row "cold: fresh mount, files in the page cache, \`-o ro\`" ms cold-ro '<= 0.6' cold-pass \
		passthrough_ll
	row "cold, read-write mount" ms cold-rw '<= 0.6' cold-pass passthrough_ll
}

row_curves()
{
	w1
	mount_animfs ro "$work/w1" --views=curves -o ro
	mount_animfs rw "$work/w1" --views=curves
	search_curves "$mnt/ro" >/dev/null
	search_curves "$mnt/rw" >/dev/null
	for ((i = 0; i < rounds; i++)); do
		clock curves-ro search_curves "$mnt/ro"
		clock curves-plain search_curves "$plain/curves"
		clock curves-rw search_curves "$mnt/rw"
	done
	unmount
	row "warm \`grep -rc\` over the clips' curves.csv, \`-o ro\`" ms curves-ro '<= 1.15' \
		curves-plain tmpfs
	row "the same, read-write mount" ms curves-rw '<= 1.15' curves-plain tmpfs
}

by_ls() { ls -lR "$1"; }
by_find() { find "$1" -size +1000k; }
by_du() { du -s "$1"; }

row_list()
{
	w1
	build_passthrough
	for command in ls find du; do
		for ((i = 0; i < rounds; i++)); do
			mount_animfs rw "$work/w1" --views=csv
			mount_passthrough pass "$plain/w1"
			clock cold-$command by_$command "$mnt/rw"
			clock cold-$command-pass by_$command "$mnt/pass"
			by_$command "$mnt/rw" >/dev/null
			clock warm-$command by_$command "$mnt/rw"
			clock warm-$command-plain by_$command "$plain/w1"
			unmount
		done
	done
	for command in 'ls -lR' 'find -size' 'du'; do
		row "warm \`$command\`" ms "warm-${command%% *}" '<= 1.2' "warm-${command%% *}-plain" tmpfs
	done
	for command in 'ls -lR' 'find -size' 'du'; do
		row "cold \`$command\`" ms "cold-${command%% *}" '<= 1.5' "cold-${command%% *}-pass" \
			passthrough_ll
	done
}

by_name() { find "$1" -name '*.csv'; }

# Of fewer files, since passthrough_ll has no more descriptors.
row_names()
{
	build_passthrough
	"$BUILD/make_game" "$work/few" --files 20 "${small[@]}"
	mount_animfs all "$work/few" -o ro
	(cd "$mnt/all" && find . -type d) | (cd "$plain" && sed 's/^/names\//' | xargs -d '\n' mkdir -p)
	(cd "$mnt/all" && find . ! -type d) | (cd "$plain/names" && xargs -d '\n' touch)
	unmount
	for ((i = 0; i < rounds; i++)); do
		mount_animfs all "$work/few"
		clock names by_name "$mnt/all"
		sample names-texts "$(status all texts)"
		unmount
		mount_passthrough pass "$plain/names"
		clock names-pass by_name "$mnt/pass"
		unmount
	done
	rm -rf "$plain/names" "$work/few"
	row "\`find -name '*.csv'\` over 20 files of W1, all views, cold" ms names '<= 1' names-pass passthrough_ll
	row "texts that it made" '' names-texts '<= 0'
}

row_text()
{
	local files=("$work"/w1/object/e0000/{ranger,diver}.canm)

	w1
	g++ -O2 -std=c++17 -o "$work/chars" tests/bench_chars.cpp
	"$BUILD/bench_core" texts "${files[@]}" >"$work/texts"
	for ((i = 0; i < rounds; i++)); do
		for way in render parse; do
			sample $way "$("$BUILD/bench_core" $way "${files[@]}")"
			sample $way-chars "$("$work/chars" $way <"$work/texts")"
		done
	done
	row "render: CANM curves to CSV text" MB/s render '>= 300'
	row "the same" MB/s render '>= 1' render-chars std::to_chars
	row "parse: CSV text to curves" MB/s parse '>= 300'
	row "the same" MB/s parse '>= 1' parse-chars std::from_chars
}

row_decode()
{
	w1
	w3
	for ((i = 0; i < rounds; i++)); do
		sample canm "$("$BUILD/bench_core" decode canm "$work/$w3_file")"
		sample owanim "$("$BUILD/bench_core" decode owanim "$work/$w3_file")"
		sample ff9anim "$("$BUILD/bench_core" decode ff9anim "$work/w1/object/e0000/ranger.canm")"
		sample ribbon "$("$BUILD/bench_core" decode ribbon "$work/w1/object/e0000/ranger.canm")"
	done
	row "decode: CANM" MB/s canm '>= 1000'
	for format in owanim ff9anim ribbon; do
		row "decode: $format" MB/s $format '>= 300'
	done
}

# Something else at each call.
edits=0
next_edit() { edits=$((edits + 1)) && edit="s/^\\(1,[^,]*,[^,]*,[^,]*,[^,]*\\),[^,]*/\\1,0.$((1000 + edits))/"; }

# edit_plain TEXT: the edit on a plain text, and the binary's replacement as a plain file.
edit_plain()
{
	sed -i "$edit" "$1"
	cp "$work/$w3_file" "$work/w3.new"
	sync "$work/w3.new"
	mv "$work/w3.new" "$work/w3.copy"
}

# The binary is another file when the text was saved.
edit_mounted()
{
	sed -i "$edit" "$1"
	[ "$binary" != "$(stat -c %i "$work/$w3_file")" ]
}

row_save()
{
	local bone=${w3_file#w3/}/walk/bones/hips.csv

	w3
	mount_animfs rw "$work/w3"
	cp "$mnt/rw/$bone" "$plain/hips.csv"
	for ((i = 0; i < rounds; i++)); do
		next_edit
		binary=$(stat -c %i "$work/$w3_file")
		clock save edit_mounted "$mnt/rw/$bone"
		clock save-plain edit_plain "$plain/hips.csv"
	done
	unmount
	row "one bone saved in W3 with \`sed -i\`" ms save '<= 2.5' save-plain "plain files"
}

edit_bones()
{
	for bone in "$1"/bones/*.csv; do
		sed -i "$edit" "$bone"
	done
}

row_save-many()
{
	local clip=${w3_file#w3/}/walk before

	w3
	mount_animfs rw "$work/w3"
	for ((i = 0; i < (rounds + 1) / 2; i++)); do
		next_edit
		for ((k = 0; k < 5; k++)); do
			next_edit
			clock save-few sed -i "$edit" "$mnt/rw/$clip/bones/hips.csv"
		done
		sample one-save "$(tail -n 5 "$work/t.save-few" | sort -g | sed -n 3p)"
		before=$(memory rw)
		next_edit
		clock bones-all edit_bones "$mnt/rw/$clip"
		sample bones-each "$(calculate "$(latest bones-all) / 200")"
		sample save-memory "$(calculate "$(memory rw) - $before")"
		next_edit
		clock curves-save sed -i \
			"s/,rotation,1,\\([^,]*\\),[^,]*/,rotation,1,\\1,0.$((1000 + edits))/" \
			"$mnt/rw/$clip/curves.csv"
	done
	unmount
	row "200 bones saved one after the other, each" ms bones-each '<= 1' one-save "one save"
	row "memory that it took more at the end" MiB save-memory '<= 16'
	row "the same 200 through curves.csv" ms curves-save '<= 3' one-save "one save"
}

# run_two ROOT: two greps at once.
run_two()
{
	search "$1" >/dev/null &
	search "$1" >/dev/null || [ $? -eq 1 ]
	wait $! || [ $? -eq 1 ]
}

row_two()
{
	w1
	mount_animfs ro "$work/w1" --views=csv -o ro
	search "$mnt/ro" >/dev/null
	for ((i = 0; i < rounds; i++)); do
		clock two-one search "$mnt/ro"
		clock two-both run_two "$mnt/ro"
		sample two "$(calculate "2 * $(latest two-one) / $(latest two-both)")"
	done
	unmount
	row "two greps at once, \`-o ro\`: work done in the time of one" x two '>= 1.7'
}

# 10,000 clips, 4 to a file.
row_export()
{
	local texts="$plain/texts"

	"$BUILD/make_game" "$plain/game" --files 2500 --clips 4 --bones 10 --frames 45 --plain 0
	for ((i = 0; i < rounds; i++)); do
		for jobs in 1 2; do
			rm -rf "$texts"
			clock export-$jobs "$BUILD/animfs" export -j$jobs --views=csv,json,curves \
				"$plain/game" "$texts" 2>/dev/null
		done
		sample export "$(calculate "$(latest export-1) / $(latest export-2)")"
		clock export-cp cp -r "$texts" "$plain/copy"
		rm -rf "$plain/copy"
	done
	rm -rf "$plain/game" "$texts"
	row "\`animfs export\` of 10,000 clips to tmpfs, as CSV and JSON: -j2 against -j1" x export '>= 1.7'
	row "the same with -j2" ms export-2 '<= 1.5' export-cp "cp -r"
}

row_w4()
{
	local folder=object/e0000

	"$BUILD/make_game" "$plain/w4" --files 1000 --clips 1 --bones 10 --frames 10 --plain 100000
	for ((i = 0; i < rounds; i++)); do
		clock mount mount_animfs rw "$plain/w4"
		clock first-ls ls "$mnt/rw/$folder"
		clock first-ls-plain ls "$plain/w4/$folder"
		unmount
	done
	rm -rf "$plain/w4"
	row "mount of W4" ms mount '<= 50'
	row "first \`ls\` of its largest folder" ms first-ls '<= 4' first-ls-plain "the bare folder"
}

use_all()
{
	ls -lR "$1" >/dev/null
	search "$1" >/dev/null
}

row_memory()
{
	local some some_nodes cache

	"$BUILD/make_game" "$plain/w2" --files 1000 "${small[@]}"
	mount_animfs rw "$plain/w2" --views=csv --cache=64M # less than all its files take
	use_all "$mnt/rw"
	cache=$(calculate "$(status rw cache_limit) / 1048576")
	sample memory "$(memory rw)"
	sample memory-bar "$(calculate "$cache + 32 + $(status rw nodes) * 160 / 1048576")"
	unmount
	mount_animfs rw "$plain/w2" --views=csv --cache=1M # what is in it would be measured, too
	use_all "$mnt/rw/object"
	some=$(memory rw)
	some_nodes=$(status rw nodes)
	use_all "$mnt/rw"
	sample inode "$(calculate "($(memory rw) - $some) * 1048576 / ($(status rw nodes) - $some_nodes)")"
	unmount
	rm -rf "$plain/w2"
	row "memory after \`ls -lR\` and grep over W2, \`--cache=64M\`" MiB memory '<= 1' memory-bar "the cache, 32 MiB and 160 bytes an inode"
	row "what each more remembered inode took of it, \`--cache=1M\`" bytes inode '<= 160'
}

row_large()
{
	build_passthrough
	mkdir -p "$plain/large"
	head -c 1G /dev/zero >"$plain/large/file"
	for ((i = 0; i < rounds; i++)); do
		mount_animfs rw "$plain/large"
		mount_passthrough pass "$plain/large"
		clock large cat "$mnt/rw/file"
		clock large-pass cat "$mnt/pass/file"
		unmount
		sample large-speed "$(calculate "1073.741824e3 / $(latest large)")"
		sample large-pass-speed "$(calculate "1073.741824e3 / $(latest large-pass)")"
	done
	rm -rf "$plain/large"
	row "1 GiB of an ordinary file" MB/s large-speed '>= 0.9' large-pass-speed passthrough_ll
}

row_idle()
{
	local before pid

	w1
	mount_animfs rw "$work/w1" --views=csv
	search "$mnt/rw" >/dev/null
	pid=$(status rw pid)
	sleep 3
	before=$(processor_time "$pid")
	sleep 5
	sample idle "$(calculate "$(processor_time "$pid") - $before")"
	unmount
	row "processor time in 5 s without requests" ms idle '<= 0'
}

# ---- all ----

for name in "${@:-$all}"; do
	for one in $name; do
		echo "$one" >&2
		"row_$one"
	done
done
if [ $# -gt 0 ]; then
	scripts/bench_report.py "$work" "$rounds" /dev/stdout
else
	mkdir -p bench
	scripts/bench_report.py "$work" "$rounds" bench/RESULTS.md bench/RESULTS.svg
	cat bench/RESULTS.md
fi
