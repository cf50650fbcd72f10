#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# install.sh - what `make install` puts where, the user's systemd unit, and what the completions of
# the shells offer: all commands that the program has, and all of their options.
. tests/mount/lib.sh

bin=$(dirname "$ANIMFS")
install_to()
{
	env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -o "$bin/animfs" BUILD="$bin" \
		DESTDIR="$WORK/root" PREFIX=/usr "$1"
}

ok "make install" install_to install
is "every file is where it is looked for" "$(cd "$WORK/root" && find . -type f | sort)" "$(sort <<'END'
./sbin/mount.animfs
./usr/bin/animfs
./usr/share/applications/animfs.desktop
./usr/share/mime/packages/animfs.xml
./usr/lib/systemd/user/animfs@.service
./usr/share/bash-completion/completions/animfs
./usr/share/doc/animfs/GUIDE.md
./usr/share/doc/animfs/examples/animfs-export.sbatch
./usr/share/fish/vendor_completions.d/animfs.fish
./usr/share/man/man1/animfs-export.1
./usr/share/man/man1/animfs-mount.1
./usr/share/man/man1/animfs.1
./usr/share/man/man5/animfs-formats.5
./usr/share/man/man7/animfs-save.7
./usr/share/man/man7/animfs-tree.7
./usr/share/man/man8/mount.animfs.8
./usr/share/zsh/site-functions/_animfs
END
)"
# File managers name what `animfs formats` lists, and open it.
is "each pattern has a type" "$(python3 - "$WORK/root/usr/share/mime/packages/animfs.xml" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree
space = "{http://www.freedesktop.org/standards/shared-mime-info}"
for kind in tree.parse(sys.argv[1]).getroot().iter(space + "mime-type"):
    assert kind.find(space + "comment").text
    print(kind.get("type").removeprefix("application/x-animfs-") + ":",
          *(glob.get("pattern") for glob in kind.iter(space + "glob")))
PYTHON
)" "$("$ANIMFS" formats | grep '^[a-z]' | LC_ALL=C sort | python3 -c '
import sys
order = ["canm", "cas", "owanim", "ff9anim", "ff9clip", "ribbon", "kanim", "sequence"]
print(*sorted(sys.stdin.read().splitlines(), key=lambda line: order.index(line.split(":")[0])), sep="\n")')"
is "the program opens all of them" \
	"$(sed -n 's/^MimeType=//p' "$WORK/root/usr/share/applications/animfs.desktop" | tr ';' '\n' | grep -c .)" \
	"$("$ANIMFS" formats | grep -c '^[a-z]')"

ok "the program is installed as it was built" same_file "$ANIMFS" "$WORK/root/usr/bin/animfs"

if command -v systemd-analyze >/dev/null; then
	# The program that the unit names is one that is there.
	mkdir "$WORK/unit"
	sed "s|/usr/bin/animfs|$ANIMFS|" "$WORK/root/usr/lib/systemd/user/animfs@.service" \
		>"$WORK/unit/animfs@.service"
	is "systemd finds nothing wrong with the unit" \
		"$(systemd-analyze --user --man=no verify "$WORK/unit/animfs@.service" 2>&1 |
			grep animfs@)" ""
else
	skip "systemd-analyze is not installed"
fi

commands=$({
	echo help
	"$ANIMFS" --help | sed -n '/^Commands/,$s/^  \([a-z-]*\) .*/\1/p'
} | sort -u)
for command in mount umount ls cat put check text diff undo clip bone; do
	ok "the help names $command" grep -qx "$command" <<<"$commands"
done
options_of() { "$ANIMFS" "$1" --help | grep -oE -- '--[a-z-]+' | sort -u; }

# As the program has them.
mount_options=$({
	"$ANIMFS" mount --help | sed -nE 's/^      --([a-z-]+=?).*/\1/p'
	printf '%s\n' ro allow_other uid= gid= umask= nonempty unconfined max_threads=
} | sort -u)

