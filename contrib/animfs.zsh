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
--rotations) compadd euler quaternion; return ;;
--bones) compadd octahedra lines; return ;;
--bvh) compadd lossless lossy; return ;;
--backup) compadd simple numbered none; return ;;
--color) compadd auto always never; return ;;
--views) _values -s , view raw json curves kanim x3d gltf bvh csv svg; return ;;
--state|--source) _files -/; return ;;
esac

if [[ $PREFIX == -* ]]; then
	found=(${(fu)"$($program $command --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*')"})
	compadd -a found
	return
fi
if (( CURRENT == 2 )) || [[ $command == help ]]; then
	found=(help ${(fu)"$($program --help 2>/dev/null |
		sed -n '/^Commands/,$s/^  \([a-z][a-z]*\) .*/\1/p')"})
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
