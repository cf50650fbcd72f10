# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of animfs for fish. What commands and options there are is asked of the program itself.

function __animfs_commands
	echo help
	animfs --help 2>/dev/null | sed -n '/^Commands/,$s/^  \([a-z][a-z]*\) .*/\1/p' | sort -u
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

complete -c animfs -n __animfs_wants_command -a '(__animfs_commands)'
complete -c animfs -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__animfs_options)'
complete -c animfs -n 'string match -q -- "*/*" (commandline -ct)' -a '(__animfs_inside)'
complete -c animfs -n '__animfs_takes rotations' -l rotations -x -a 'euler quaternion'
complete -c animfs -n '__animfs_takes bones' -l bones -x -a 'octahedra lines'
complete -c animfs -n '__animfs_takes bvh' -l bvh -x -a 'lossless lossy'
complete -c animfs -n '__animfs_takes backup' -l backup -x -a 'simple numbered none'
complete -c animfs -n '__animfs_takes color' -l color -x -a 'auto always never'
complete -c animfs -n '__animfs_takes views' -l views -x -a 'raw json curves kanim x3d gltf bvh csv svg'
complete -c animfs -n '__animfs_takes state' -l state -x -a '(__fish_complete_directories)'
complete -c animfs -n '__animfs_takes source' -l source -x -a '(__fish_complete_directories)'
