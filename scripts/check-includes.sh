#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check-includes.sh - keeps the layers of the program. Each line of the table is
#
#   FILE... : HEADER...    these files (below include/ or src/) may include these headers
#
# and a file's rule is the first line that names it. Standard and system headers are free; those of
# the libraries in $LIBRARIES are not.
set -euf
cd "$(dirname "$0")/.."

LIBRARIES='fuse* jansson* csv* libxml* seccomp.h sys/capability.h'
UTIL='util/*.h'
WORDS='animfs/base.h animfs/anim.h num.h names.h'
DISK='animfs/base.h at.h attributes.h backup.h refusal.h replace.h state.h watch.h'

RULES="
# What any part may use.
util/*               : $UTIL

# The words of the program.
animfs/base.h base.c : animfs/base.h
animfs/anim.h        : animfs/base.h
animfs/codec.h       : animfs/base.h animfs/anim.h
animfs/view.h        : animfs/base.h animfs/anim.h
num*.? names.? anim.c merge.c : $WORDS num_decimal.h
table.?              : $WORDS table.h csv.h
xml.?                : $WORDS xml.h libxml/*
json_load.?          : animfs/base.h json_load.h jansson.h
bones.?              : $WORDS table.h bones.h
naming.?             : $WORDS at.h bones.h caller.h guard.h naming.h $UTIL
lens*.? rotation.?    : $WORDS lens.h rotation.h
skeleton.? rig.?     : $WORDS rotation.h skeleton.h table.h
models.?             : $WORDS models.h skeleton.h
loss.?               : $WORDS loss.h
listing.? compare.?  : $WORDS lens.h listing.h compare.h rotation.h skeleton.h
structure.?          : $WORDS bones.h rotation.h structure.h view/clip.h view/label.h
fill*.?              : $WORDS animfs/view.h bones.h fill*.h structure.h table.h jansson.h json_load.h view/clip.h view/label.h

# Formats and views: they know neither each other nor files nor FUSE.
codec.c codec/*      : $WORDS bones.h animfs/codec.h codec/*.h xml.h
view.c view/*        : $WORDS bones.h animfs/view.h view/*.h lens.h rotation.h skeleton.h table.h jansson.h json_load.h xml.h

# The disk: knows no animations.
at.? attributes.? backup.? refusal.? replace.? state.? watch.? : $DISK
caller.?             : animfs/base.h caller.h
guard.h              : animfs/base.h at.h caller.h
model.?              : $WORDS at.h guard.h model.h models.h
rest.?               : animfs/base.h at.h guard.h model.h rest.h skeleton.h
confine.? enclose.?  : animfs/base.h at.h confine.h enclose.h seccomp.h sys/capability.h

# Animation files, and the folders that they are shown as.
ages.? snap.?        : $WORDS $DISK animfs/codec.h animfs/view.h ages.h naming.h rest.h snap.h $UTIL
source.?             : $WORDS $DISK animfs/codec.h bones.h loss.h model.h slow.h snap.h source.h
options.?            : $WORDS animfs/codec.h json_load.h source.h tree.h options.h
tree.?               : $WORDS animfs/view.h source.h tree.h
node.?               : $WORDS animfs/view.h node.h slab.h
slow.?               : slow.h
slab.?               : slab.h sanitizer/asan_interface.h
recent.?             : animfs/base.h recent.h $UTIL
jobs.?               : jobs.h
shard.?              : animfs/base.h shard.h
pack.?               : animfs/base.h pack.h
file.? folder.?      : $DISK source.h node.h file.h folder.h slow.h
draft.?              : $WORDS source.h tree.h file.h draft.h view/own_digest.h

# The mount: the only part that knows FUSE. The commands see nothing of it but mount.h.
mount.h              : source.h tree.h
fs/*                 : $WORDS $DISK confine.h enclose.h animfs/*.h json_load.h source.h tree.h node.h file.h folder.h draft.h options.h recent.h slow.h structure.h fill.h mount.h fs/*.h fuse*
cmd/*                : $WORDS $DISK animfs/*.h source.h tree.h draft.h options.h structure.h listing.h compare.h fill.h fill_facts.h jansson.h jobs.h models.h mount.h naming.h pack.h shard.h view/clip.h view/json.h cmd/*.h
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
	done < <(grep -v '^#' <<<"$RULES")
	echo "$1: no rule for this file" >&2
	return 1
}

# A header's name from src/ or include/, however the file writes it.
resolve()
{
	local folder
	for folder in "$(dirname "$1")" src include; do
		if [ -e "$folder/$2" ]; then
			realpath --relative-to=. "$folder/$2" | sed 's,^\(src\|include\)/,,'
			return
		fi
	done
	echo "$2"
}

status=0
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
		one_of "$name" $headers || { echo "$file includes $name"; status=1; }
	done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*\([<"][^>"]*[>"]\).*/\1/p' "$file")
done < <(find include src -name '*.[ch]' | sort)
[ "$status" -ne 0 ] || echo "includes: as the table says"
exit "$status"