# The file as it is installed, asked for the words that follow those given.
PATH=$bin:$PATH
. "$WORK/root/usr/share/bash-completion/completions/animfs"
bash_offers()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_animfs
	printf '%s\n' "${COMPREPLY[@]}" | sort -u
}
make_game --files 1 --clips 1 --bones 2 --frames 2 --plain 0
cd "$SRC" || exit 1
file=$(find . -name '*.canm')
file=${file#./}

is "bash: the commands" "$(bash_offers animfs '')" "$(printf '%s\n' "$commands" "${file%%/*}" | sort)"
is "bash: the commands that there is help for" "$(bash_offers animfs help c)" \
	"$(grep '^c' <<<"$commands")"
is "bash: the options of no command" "$(bash_offers animfs --)" "$(options_of mount)"
for command in $commands; do
	is "bash: the options of $command" "$(bash_offers animfs "$command" --)" \
		"$(options_of "$command")"
done
is "bash: paths go on inside a file" "$(bash_offers animfs cat "$file/w")" "$file/walk/"
is "bash: the verbs of clip" "$(bash_offers animfs clip '')" $'copy\nnew\nremove\nrename'
is "bash: the verbs of bone" "$(bash_offers animfs bone re)" $'remove\nrename'
is "bash: a file, to go on in it" "$(bash_offers animfs clip remove "${file%.canm}")" "$file/"
is "bash: a file, for what takes it whole" "$(bash_offers animfs check "${file%.canm}")" "$file"
bones=$("$ANIMFS" ls "$file/walk/bones" | sed -n 's/\.csv$//p' | sort -u)
is "bash: bones of a file" "$(bash_offers animfs bone remove "$file" '')" "$bones"
is "bash: bones of a clip" "$(bash_offers animfs bone rename --rate=canm=30 "$file/walk/" "${bones:0:3}")" \
	"$(grep "^${bones:0:3}" <<<"$bones")"
is "bash: behind -o" "$(bash_offers animfs -o '')" "$mount_options"
is "bash: behind -o, further on" "$(bash_offers animfs -o ro,allow)" ro,allow_other
for option in $mount_options; do
	case $option in
	*=) message='value|number|format|size|euler|octahedra|lossless|figure|GLOB|view|not|expected' ;;
	*) message='no SOURCE' ;;
	esac
	like "-o $option is one" "$("$ANIMFS" -o "$option" 2>&1)" "$message"
done
is "bash: a value" "$(bash_offers animfs ls --bones = l)" lines
for option in rotations bones bvh; do
	for value in $(bash_offers animfs ls --$option ''); do
		ok "--$option takes $value" "$ANIMFS" ls --$option "$value" "$file"
	done
done

if command -v fish >/dev/null; then
	fish_offers()
	{
		fish --no-config -c "source $WORK/root/usr/share/fish/vendor_completions.d/animfs.fish
			complete -C '$1'" | cut -f 1 | sort -u
	}
	is "fish: the commands" "$(fish_offers 'animfs ')" \
		"$(printf '%s\n' "$commands" "${file%%/*}/" | sort)"
	is "fish: the options of no command" "$(fish_offers 'animfs --')" "$(options_of mount)"
	for command in $commands; do
		is "fish: the options of $command" "$(fish_offers "animfs $command --")" \
			"$(options_of "$command")"
	done
	is "fish: paths go on inside a file" "$(fish_offers "animfs cat $file/w")" "$file/walk/"
	is "fish: the verbs of clip" "$(fish_offers 'animfs clip ')" $'copy\nnew\nremove\nrename'
	is "fish: bones of a file" "$(fish_offers "animfs bone remove $file ")" "$bones"
	is "fish: bones of a clip" "$(fish_offers "animfs bone remove $file/walk ")" "$bones"
	is "fish: behind -o" "$(fish_offers 'animfs -o ')" "$mount_options"
	is "fish: behind -o, further on" "$(fish_offers 'animfs -o ro,allow')" ro,allow_other
	is "fish: a value" "$(fish_offers "animfs cat --bones=l")" --bones=lines
else
	skip "fish is not installed"
fi

# What stands on the line after a TAB.
zsh_completes()
{
	local said
	said=$(mktemp -d "$WORK/zsh.XXXXXX")
	cat >"$said/.zshrc" <<END
fpath=($WORK/root/usr/share/zsh/site-functions \$fpath)
autoload -Uz compinit
compinit -u -D
tell() { zle complete-word; print -r -- \$BUFFER >$said/new; mv $said/new $said/line; exit }
zle -N tell
bindkey '^T' tell
zle-line-init() { : >$said/ready }
zle -N zle-line-init
END
	zsh -f -s "$said" "$1" <<'END'
zmodload zsh/zpty
zpty shell env ZDOTDIR=$1 zsh -d -i
until [[ -e $1/ready ]]; do sleep 0.02; done
zpty -w -n shell $2$'\x14'
until [[ -e $1/line ]]; do sleep 0.02; done
END
	cat "$said/line"
}
if ! command -v zsh >/dev/null; then
	skip "zsh is not installed"
elif has_terminals; then
	is "zsh: a command" "$(zsh_completes 'animfs und')" "animfs undo "
	is "zsh: an option of a command" "$(zsh_completes 'animfs undo --nu')" "animfs undo --number "
	is "zsh: an option of mounting" "$(zsh_completes 'animfs --besi')" "animfs --beside "
	is "zsh: a verb" "$(zsh_completes 'animfs clip cop')" "animfs clip copy "
	is "zsh: a bone" "$(zsh_completes "animfs bone remove $file/walk ${bones:0:7}")" \
		"animfs bone remove $file/walk $(grep -m 1 "^${bones:0:7}" <<<"$bones") "
	is "zsh: behind -o" "$(zsh_completes 'animfs -o ro,allo')" "animfs -o ro,allow_other"
	is "zsh: a value" "$(zsh_completes 'animfs ls --bones=l')" "animfs ls --bones=lines "
	is "zsh: paths go on inside a file" "$(zsh_completes "animfs cat $file/walk/cur")" \
		"animfs cat $file/walk/curves.csv"
fi

cp "$OLDPWD/tests/data/cpk/nested.cpk" Root.cpk
is "bash: paths go on inside an archive" "$(bash_offers animfs cat Root.c; bash_offers animfs cat Root.cpk/OBJECT/W)" \
	$'Root.cpk/\nRoot.cpk/OBJECT/WALKER.CAS/\nRoot.cpk/OBJECT/WALKER.MRAB/'
if command -v fish >/dev/null; then
	is "fish: paths go on inside an archive" "$(fish_offers 'animfs cat Root.cpk/OBJECT/WALKER.C')" \
		Root.cpk/OBJECT/WALKER.CAS/
fi
if command -v zsh >/dev/null && has_terminals; then
	is "zsh: paths go on inside an archive" "$(zsh_completes 'animfs cat Root.cpk/OBJECT/WALKER.C')" \
		'animfs cat Root.cpk/OBJECT/WALKER.CAS/'
fi

cd - >/dev/null || exit 1
ok "make uninstall" install_to uninstall
is "nothing is left" "$(find "$WORK/root" -type f)" ""
