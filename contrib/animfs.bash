# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of animfs for bash. What commands and options there are is asked of the program itself.

_animfs_commands()
{
	{
		echo help
		"$1" --help 2>/dev/null | sed -n '/^Commands/,$s/^  \([a-z][a-z-]*\) .*/\1/p'
	} | sort -u
}

# The long options of a command.
_animfs_options()
{
	"$1" "$2" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# The verbs of clip and bone.
_animfs_verbs()
{
	"$1" "$2" --help 2>/dev/null | sed -nE 's/.* animfs [a-z]+ ([a-z]+) \[OPTION.*/\1/p'
}

# What may stand behind -o: names, with '=' where they have a value. The same
# script is in the completions of all shells, since each is installed by itself.
_animfs_mount_options()
{
	"$1" mount --help 2>/dev/null | sed -nE '
		/^  -o /,/^  -f /{
			s/.*mount options://
			/(,| and)$/!d
			s/ and$//
			y/,/\n/
			s/[ MN]//g
			p
		}' | grep -xE '[a-z_]+=?'
	"$1" mount --help 2>/dev/null | sed -nE 's/^      --([a-z-]+=?).*/\1/p'
}

# The bones of FILE, or of FILE/CLIP.
_animfs_bones()
{
	local name folders=()
	while IFS= read -r name; do
		case $name in
		bones/) folders=("$2/bones") && break ;;
		*/) folders+=("$2/${name}bones") ;;
		esac
	done < <("$1" ls "$2" 2>/dev/null)
	[ ${#folders[@]} -eq 0 ] || "$1" ls "${folders[@]}" 2>/dev/null | sed -n 's/\.csv$//p' | sort -u
}

# The words behind the command that are no options.
_animfs_operands()
{
	local word
	operands=()
	for word in "${words[@]:2:${#words[@]}-3}"; do
		[[ $word == -* ]] || operands+=("$word")
	done
}

_animfs_values()
{
	case $1 in
	--rotations) echo euler quaternion stored ;;
	--bones) echo octahedra lines ;;
	--bvh) echo lossless lossy ;;
	--gltf) echo figure plain ;;
	--gltf-rate) echo match resample ;;
	--views) echo raw json skeleton parts curves kanim x3d gltf bvh csv svg html all ;;
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
	local folder=${1%/*} name glob

	compopt -o filenames 2>/dev/null
	if [[ $1 == */* && ! -d ${folder:-/} ]]; then
		compopt -o nospace 2>/dev/null
		"${COMP_WORDS[0]}" ls "$folder" 2>/dev/null | while IFS= read -r name; do
			printf '%s/%s\n' "$folder" "$name"
		done
	else
		compgen -f -- "$1" | while IFS= read -r name; do
			for glob in $2; do
				# shellcheck disable=SC2053 # it is a pattern
				[[ ! -f $name || $name != $glob ]] || name+=/
			done
			printf '%s\n' "$name"
		done
	fi
}

# The names of animation files and archives, for commands that want what is in them.
_animfs_globs()
{
	[ "$2" != cat ] || echo '*.cpk' '*.rab' '*.mrab' '*.efarc' '*.zip'
	case $2 in
	cat | put | clip | bone) "$1" formats 2>/dev/null | sed -n 's/^[a-z0-9]*: //p' ;;
	esac
}

_animfs()
{
	local words=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
	local word=${words[-1]} before=${words[-2]} command=mount values operands globs

	COMPREPLY=()
	# --option=value are three words here.
	if [[ $word == '=' ]]; then
		word=''
	elif [[ $before == '=' ]]; then
		before=${words[-3]}
	fi
	[[ ${#words[@]} -le 2 || ${words[1]} == [-./~]* ]] || command=${words[1]}
	_animfs_operands
	if [[ $before == -o ]]; then
		compopt -o nospace 2>/dev/null
		values=${word%"${word##*,}"}
		_animfs_answer "$word" < <(_animfs_mount_options "${words[0]}" | sed "s/^/$values/")
	elif [[ $command == @(clip|bone) && ${#operands[@]} -eq 0 && $word != -* ]]; then
		_animfs_answer "$word" < <(_animfs_verbs "${words[0]}" "$command")
	elif [[ $command == bone && ${#operands[@]} -ge 2 && ${operands[0]} != add && $word != -* ]]; then
		_animfs_answer "$word" < <(_animfs_bones "${words[0]}" "${operands[1]%/}")
	elif values=$(_animfs_values "$before"); then
		_animfs_answer "$word" < <(printf '%s\n' $values)
	elif [[ $word == -* ]]; then
		_animfs_answer "$word" < <(_animfs_options "${words[0]}" "$command")
	else
		[[ ${#words[@]} -gt 2 && $command != help ]] ||
			_animfs_answer "$word" < <(_animfs_commands "${words[0]}")
		globs=$(_animfs_globs "${words[0]}" "$command")
		[[ $globs != *'*'* ]] || compopt -o nospace 2>/dev/null
		_animfs_answer "$word" < <(set -f && _animfs_paths "$word" "$globs")
	fi
}
complete -F _animfs animfs
