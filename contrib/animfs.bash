# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of animfs for bash. What commands and options there are is asked of the program itself.

_animfs_commands()
{
	{
		echo help
		"$1" --help 2>/dev/null | sed -n '/^Commands/,$s/^  \([a-z][a-z]*\) .*/\1/p'
	} | sort -u
}

# The long options of a command.
_animfs_options()
{
	"$1" "$2" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_animfs_values()
{
	case $1 in
	--rotations) echo euler quaternion ;;
	--bones) echo octahedra lines ;;
	--bvh) echo lossless lossy ;;
	--backup) echo simple numbered none ;;
	--views) echo raw json curves kanim x3d gltf bvh csv svg ;;
	--color) echo auto always never ;;
	*) return 1 ;;
	esac
}

# Takes the words that begin with $1 for answers.
_animfs_answer()
{
	local word
	while IFS= read -r word; do
		[[ $word != "$1"* ]] || COMPREPLY+=("$word")
	done
}

# Paths go on inside animation files: ranger.canm/walk/...
_animfs_paths()
{
	local folder=${1%/*}

	compopt -o filenames 2>/dev/null
	if [[ $1 == */* && ! -d ${folder:-/} ]]; then
		compopt -o nospace 2>/dev/null
		"${COMP_WORDS[0]}" ls "$folder" 2>/dev/null | while IFS= read -r name; do
			printf '%s/%s\n' "$folder" "$name"
		done
	else
		compgen -f -- "$1"
	fi
}

_animfs()
{
	local words=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
	local word=${words[-1]} before=${words[-2]} command=mount values

	COMPREPLY=()
	# --option=value are three words here.
	if [[ $word == '=' ]]; then
		word=''
	elif [[ $before == '=' ]]; then
		before=${words[-3]}
	fi
	[[ ${#words[@]} -le 2 || ${words[1]} == [-./~]* ]] || command=${words[1]}
	if values=$(_animfs_values "$before"); then
		_animfs_answer "$word" < <(printf '%s\n' $values)
	elif [[ $word == -* ]]; then
		_animfs_answer "$word" < <(_animfs_options "${words[0]}" "$command")
	else
		[[ ${#words[@]} -gt 2 && $command != help ]] ||
			_animfs_answer "$word" < <(_animfs_commands "${words[0]}")
		_animfs_answer "$word" < <(_animfs_paths "$word")
	fi
}
complete -F _animfs animfs
