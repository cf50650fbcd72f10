#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check-includes.sh [--edges] - checks the layers of the program (CONTRIBUTING.md, "The map").
#
# A folder of src/ is a layer. It may include its own headers and those of the folders that LAYERS
# lists after its name; these stand above it in the list. WORDS says who may include the headers of
# include/animfs, and LIBRARIES which files may include a library. Standard and system headers are
# not restricted.
#
# In addition, the files of src/vfs may include only files that precede them in the list in vfs.h;
# no files may use each other in a circle, by includes or by calls (check-circles.awk); one header of
# each layer must begin with a comment "Layer NAME: ...", which says where to start reading and whose
# "May use:" repeats the table; and docs/architecture.svg must show what is included.
#
# --edges prints "LAYER LAYER" for each include between two layers, for architecture.sh.
set -euf
cd "$(dirname "$0")/.."

LAYERS='
util      :
text      : util
disk      : util
sandbox   : util disk
model     : util text
skeleton  : util text disk sandbox model
codec     : util text model
view      : util text model skeleton
container : util text model
edit      : util text model
store     : util text disk sandbox model skeleton codec view container edit
vfs       : util text disk sandbox model skeleton view edit store
fuse      : util disk sandbox vfs
cmd       : util text disk sandbox model skeleton view container edit store fuse/session.h vfs/mount_options.h
web       : util text model skeleton view store
'

WORDS='
base.h      : include/animfs/* src/*
lane.h      : include/animfs/* src/*
anim.h      : include/animfs/* src/model/* src/skeleton/* src/codec/* src/view/* src/edit/* src/store/* src/vfs/* src/cmd/*
codec.h     : src/codec/* src/store/* src/cmd/*
container.h : src/container/* src/store/* src/cmd/*
view.h      : src/model/* src/view/* src/edit/* src/store/* src/vfs/* src/cmd/*
'

LIBRARIES='
fuse*            : src/fuse/*
jansson.h        :
libxml/*         : src/text/xml.c src/cmd/main.c
zip.h            : src/container/zip.c
seccomp.h        : src/sandbox/confine.c src/sandbox/enclose.c
sys/capability.h : src/sandbox/confine.c src/sandbox/enclose.c
'

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

# Prints the line of this name in a table.
line_of()
{
	local name rest
	while IFS=: read -r name rest; do
		[ "${name%% *}" != "$1" ] || { echo "$rest"; return; }
	done <<<"$2"
}

# May the file include the header of this name below include/ or src/, or of a library?
may_include()
{
	local file=$1 header=$2 layer=${1#src/} name files
	layer=${layer%%/*}
	case $header in
	animfs/*)
		# shellcheck disable=SC2046
		one_of "$file" $(line_of "${header#animfs/}" "$WORDS")
		return
		;;
	"$layer"/*) return ;;
	esac
	if [ -e "src/$header" ]; then
		# shellcheck disable=SC2046
		one_of "${header%%/*}" $(line_of "$layer" "$LAYERS") ||
			one_of "$header" $(line_of "$layer" "$LAYERS")
		return
	fi
	while IFS=: read -r name files; do
		# shellcheck disable=SC2086,SC2053
		if [[ -n $name && $header == ${name%% *} ]]; then
			one_of "$file" $files
			return
		fi
	done <<<"$LIBRARIES"
	# Of the system.
}

# The name of a header relative to src/ or include/, however it is included.
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

# Prints "FILE HEADER" lines; reports what the tables do not allow on standard error.
read_includes()
{
	local file header name status=0
	while read -r file; do
		while read -r header; do
			case $header in
			\"*) name=$(resolve "$file" "${header//\"/}") ;;
			*) name=${header//[<>]/} ;;
			esac
			may_include "$file" "$name" || { echo "$file includes $name" >&2; status=1; }
			case $header in \"*) echo "${file#*/} $name" ;; esac
		done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*\([<"][^>"]*[>"]\).*/\1/p' "$file")
	done < <(find include src -name '*.[ch]' | sort)
	return "$status"
}

# Checks src/vfs against the list in vfs.h: files that are not listed, or include later ones.
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

check_circles()
{
	# Those of src/web/libc define in a page what others define elsewhere.
	find include src -name '*.[ch]' ! -path 'src/web/libc/*' | sort |
		xargs awk -f scripts/check-circles.awk >&2
}

# Checks the comment about a layer: in exactly one header, with what the layer may use.
check_comments()
{
	local name uses headers comment status=0
	while IFS=: read -r name uses; do
		name=${name%% *}
		[ -n "$name" ] || continue
		headers=$(grep -lr --include='*.h' "^ \* Layer $name: " "src/$name" || :)
		if [ "$(grep -c . <<<"$headers")" -ne 1 ]; then
			echo "src/$name: one header must begin with a comment \"Layer $name: ...\"" >&2
			status=1
			continue
		fi
		comment=$(sed -n '/^ \* Layer /,/^ \*\/$/s/^ \*\/\?//p' "$headers" | tr -s ' \n' ' ')
		read -r uses <<<"$uses"
		[[ $comment == *". Start reading "*". May use: ${uses:-nothing} " ]] || {
			echo "$headers: the comment must end in \"Start reading ... May use: ${uses:-nothing}\"" >&2
			status=1
		}
	done <<<"$LAYERS"
	return "$status"
}

# "LAYER LAYER" for each include from one layer into another.
print_edges()
{
	# The list of formats is declared in animfs/codec.h.
	sed -nE 's,animfs/codec.h,codec/,; s,^([a-z]+)/[^ ]* ([a-z]+)/.*,\1 \2,p' <<<"$1" | awk '$1 != $2 && $2 != "animfs" && $1 != "animfs"'
}

# Each arrow of docs/architecture.svg must be an include, and arrows must lead along each include.
check_picture()
{
	{
		sed -n 's,^<title>\(.*\)&#45;&gt;\(.*\)</title>$,\1 \2 drawn,p' docs/architecture.svg
		print_edges "$1"
	} | awk '
		NF == 3 { drawn[$1, $2]; targets[$1] = targets[$1] " " $2; next }
		{ uses[$1, $2] }
		function leads(from, to, list, i) {
			for (i = split(targets[from], list, " "); i > 0; i--)
				if (list[i] == to || leads(list[i], to))
					return 1
			return 0
		}
		END {
			for (i in drawn) bad = bad || !(i in uses)
			for (i in uses) { split(i, part, SUBSEP); bad = bad || !leads(part[1], part[2]) }
			if (bad) print "docs/architecture.svg is not what is included: make architecture"
			exit bad
		}' >&2
}

status=0
includes=$(read_includes) || status=1
if [ "${1-}" = --edges ]; then
	print_edges "$includes"
	exit "$status"
fi
check_comments || status=1
check_vfs "$includes" || status=1
check_circles || status=1
check_picture "$includes" || status=1
[ "$status" -ne 0 ] || echo "includes: as the tables say"
exit "$status"
