#compdef animfs
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of animfs for zsh. What commands and options there are is asked of the program itself.

local program=$words[1] command=mount before=$words[CURRENT-1] option=''
local -a found

(( CURRENT < 3 )) || [[ $words[2] == [-./~]* ]] || command=$words[2]
# --option=value is one word here.
if [[ $PREFIX == --*=* ]]; then
	before=${PREFIX%%=*}
	compset -P '*='
fi

case $before in
--rotations) compadd euler quaternion stored; return ;;
--bones) compadd octahedra lines; return ;;
--bvh) compadd lossless lossy; return ;;
--gltf) compadd figure plain; return ;;
--gltf-rate) compadd match resample; return ;;
--color) compadd auto always never; return ;;
--views) _values -s , view raw json skeleton parts curves kanim x3d gltf bvh csv svg html all; return ;;
--state|--source) _files -/; return ;;
esac

# Behind -o: names, with '=' where they have a value. The same
# script is in the completions of all shells, since each is installed by itself.
if [[ $before == -o ]]; then
	found=(${(f)"$($program mount --help 2>/dev/null | sed -nE '
		/^  -o /,/^  -f /{
			s/.*mount options://
			/(,| and)$/!d
			s/ and$//
			y/,/\n/
			s/[ MN]//g
			p
		}' | grep -xE '[a-z_]+=?')"}
		${(f)"$($program mount --help 2>/dev/null | sed -nE 's/^      --([a-z-]+=?).*/\1/p')"})
	compset -P '*,'
	compadd -S '' -a found
	return
fi

# The verbs of clip and bone, and the bones of FILE or FILE/CLIP.
local -a operands folders
(( CURRENT > 3 )) && operands=(${words[3,CURRENT-1]:#-*})
if [[ $command == (clip|bone) && $PREFIX != -* ]] && (( CURRENT > 2 && ! $#operands )); then
	found=(${(f)"$($program $command --help 2>/dev/null |
		sed -nE 's/.* animfs [a-z]+ ([a-z]+) \[OPTION.*/\1/p')"})
	compadd -a found
	return
fi
if [[ $command == bone && $PREFIX != -* && $operands[1] != add ]] && (( $#operands > 1 )); then
	local file=${${(Q)operands[2]}%/}
	found=(${(f)"$($program ls $file 2>/dev/null)"})
	if (( $found[(I)bones/] )); then
		folders=($file/bones)
	else
		folders=($file/${^${(M)found:#*/}}bones)
	fi
	found=(${(fu)"$($program ls $folders 2>/dev/null | sed -n 's/\.csv$//p')"})
	compadd -a found
	return
fi

if [[ $PREFIX == -* ]]; then
	found=(${(fu)"$($program $command --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*')"})
	compadd -a found
	return
fi
if (( CURRENT == 2 )) || [[ $command == help ]]; then
	found=(help ${(fu)"$($program --help 2>/dev/null |
		sed -n '/^Commands/,$s/^  \([a-z][a-z-]*\) .*/\1/p')"})
	compadd -a found
fi
# Paths go on inside animation files: ranger.canm/walk/...
if [[ $PREFIX == */* && ! -d ${(Q)PREFIX%/*}/ ]]; then
	found=(${(f)"$($program ls ${(Q)PREFIX%/*} 2>/dev/null)"})
	compset -P '*/'
	compadd -S '' -a found
else
	_files
fi
