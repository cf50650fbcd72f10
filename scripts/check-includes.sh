#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check-includes.sh - keeps the layers of the program. Each line of the table is
#
#   FILE... : HEADER...    these files (below include/ or src/) may include these headers
#
# and a file's rule is the first line that names it. Standard and system headers are free; those of
# the libraries in $LIBRARIES are not.
#
# Besides, the files of src/vfs include only those before them in the list in vfs.h, and nowhere is
# there a circle between files, where X.c and X.h count as one.
set -euf
cd "$(dirname "$0")/.."

LIBRARIES='fuse* jansson* csv* libxml* seccomp.h sys/capability.h'
UTIL='util/*.h'
WORDS='animfs/base.h animfs/anim.h num.h names.h'
DISK='animfs/base.h at.h attributes.h backup.h refusal.h replace.h state.h watch.h'

RULES="
# What any part may use.
util/*               : $UTIL

# The words of the program, and text.
animfs/base.h base.c : animfs/base.h
animfs/anim.h        : animfs/base.h
animfs/codec.h       : animfs/base.h animfs/anim.h
animfs/view.h        : animfs/base.h animfs/anim.h
num*.? names.? anim.c merge.c : $WORDS num_decimal.h
table.?              : $WORDS table.h csv.h
xml.?                : $WORDS xml.h libxml/*
json_load.?          : animfs/base.h json_load.h jansson.h
pack.?               : animfs/base.h pack.h

# The disk: knows no animations.
at.? attributes.? backup.? refusal.? replace.? state.? watch.? : $DISK $UTIL
caller.?             : animfs/base.h caller.h
guard.h              : animfs/base.h at.h caller.h
confine.? enclose.?  : animfs/base.h at.h confine.h enclose.h seccomp.h sys/capability.h
jobs.?               : jobs.h
shard.?              : animfs/base.h shard.h

# The model, and edits of it; skeletons.
bones.?              : $WORDS table.h bones.h
naming.?             : $WORDS at.h bones.h guard.h naming.h $UTIL
lens*.? rotation.?   : $WORDS lens.h rotation.h
skeleton.? rig.?     : $WORDS rotation.h skeleton.h table.h
models.?             : $WORDS models.h skeleton.h
model.?              : $WORDS at.h guard.h model.h models.h
rest.?               : at.h guard.h model.h rest.h skeleton.h
loss.?               : $WORDS loss.h
listing.? compare.?  : $WORDS lens.h listing.h compare.h rotation.h skeleton.h
structure.?          : $WORDS bones.h rotation.h structure.h view/clip.h view/label.h
fill*.?              : $WORDS animfs/view.h bones.h fill*.h structure.h table.h jansson.h json_load.h view/clip.h view/label.h

# Formats and views: they know neither each other nor files nor FUSE.
codec.c codec/*      : $WORDS bones.h animfs/codec.h codec/*.h xml.h
view.c view/*        : $WORDS bones.h animfs/view.h view/*.h lens.h rotation.h skeleton.h table.h jansson.h json_load.h xml.h

# Animation files through their versions.
store/*              : $WORDS $DISK animfs/codec.h animfs/view.h guard.h json_load.h jansson.h loss.h model.h naming.h rest.h table.h view/own_digest.h store/*.h $UTIL

# The mount: its tree, which knows no FUSE, and FUSE. The commands see nothing of it but its start.
mount.h options.?    : $WORDS json_load.h store/store.h store/tree.h options.h
vfs/*                : $WORDS $DISK animfs/view.h confine.h fill.h mount.h naming.h structure.h store/*.h vfs/*.h $UTIL
fuse/*               : animfs/base.h at.h confine.h enclose.h mount.h state.h vfs/vfs.h vfs/deadline.h vfs/diagnostics.h vfs/kernel.h fuse/*.h fuse*.h
cmd/mount.c          : cmd/cmd.h options.h fuse/session.h
cmd/*                : $WORDS $DISK animfs/*.h store/*.h options.h structure.h listing.h compare.h fill.h fill_facts.h jansson.h jobs.h models.h naming.h pack.h shard.h view/clip.h view/json.h view/own_digest.h cmd/*.h
main.c               : cmd/cmd.h libxml/parser.h
"

# one_of NAME PATTERN...
one_of()
{
	local name=$1 pattern
	shift
	for pattern; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ $name != $pattern ]] || return 0
	done
	return 1
}

# The headers that the file's rule allows.
allowed()
{
	local files headers
	while IFS=: read -r files headers; do
		# shellcheck disable=SC2086 # lists of words
		if one_of "$1" $files; then
			echo "$headers"
			return
		fi
	done <<<"$RULES"
	echo "$1: no rule for this file" >&2
	return 1
}

# A header's name from src/ or include/, however the file writes it.
resolve()
{
	local folder path
	for folder in "${1%/*}" src include; do
		path=$folder/$2
		[ -e "$path" ] || continue
		while [[ $path =~ ^(.*/)?[^/.]+/\.\./(.*)$ ]]; do
			path=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
		done
		echo "${path#*/}"
		return
	done
	echo "$2"
}

# Lines of "FILE HEADER", and what the table does not allow on standard error.
read_includes()
{
	local file headers header name status=0
	while read -r file; do
		headers=$(allowed "${file#*/}") || { status=1; continue; }
		while read -r header; do
			case $header in
			\"*) name=$(resolve "$file" "${header//\"/}") ;;
			*)
				name=${header//[<>]/}
				# shellcheck disable=SC2086
				one_of "$name" $LIBRARIES || continue
				;;
			esac
			# shellcheck disable=SC2086
			one_of "$name" $headers || { echo "$file includes $name" >&2; status=1; }
			echo "${file#*/} $name"
		done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*\([<"][^>"]*[>"]\).*/\1/p' "$file")
	done < <(find include src -name '*.[ch]' | sort)
	return "$status"
}

# The list in vfs.h, and then the includes: what stands in no place, or includes what comes later.
check_vfs()
{
	{
		sed -n '/The files of this folder are layers/,/\*\//s/^ \*   \([a-z_ ]*\):.*/\1/p' \
			src/vfs/vfs.h | tr ' ' '\n'
		find src/vfs -name '*.[ch]' -printf '%P -\n'
		sed -n 's/\.[ch]\>//g; s,vfs/\([^ ]*\) vfs/,\1 ,p' <<<"$1"
	} | awk '
		NF == 1 { place[$1] = ++count; next }
		{ sub(/\.[ch]$/, "", $1) }
		!place[$1] { print "src/vfs/" $1 " is not in the list in vfs.h"; place[$1] = ++count; bad = 1 }
		$2 != "-" && place[$2] > place[$1] { print "src/vfs/" $1 " includes " $2, "which comes later in the list in vfs.h"; bad = 1 }
		END { exit bad }'
}

# tsort names the files of each circle.
check_circles()
{
	sed 's/\.[ch]\>//g' <<<"$1" | tsort >/dev/null
}

status=0
includes=$(read_includes) || status=1
check_vfs "$includes" || status=1
check_circles "$includes" || status=1
[ "$status" -ne 0 ] || echo "includes: as the table says"
exit "$status"
