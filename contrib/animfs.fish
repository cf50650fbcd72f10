# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of animfs for fish. What commands and options there are is asked of the program itself.

function __animfs_commands
	echo help
	animfs --help 2>/dev/null | sed -n '/^Commands/,$s/^  \([a-z][a-z-]*\) .*/\1/p' | sort -u
end

# The command that stands on the line.
function __animfs_command
	set -l words (commandline -opc)
	if set -q words[2]; and not string match -qr '^[-./~]' -- $words[2]
		echo $words[2]
	else
		echo mount
	end
end

function __animfs_wants_command
	test (count (commandline -opc)) -eq 1; or test (__animfs_command) = help
end

function __animfs_options
	animfs (__animfs_command) --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
end

function __animfs_takes
	contains -- --$argv[1] (__animfs_options)
end

# Paths go on inside animation files: ranger.canm/walk/...
function __animfs_inside
	set -l folder (string replace -r '/[^/]*$' '' -- (commandline -ct))
	if not test -d "$folder"
		for name in (animfs ls $folder 2>/dev/null)
			echo $folder/$name
		end
	end
end

# The verbs of clip and bone.
function __animfs_verbs
	animfs (__animfs_command) --help 2>/dev/null | sed -nE 's/.* animfs [a-z]+ ([a-z]+) \[OPTION.*/\1/p'
end

# The words behind the command that are no options.
function __animfs_operands
	set -l words (commandline -opc)
	string match -v -- '-*' $words[3..-1]
end

function __animfs_wants_verb
	contains -- (__animfs_command) clip bone; and test (count (__animfs_operands)) -eq 0
end

function __animfs_wants_bone
	set -l operands (__animfs_operands)
	test (__animfs_command) = bone; and test (count $operands) -ge 2; and test $operands[1] != add
end

# The bones of FILE, or of FILE/CLIP.
function __animfs_bones
	set -l operands (__animfs_operands)
	set -l file (string replace -r '/$' '' -- $operands[2])
	set -l names (animfs ls $file 2>/dev/null | string match -- '*/')
	set -l folders $file/bones
	contains -- bones/ $names; or set folders $file/{$names}bones
	animfs ls $folders 2>/dev/null | sed -n 's/\.csv$//p' | sort -u
end

# What may stand behind -o: names, with '=' where they have a value. The same
# script is in the completions of all shells, since each is installed by itself.
function __animfs_mount_options
	animfs mount --help 2>/dev/null | sed -nE '
		/^  -o /,/^  -f /{
			s/.*mount options://
			/(,| and)$/!d
			s/ and$//
			y/,/\n/
			s/[ MN]//g
			p
		}' | string match -r '^[a-z_]+=?$'
	animfs mount --help 2>/dev/null | sed -nE 's/^      --([a-z-]+=?).*/\1/p'
end

complete -c animfs -n __animfs_wants_verb -f -a '(__animfs_verbs)'
complete -c animfs -n __animfs_wants_bone -f -a '(__animfs_bones)'
complete -c animfs -s o -x -a '(__fish_append , (__animfs_mount_options))'
complete -c animfs -n __animfs_wants_command -a '(__animfs_commands)'
complete -c animfs -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__animfs_options)'
complete -c animfs -n 'string match -q -- "*/*" (commandline -ct)' -a '(__animfs_inside)'
complete -c animfs -n '__animfs_takes rotations' -l rotations -x -a 'euler quaternion stored'
complete -c animfs -n '__animfs_takes bones' -l bones -x -a 'octahedra lines'
complete -c animfs -n '__animfs_takes bvh' -l bvh -x -a 'lossless lossy'
complete -c animfs -n '__animfs_takes gltf' -l gltf -x -a 'figure plain'
complete -c animfs -n '__animfs_takes gltf-rate' -l gltf-rate -x -a 'match resample'
complete -c animfs -n '__animfs_takes color' -l color -x -a 'auto always never'
complete -c animfs -n '__animfs_takes views' -l views -x -a 'raw json skeleton parts curves kanim x3d gltf bvh csv svg html all'
complete -c animfs -n '__animfs_takes state' -l state -x -a '(__fish_complete_directories)'
complete -c animfs -n '__animfs_takes source' -l source -x -a '(__fish_complete_directories)'
