#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bench.sh [ROW...] - compares a mount with the same work done by other means. All rows: writes the
# table to bench/RESULTS.md and draws it in bench/RESULTS.svg. Some rows: prints them.
#
# ROUNDS (5): how often each side of a comparison is measured. Sides take turns, so that other load
# affects all of them, and ratios are computed within a round.
#
# BASE=COMMIT: measures the program of that commit (or of a folder that has it built) in turns with
# this one, and the processor time of their daemons. All rows: writes the table to bench/COMPARED.md.
# Some rows: prints them.
#
# The baselines: the same text on tmpfs ("tmpfs"); libfuse's example passthrough_ll, cache=always,
# over that text ("passthrough_ll"), which keeps a descriptor for each file; the same edit of a plain
# text with cp, fsync and mv of a file as large as the binary ("plain files").
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
rounds=${ROUNDS:-5}
tools=$BUILD # make_game; BUILD is the base's while that is measured
base=${BASE:-}
all="warm-ro warm-rw warm-all cold rotations curves list list-all views names text decode save save-many saves"
all+=" history kept batches files git build folder tree two w4 archives export memory large idle requests"
side=now
work=$(mktemp -d /var/tmp/animfs-bench.XXXXXX)  # SOURCE, as a disk has it
plain=$(mktemp -d /dev/shm/animfs-bench.XXXXXX) # texts on tmpfs
mnt=$work/mnt
export LC_ALL=C.UTF-8

# ---- mounts ----

daemons=() # those of mounted animfs

unmount()
{
	daemons=()
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
	daemons+=("$(status "$1" pid)")
}

# mount_passthrough NAME SOURCE [OPTION]; an existing one would have used up its descriptors.
mount_passthrough()
{
	mkdir -p "$mnt/$1"
	"$work/passthrough_ll" -o "source=$2,cache=always${3:+,$3}" "$mnt/$1"
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

# sample NAME VALUE: a measurement, of a new round.
sample() { echo "$2" >>"$work/$side/t.$1"; }

# Milliseconds of processor time used by the daemons, including threads that have ended.
daemon_time()
{
	python3 - "$@" <<-'END'
		import sys, time
		# What clock_getcpuclockid gives for a process.
		print(sum(time.clock_gettime(~int(pid) << 3 | 2) for pid in sys.argv[1:]) * 1e3)
	END
}

# clock NAME COMMAND...: a sample of the milliseconds that it takes. grep may find nothing. When two
# programs are compared, the processor time of their daemons is another sample.
clock()
{
	local name=$1 time before
	shift
	[ -z "$base" ] || time=$(daemon_time "${daemons[@]}")
	before=${EPOCHREALTIME/./}
	"$@" >/dev/null || [ $? -eq 1 ]
	sample "$name" "$((${EPOCHREALTIME/./} - before))e-3"
	[ -z "$base" ] || [ ${#daemons[@]} -eq 0 ] ||
		sample "$name.cpu" "$(calculate "$(daemon_time "${daemons[@]}") - $time")"
}

latest() { tail -n 1 "$work/$side/t.$1"; }
calculate() { awk "BEGIN { print $* }"; }

# row WHAT UNIT MINE BAR [THEIRS NAME]: a line of the table. MINE and THEIRS are names of samples;
# the bar limits their ratio, or MINE if there is no other.
row() { (IFS=$'\t'; echo "$*") >>"$work/$side/rows"; }

# ---- work ----

small=(--bones 40 --frames 45 --clips 4 --plain 0)

# W1: 400 clips, 4 to a file, in folders of 64 files.
w1()
{
	! [ -d "$work/w1" ] || return 0
	"$tools/make_game" "$work/w1" --files 100 "${small[@]}"
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
	[ -d "$work/w3" ] || "$tools/make_game" "$work/w3" --files 1 --clips 40 --bones 200 \
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

# What people type: default views, against the same tree as a copy.
row_warm-all()
{
	w1
	mount_animfs ro "$work/w1" -o ro
	[ -d "$plain/w1-all" ] || cp -r "$mnt/ro" "$plain/w1-all"
	search "$mnt/ro" >/dev/null
	for ((i = 0; i < rounds; i++)); do
		clock warm-all-ro search "$mnt/ro"
		clock warm-all-plain search "$plain/w1-all"
	done
	unmount
	rm -rf "$plain/w1-all"
	row "the same with the default views, \`-o ro\`" ms warm-all-ro '<= 1.15' warm-all-plain tmpfs
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

# Degrees of quaternions, which are computed, against the quaternions as they are stored.
row_rotations()
{
	"$tools/make_game" "$work/turns" --files 100 "${small[@]}" --version 768
	for ((i = 0; i < rounds; i++)); do
		mount_animfs stored "$work/turns" --views=csv -o ro --rotations=stored
		clock rotations-stored search "$mnt/stored"
		unmount
		mount_animfs degrees "$work/turns" --views=csv -o ro
		clock rotations-degrees search "$mnt/degrees"
		unmount
	done
	rm -rf "$work/turns"
	row "cold, 100 files with quaternions, in degrees, \`-o ro\`" ms rotations-degrees '<= 1.25' \
		rotations-stored "\`--rotations=stored\`"
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

# Sizes of all views; each text must be rendered for its size.
row_list-all()
{
	w1
	for ((i = 0; i < rounds; i++)); do
		mount_animfs rw "$work/w1"
		clock cold-all by_ls "$mnt/rw"
		clock warm-all by_ls "$mnt/rw"
		unmount
	done
	row "\`ls -lR\` of all views, cold" ms cold-all '<= 10000'
	row "the same, warm" ms warm-all '<= 2000'
}

by_grep() { grep -r -c '^17,.*,1\.5' "$1"; }

# What the pictures add to reading everything that the default lists.
row_views()
{
	w1
	for command in ls du grep; do
		for ((i = 0; i < (rounds + 1) / 2; i++)); do
			mount_animfs all "$work/w1"
			mount_animfs some "$work/w1" --views=csv,json,curves,skeleton,raw,gltf,bvh,kanim,x3d
			clock views-$command by_$command "$mnt/all"
			clock views-$command-some by_$command "$mnt/some"
			unmount
		done
		row "\`$command\` of all default views of W1, cold" ms views-$command '<= 1.1' views-$command-some \
			"without pictures"
	done
}

by_name() { find "$1" -name '*.csv'; }

# With fewer files, since passthrough_ll runs out of descriptors.
row_names()
{
	build_passthrough
	"$tools/make_game" "$work/few" --files 20 "${small[@]}"
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
	g++ -O2 -std=c++17 -o "$work/chars" tests/tools/bench_chars.cpp
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

# A different value at each call.
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

# After a save the animation file is a new inode.
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
		sample one-save "$(tail -n 5 "$work/$side/t.save-few" | sort -g | sed -n 3p)"
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

save_some()
{
	for bone in "$1"/walk/bones/*.csv; do
		sed -i "$edit" "$bone"
	done
	for bone in "$1"/run/bones/*.csv; do
		sed "$edit" "$bone" >"$plain/text.csv"
		cp "$plain/text.csv" "$bone"
	done
}

# For a file of the usual size.
row_saves()
{
	local file=object/e0000/ranger.canm

	w1
	mount_animfs rw "$work/w1"
	for ((i = 0; i < rounds; i++)); do
		next_edit
		clock saves save_some "$mnt/rw/$file"
	done
	unmount
	row "40 bones saved with \`sed -i\`, 40 with \`cp\`" ms saves '<= 2000'
}

archive()
{
	! [ -e "$plain/files.tar" ] || return 0
	mkdir -p "$plain/files"/{a,b,c,d,e}
	for ((i = 0; i < 500; i++)); do
		head -c $((i * 16)) /dev/zero | tee "$plain/files"/{a,b,c,d}/"$i" >"$plain/files/e/$i"
	done
	tar -C "$plain" -cf "$plain/files.tar" files
}

extract() { tar -C "$1" -xf "$plain/files.tar"; }
copy_inside() { cp -r "$1/files" "$1/copy"; }
remove_all() { rm -rf "$1/files" "$1/copy"; }

# mount_pair: an empty folder, mounted ("rw"), and others through passthrough_ll: "pass", and "same" with
# the duties that animfs has: extended attributes, for which the kernel asks before a file is first
# written, and permissions, for which it asks for a folder's attributes after each change in it.
mount_pair()
{
	build_passthrough
	mkdir -p "$plain"/to{,-pass,-same}
	mount_animfs rw "$plain/to"
	mount_passthrough pass "$plain/to-pass"
	mount_passthrough same "$plain/to-same" xattr,default_permissions
}

# clock_pair NAME COMMAND...: samples of the three, in an order that rotates.
clock_pair()
{
	local name=$1 order="rw pass same"
	shift
	[ $((i % 2)) -eq 0 ] || order="same pass rw"
	for one in $order; do
		clock "$name-$one" "$@" "$mnt/$one"
	done
}

# row_pair WHAT NAME BAR
row_pair()
{
	row "$1" ms "$2-rw" "<= $3" "$2-pass" passthrough_ll
	row "the same" ms "$2-rw" "<= $3" "$2-same" "passthrough_ll, \`xattr,default_permissions\`"
}

row_files()
{
	archive
	mount_pair
	for ((i = 0; i < rounds; i++)); do
		clock_pair untar extract
		clock_pair copy copy_inside
		clock_pair remove remove_all
	done
	unmount
	row_pair "2,500 small ordinary files out of a tar" untar 1.1
	row_pair "\`cp -r\` of them inside the mount" copy 1.1
	row_pair "\`rm -rf\` of both" remove 1.1
}

make_repository()
{
	mkdir "$1/project"
	git -C "$1/project" init -q
	for ((k = 0; k < 50; k++)); do
		mkdir "$1/project/$k"
		split -a 2 -d -l 1 -t ' ' - "$1/project/$k/text" <<<"$(seq -s ' ' 1 100)"
	done
}

git_add() { git -C "$1/project" add -A; }
git_status() { git -C "$1/project" status --porcelain; }

row_git()
{
	mount_pair
	for ((i = 0; i < rounds; i++)); do
		for one in rw pass same; do make_repository "$mnt/$one"; done
		clock_pair git-add git_add
		clock_pair git-status git_status
		rm -rf "$mnt"/*/project
	done
	unmount
	row_pair "\`git add -A\` of 5,000 files" git-add 1.1
	row_pair "\`git status\` of them" git-status 1.1
}

# make_project FOLDER: 41 sources and a Makefile.
make_project()
{
	mkdir "$1"
	echo 'int f(int);' >"$1/all.h"
	for ((k = 0; k < 40; k++)); do
		cat >"$1/$k.c" <<-END
			#include <stdio.h>
			#include "all.h"
			int f$k(int a) { return f(a) + $k; }
		END
	done
	cat >"$1/f.c" <<-'END'
		#include "all.h"
		int f(int a) { return a; }
		int main(void) { return 0; }
	END
	cat >"$1/Makefile" <<-'END'
		prog: $(patsubst %.c,%.o,$(wildcard *.c)); gcc -o $@ $^
		%.o: %.c all.h; gcc -c -o $@ $<
	END
}

build_in() { make -s -C "$1/project"; }

row_build()
{
	mount_pair
	for one in rw pass same; do make_project "$mnt/$one/project"; done
	for ((i = 0; i < rounds; i++)); do
		clock_pair build build_in
		rm "$mnt"/*/project/{*.o,prog}
	done
	rm -r "$mnt"/*/project
	unmount
	row_pair "a C project of 41 sources built in the mount" build 1.1
}

# fill_folder FIRST COUNT FOLDER
fill_folder()
{
	python3 - "$@" <<-'END'
		import os, sys
		for i in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
		    fd = os.open(f"{sys.argv[3]}/many/made{i:06}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
		    os.write(fd, b"text")
		    os.close(fd)
	END
}

# passthrough_ll keeps a descriptor for each file, so it gets 15,000.
row_folder()
{
	mount_pair
	for ((i = 0; i < (rounds + 1) / 2; i++)); do
		mkdir "$mnt"/{rw,pass,same}/many
		clock_pair folder-create fill_folder 0 15000
		clock_pair folder-warm by_find
		unmount
		mount_pair
		clock_pair folder-cold by_find
		clock folder-first fill_folder 15000 10000 "$mnt/rw"
		clock folder-middle fill_folder 25000 40000 "$mnt/rw"
		clock folder-last fill_folder 65000 10000 "$mnt/rw"
		rm -r "$mnt"/*/many
	done
	unmount
	row_pair "15,000 files created in one folder" folder-create 1.25
	row "the last 10,000 of 60,000" ms folder-last '<= 1.1' folder-first "the first 10,000"
	row_pair "\`find -size\` over 15,000, warm" folder-warm 1
	row_pair "the same, cold" folder-cold 1
}

# 200,000 ordinary files and 20,000 animations of few bones; passthrough_ll over 15,000 files. Once,
# since it takes long: per name, and by default views.
row_tree()
{
	local names before

	build_passthrough
	"$tools/make_game" "$plain/tree" --files 20000 --clips 1 --bones 2 --frames 3 --plain 200000
	mkdir -p "$plain/tree-pass"/{1..15}
	for ((k = 1; k <= 15; k++)); do
		(cd "$plain/tree-pass/$k" && touch {0001..1000})
	done
	for command in find ls; do
		mount_animfs rw "$plain/tree"
		before=$(memory rw)
		clock tree-$command by_$command "$mnt/rw"
		[ -n "${names:-}" ] || names=$(find "$mnt/rw" | wc -l)
		sample tree-$command-each "$(calculate "$(latest tree-$command) * 1000 / $names")"
		sample tree-memory "$(calculate "($(memory rw) - $before) * 1048576 / $names")"
		unmount
		mount_passthrough pass "$plain/tree-pass"
		clock tree-$command-pass by_$command "$mnt/pass"
		sample tree-$command-pass-each "$(calculate "$(latest tree-$command-pass) * 1000 / 15016")"
		unmount
	done
	rm -rf "$plain/tree" "$plain/tree-pass"
	sed -i 1d "$work/$side/t.tree-memory" # that of find
	row "\`find -size\` over 200,000 ordinary files and 20,000 animations, cold, per name" us \
		tree-find-each '<= 1.3' tree-find-pass-each "passthrough_ll, 15,000 names"
	row "\`ls -lR\` over them, cold, per name" us tree-ls-each '<= 1.3' tree-ls-pass-each \
		"passthrough_ll, 15,000 names"
	row "memory that it took, per name" bytes tree-memory '<= 250'
}

# traced "OPTION..." COMMAND...: strace(1) with these options follows the daemon during the command, and
# writes to $work/strace.
traced()
{
	local options=$1 tracer
	shift
	# shellcheck disable=SC2086 # they are words
	strace -f $options -o "$work/strace" -p "${daemons[0]}" 2>/dev/null &
	tracer=$!
	until grep -q '^TracerPid:.*[1-9]' "/proc/${daemons[0]}/status"; do sleep 0.01; done
	sleep 0.2
	"$@" >/dev/null
	sleep 0.1
	kill -INT "$tracer"
	wait "$tracer" || true
}

# calls_of NAME DIVISOR COMMAND...: samples of the daemon's system calls, all kinds together.
calls_of()
{
	local name=$1 divisor=$2
	shift 2
	traced "-c -U calls,name" "$@"
	sample "$name" "$(awk -v n="$divisor" '$2 == "total" { print $1 / n }' "$work/strace")"
}

create_files() { for ((k = 0; k < 200; k++)); do echo text >"$1/made$k"; done; }
save_one() { sed -i "$edit" "$1/walk/bones/hips.csv"; }

row_calls()
{
	w1
	archive
	mkdir -p "$plain/to"
	mount_animfs rw "$plain/to"
	calls_of calls-create 200 create_files "$mnt/rw"
	calls_of calls-remove 200 rm -r "$mnt"/rw/made*
	calls_of calls-untar 2500 tar -C "$mnt/rw" -xf "$plain/files.tar"
	rm -r "$mnt/rw/files"
	unmount
	mount_animfs rw "$work/w1" --views=csv
	calls_of calls-list 16000 by_ls "$mnt/rw"
	calls_of calls-read 16000 search "$mnt/rw"
	next_edit
	calls_of calls-save 1 save_one "$mnt/rw/object/e0000/ranger.canm"
	unmount
	row "system calls for a file that is created, written and closed" '' calls-create '<= 1000'
	row "for one that is removed" '' calls-remove '<= 1000'
	row "for one of a tar" '' calls-untar '<= 1000'
	row "for a bone in \`ls -lR\`" '' calls-list '<= 1000'
	row "for a bone in grep" '' calls-read '<= 1000'
	row "for one saved with \`sed -i\`" '' calls-save '<= 1000'
}

# trace FILTER COMMAND...: the daemon's system calls during the command, a line each, in $work/strace.
trace()
{
	local filter=$1
	shift
	traced "-y -e trace=$filter" "$@"
}

# count PATTERN DIVISOR: of lines in $work/strace.
count() { calculate "$(grep -c "$1" "$work/strace") / $2"; }

stat_calls='^[0-9]* *\(statx\|newfstatat\|fstat\)('

# What a request costs besides its work: reading it, the reply, waiting, waking.
row_requests()
{
	local requests

	archive
	mkdir -p "$plain/to"
	mount_animfs rw "$plain/to"
	trace read,writev,splice,poll,ppoll,epoll_wait,epoll_ctl,futex extract "$mnt/rw"
	requests=$(grep -c 'read([0-9]*</dev/fuse' "$work/strace")
	sample requests-calls "$(calculate "($requests + $(grep -c \
		'^[0-9]* *\(writev\|splice\|poll\|ppoll\|epoll_wait\|epoll_ctl\|futex\)(' "$work/strace") \
		+ $(grep -c 'read([0-9]*<anon_inode:inotify' "$work/strace")) / $requests")"
	rm -r "$mnt/rw/files"
	trace statx,newfstatat,fstat extract "$mnt/rw"
	sample requests-untar "$(count "$stat_calls" 2500)"
	mkdir "$mnt/rw/many"
	trace statx,newfstatat,fstat fill_folder 0 1000 "$mnt/rw"
	sample requests-create "$(count "$stat_calls" 1000)"
	rm -r "$mnt"/rw/*
	unmount
	row "system calls for a request of \`tar -x\`, without its work" '' requests-calls '<= 2'
	row "stat calls for a file of a tar" '' requests-untar '<= 7'
	row "stat calls for a file that is created, written and closed" '' requests-create '<= 3'
}

# save_through NAME COUNT: edits of one bone, each through a rename.
save_through()
{
	for ((k = 0; k < $2; k++)); do
		next_edit
		sed -i "$edit" "$mnt/$1/${w3_file#w3/}/walk/bones/hips.csv"
	done
}

# With and without old versions, in turns; HISTORY_SAVES (200) saves in all for each side. Old
# versions must not exceed --history.
row_history()
{
	local saves=$((${HISTORY_SAVES:-200} / (10 * rounds))) size limit used

	w3
	cp -r "$work/w3" "$work/w3-kept"
	size=$(stat -c %s "$work/$w3_file")
	limit=$((size * 20))
	mount_animfs none "$work/w3" --history=0
	mount_animfs kept "$work/w3-kept" --history=$limit
	for ((i = 0; i < 10 * rounds; i++)); do
		clock history-none save_through none "$saves"
		clock history-kept save_through kept "$saves"
	done
	used=$(find "$work/w3-kept/.animfs/history" -type f -printf '%s\n' |
		awk '{ n += $1 } END { print n }')
	sample history-used "$(calculate "$used / $limit")"
	unmount
	row "$saves saves in W3 with every version kept" ms history-kept '<= 1.05' history-none "none kept"
	row "old versions after $((saves * 10 * rounds)) saves, of --history" "" history-used '<= 1'
}

# The processor time of a mount is compared, since that is what batches cost.
# used NAME MOUNT COMMAND...: a sample of the milliseconds that its daemon takes for it.
used()
{
	local name=$1 pid before
	pid=$(status "$2" pid)
	shift 2
	before=$(daemon_time "$pid")
	"$@"
	sample "$name" "$(calculate "$(daemon_time "$pid") - $before")"
}

save_curves()
{
	sed -i "s/,rotation,1,\\([^,]*\\),[^,]*/,rotation,1,\\1,0.$((1000 + edits))/" "$1/walk/curves.csv"
}

copy_back() { cp -r "$1/." "$2/walk"; }

# Saves with 100 versions kept, and with no history at all.
row_kept()
{
	local file=${w3_file#w3/}

	w3
	cp -r "$work/w3" "$work/w3-kept"
	mount_animfs none "$work/w3" --history=0
	mount_animfs kept "$work/w3-kept" --history=2G
	save_through kept 100
	for ((i = 0; i < 2 * rounds; i++)); do
		next_edit
		used kept-none none sed -i "$edit" "$mnt/none/$file/walk/bones/hips.csv"
		used kept-100 kept sed -i "$edit" "$mnt/kept/$file/walk/bones/hips.csv"
		next_edit
		used kept-curves-none none save_curves "$mnt/none/$file"
		used kept-curves-100 kept save_curves "$mnt/kept/$file"
	done
	for ((i = 0; i < 2 * rounds; i++)); do
		clock kept-time-none save_through none 4
		clock kept-time-100 save_through kept 4
	done
	unmount
	rm -rf "$work/w3-kept"
	row "4 saves in W3 by a rename with 100 versions kept" ms kept-time-100 '<= 1.05' kept-time-none \
		"no history"
	row "processor time: one bone saved in W3 by a rename with 100 versions kept" ms kept-100 '<= 1.05' \
		kept-none "no history"
	row "the same: curves.csv" ms kept-curves-100 '<= 1.05' kept-curves-none "no history"
}

# With 100 versions known and with none; a clip's folder copied back with one edit, whose other texts are
# those of the file, or older ones.
row_batches()
{
	local file=${w3_file#w3/} known

	w3
	cp -r "$work/w3" "$work/w3-known"
	mount_animfs none "$work/w3"
	mount_animfs known "$work/w3-known"
	known=$mnt/known/$file
	for ((i = 0; i < 100; i++)); do
		next_edit
		sed -i "$edit" "$known/walk/bones/hips.csv"
	done
	for ((i = 0; i < rounds; i++)); do
		next_edit
		used batch-none none save_curves "$mnt/none/$file"
		used batch-known known save_curves "$known"
		rm -rf "$plain/present" "$plain/older"
		cp -r "$known/walk" "$plain/older"
		next_edit
		sed -i "$edit" "$known/walk/bones/spine.csv"
		cp -r "$known/walk" "$plain/present"
		next_edit
		sed -i "$edit" "$plain/present/bones/hips.csv" "$plain/older/bones/hips.csv"
		used batch-present known copy_back "$plain/present" "$known"
		next_edit
		sed -i "$edit" "$plain/older/bones/hips.csv"
		used batch-older known copy_back "$plain/older" "$known"
	done
	unmount
	row "processor time: curves.csv saved in W3 with 100 versions known" ms batch-known '<= 1.05' \
		batch-none "none known"
	row "processor time: an older copy of a clip brought back with one edit" ms batch-older '<= 1.2' \
		batch-present "a present one"
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

	"$tools/make_game" "$plain/game" --files 2500 --clips 4 --bones 10 --frames 45 --plain 0
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

	"$tools/make_game" "$plain/w4" --files 1000 --clips 1 --bones 10 --frames 10 --plain 100000
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

pack() { tests/mount/pack.py "$@"; }
by_folder() { ls -f "$1"/*; }

# Lists 100,000 members, of which only the tables are on the disk, and finds 20,000 small ones.
archives_listed()
{
	mkdir "$work/huge" "$work/packed"
	pack sparse "$work/huge/huge.cpk" 100000 12000000000
	"$tools/make_game" "$work/plain" --files 1000 --clips 1 --bones 2 --frames 3 --plain 19000
	pack cpk "$work/packed/many.cpk" "$work/plain"
	for ((i = 0; i < rounds; i++)); do
		mount_animfs rw "$work/huge"
		clock archive-list by_folder "$mnt/rw/huge.cpk.d"
		sample archive-list-memory "$(memory rw)"
		unmount
		mount_animfs packed "$work/packed" --views=csv
		mount_animfs plain "$work/plain" --views=csv
		clock archive-find by_name "$mnt/packed"
		clock archive-find-plain by_name "$mnt/plain"
		unmount
	done
	rm -rf "$work"/{huge,packed,plain}
	row "a CPK of 12 GB: names of its 100,000 members, cold" ms archive-list '<= 150'
	row "memory after it, all of the daemon's" MiB archive-list-memory '<= 64'
	row "\`find\` over 20,000 members of a CPK, of which 1,000 are animations, cold" ms archive-find \
		'<= 1.5' archive-find-plain "the same extracted"
}

# What is packed has to be unpacked, whoever does it.
archives_searched()
{
	mkdir "$work"/{stored,packed}
	"$tools/make_game" "$work/plain" --files 100 "${small[@]}"
	pack cpk "$work/stored/w1.cpk" "$work/plain"
	(cd "$work/plain" && python3 -m zipfile -c "$work/packed/w1.zip" ./*)
	for ((i = 0; i < rounds; i++)); do
		mount_animfs stored "$work/stored" --views=csv -o ro
		mount_animfs packed "$work/packed" --views=csv -o ro
		mount_animfs plain "$work/plain" --views=csv -o ro
		clock archive-grep search "$mnt/stored"
		clock archive-grep-packed search "$mnt/packed"
		clock archive-grep-plain search "$mnt/plain"
		clock archive-unpack python3 -m zipfile -e "$work/packed/w1.zip" "$plain/unpacked"
		sample archive-grep-both "$(calculate "$(latest archive-grep-plain) + $(latest archive-unpack)")"
		rm -r "$plain/unpacked"
		unmount
	done
	rm -rf "$work"/{stored,packed,plain}
	row "cold grep over W1's bones in a CPK, \`-o ro\`" ms archive-grep '<= 1.3' archive-grep-plain \
		"the same extracted"
	row "the same in a ZIP, packed" ms archive-grep-packed '<= 1.3' archive-grep-both "unpacked before"
}

# An archive in an archive is unpacked when its folder is entered.
archives_nested()
{
	local paths=()

	mkdir -p "$work/nested" "$plain/model"/{TEXTURE,MODEL}
	head -c 5M /dev/urandom >"$plain/model/TEXTURE/skin.dds"
	tests/mount/mdb.py "$plain/model/MODEL/body.mdb" 1
	pack rab "$plain/model.mrab" "$plain/model"
	for ((i = 0; i < 200; i++)); do paths+=("OBJECT/M$i.MRAB=$plain/model.mrab:packed"); done
	python3 tests/mount/cpk.py "$work/nested/nested.cpk" "${paths[@]}"
	rm -r "$plain/model" "$plain/model.mrab"
	for ((i = 0; i < (rounds + 1) / 2; i++)); do
		mount_animfs rw "$work/nested" --cache=64M
		clock archive-nested find "$mnt/rw"
		sample archive-nested-memory "$(memory rw)"
		sample archive-nested-bar "$(calculate "$(status rw cache_limit) / 1048576 + 32")"
		unmount
	done
	rm -rf "$work/nested"
	row "\`find\` over 200 packed RABs of 5 MB in a CPK" ms archive-nested '<= 20000'
	row "memory after it, \`--cache=64M\`" MiB archive-nested-memory '<= 1' archive-nested-bar \
		"the cache and 32 MiB"
}

row_archives()
{
	archives_listed
	archives_searched
	archives_nested
}

use_all()
{
	ls -lR "$1" >/dev/null
	search "$1" >/dev/null
}

row_memory()
{
	local some some_nodes cache

	"$tools/make_game" "$plain/w2" --files 1000 "${small[@]}"
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

# The program of the commit is built in $work/base.
build_base()
{
	if [ -d "$base" ]; then
		mkdir "$work/base"
		ln -s "$(realpath "$base")/build" "$work/base/build"
		return
	fi
	mkdir "$work/base"
	git archive "$base" | tar -x -C "$work/base"
	env -u MAKEFLAGS make -s -C "$work/base" -j"$(nproc)" BUILD=build build/animfs \
		build/bench_core >&2
}

measure() { "row_$1"; }

# One round of each at a time, in an order that rotates.
measure_both()
{
	local now=$BUILD all_rounds=$rounds order i

	rounds=1
	for ((i = 0; i < all_rounds; i++)); do
		order="base now"
		[ $((i % 2)) -eq 0 ] || order="now base"
		for side in $order; do
			BUILD=$now
			[ "$side" = now ] || BUILD=$work/base/build
			measure "$1"
		done
	done
	BUILD=$now rounds=$all_rounds
}

mkdir "$work/now"
if [ -n "$base" ]; then
	build_base
	all+=" calls"
fi
for name in "${@:-$all}"; do
	for one in $name; do
		echo "$one" >&2
		if [ -n "$base" ]; then measure_both "$one"; else measure "$one"; fi
	done
done
if [ $# -gt 0 ]; then
	table=/dev/stdout
else
	mkdir -p bench
	table=bench/RESULTS.md
	[ -z "$base" ] || table=bench/COMPARED.md
fi
if [ -n "$base" ]; then
	scripts/bench_report.py --base "$base" "$work" "$rounds" "$table"
elif [ $# -gt 0 ]; then
	scripts/bench_report.py "$work/now" "$rounds" "$table"
else
	scripts/bench_report.py "$work/now" "$rounds" "$table" bench/RESULTS.svg
fi
[ $# -gt 0 ] || cat "$table"
