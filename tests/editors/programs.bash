# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034 # its variables are for who reads it in
# programs.bash - the programs that people save with, each as the real one, after lib.sh:
#
#   PROGRAMS       their names, in the order of the tables
#   saves PROGRAM  makes the edit with it; its status is the program's
#   LEFT[PROGRAM]  what it leaves beside the view for good: a backup, as a suffix of the view's name
#   NEEDS[PROGRAM] the command without which it cannot be tried
#
# There is one edit: in the view $F, whose text is the file $OLD, the only match of $RE becomes $TO,
# which makes $NEW. RE means the same to sed, awk, perl, ed, vim and emacs; TO is literal for all.

PROGRAMS=()
declare -A LEFT=() NEEDS=()

# program NAME [COMMAND [SUFFIX]]: what follows as by_NAME is one.
program()
{
	PROGRAMS+=("$1")
	NEEDS[$1]=${2:-sh}
	LEFT[$1]=${3:-}
}

# may_try PROGRAM: is it here, and can it open $F? Otherwise the reason.
may_try()
{
	if ! command -v "${NEEDS[$1]}" >/dev/null; then
		echo "${NEEDS[$1]} is not installed"
	elif [ "$1" = calc ] && [ -z "${OFFICE:-}" ]; then
		echo "no LibreOffice"
	elif [ "$1" = calc ] && [[ $F != *.csv ]]; then
		echo "no table"
	elif [ "$1" = nano ] && ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
		echo "there are no pseudo-terminals (/dev/pts)"
	else
		return 0
	fi
	return 1
}

# In a shell of its own: what fails there fails alone.
saves() { (cd "$WORK" && "by_$1"); }

# A copy of the new text that no program can take for the old one by its time.
new_copy()
{
	mkdir -p "${1%/*}" && cp "$NEW" "$1" && touch -d '1 hour ago' "$1"
}

# ---- that write into the view ----

program redirect
by_redirect() { cat "$NEW" >"$F"; }
program echo
by_echo() { echo "$(<"$NEW")" >"$F"; }
program append
by_append() { : >"$F" && cat "$NEW" >>"$F"; }
# Each child flushes what the text has so far: a line, half a line more, the rest.
program subshells
by_subshells() { { head -n 1 "$NEW"; tail -n +2 "$NEW" | head -c 30; tail -n +2 "$NEW" | tail -c +31; } >"$F"; }
program tee
by_tee() { tee "$F" <"$NEW" >/dev/null; }
program cp
by_cp() { cp "$NEW" "$F"; }
program dd-notrunc
by_dd-notrunc() { dd if="$NEW" of="$F" conv=notrunc bs=7 status=none; }
program truncate
by_truncate() { { cat "$NEW" && echo; } >"$F" && truncate -s "$(stat -c %s "$NEW")" "$F"; }
program rsync-inplace rsync
by_rsync-inplace() { new_copy "$WORK/by/${F##*/}" && rsync --inplace "$WORK/by/${F##*/}" "$F"; }
program ed ed
by_ed() { printf '%s\n' H ",s/$RE/$TO/" w q | ed -s "$F"; }
program python-open python3
by_python-open()
{
	python3 -c 'import sys
with open(sys.argv[1], "w") as f:
    f.write(open(sys.argv[2]).read())' "$F" "$NEW"
}
program python-r+ python3
by_python-r+()
{
	python3 -c 'import os, sys
with open(sys.argv[1], "r+b") as f:
    f.write(open(sys.argv[2], "rb").read())
    f.truncate()
    f.flush()
    os.fdatasync(f.fileno())' "$F" "$NEW"
}
map_with()
{
	python3 -c 'import mmap, os, sys
text = open(sys.argv[2], "rb").read()
fd = os.open(sys.argv[1], os.O_RDWR)
os.ftruncate(fd, len(text))
m = mmap.mmap(fd, len(text))
m[:] = text
if sys.argv[3] == "msync":
    m.flush()
m.close()
os.close(fd)' "$F" "$NEW" "$1"
}
program mmap-msync python3
by_mmap-msync() { map_with msync; }
program mmap-close python3
by_mmap-close() { map_with close; }
program nano nano
by_nano() { python3 "$HERE/nano.py" "$F" "$OLD" "$NEW"; }

# Only tables, and only where start_office (office.bash) was called.
program calc soffice
by_calc() { calc "$F" "$(cell_of)" store; }

# ---- that rename a text of theirs onto it ----

program sed-i
by_sed-i() { sed -i "s/$RE/$TO/" "$F"; }
program sed-i.bak sed .bak
by_sed-i.bak() { sed -i.bak "s/$RE/$TO/" "$F"; }
program perl-pi perl
by_perl-pi() { perl -pi -e "s/$RE/$TO/" "$F"; }
program perl-pi.bak perl .bak
by_perl-pi.bak() { perl -pi.bak -e "s/$RE/$TO/" "$F"; }
program awk-mv awk
by_awk-mv() { awk -v "to=$TO" "{ sub(/$RE/, to); print }" "$F" >"$F.tmp" && mv "$F.tmp" "$F"; }
program os.replace python3
by_os.replace()
{
	python3 -c 'import os, sys
path, new = sys.argv[1:]
with open(path + ".tmp", "w") as f:
    f.write(open(new).read())
os.replace(path + ".tmp", path)' "$F" "$NEW"
}
program rsync rsync
by_rsync() { new_copy "$WORK/by/${F##*/}" && rsync "$WORK/by/${F##*/}" "$F"; }
program rsync-a rsync
by_rsync-a() { new_copy "$WORK/by/${F##*/}" && rsync -a "$WORK/by/${F##*/}" "$F"; }
program rsync-b rsync '~'
by_rsync-b() { new_copy "$WORK/by/${F##*/}" && rsync -b "$WORK/by/${F##*/}" "$F"; }
program mv-inside
by_mv-inside() { cp "$NEW" "$F.new" && mv "$F.new" "$F"; }
program mv-source
by_mv-source() { cp "$NEW" "$MNT/moved.csv" && mv "$MNT/moved.csv" "$F"; }
program patch patch
by_patch() { (cd "${F%/*}" && diff -u "$OLD" "$NEW" | patch -s "${F##*/}"); }
program sponge sponge
by_sponge() { sed "s/$RE/$TO/" "$F" | sponge "$F"; }
program gio-save gio
by_gio-save() { gio save "$F" <"$NEW"; }
program gio-save-b gio '~'
by_gio-save-b() { gio save -b "$F" <"$NEW"; }
program gio-copy gio
by_gio-copy() { gio copy "$NEW" "$F"; }

# ---- that move or remove the old one first ----

program rm-write
by_rm-write() { rm "$F" && cat "$NEW" >"$F"; }
program cp-remove
by_cp-remove() { cp --remove-destination "$NEW" "$F"; }
program cp-a-backup sh '~'
by_cp-a-backup() { new_copy "$WORK/by/text" && cp -a --backup=simple "$WORK/by/text" "$F"; }
program install
by_install() { install -m 644 "$NEW" "$F"; }
program install-b sh '~'
by_install-b() { install -b -m 600 "$NEW" "$F"; }
program mv-outside
by_mv-outside() { new_copy "$WORK/by/text" && mv "$WORK/by/text" "$F"; }
program tar-x tar
by_tar-x() { new_copy "$WORK/by/${F##*/}" && tar -C "$WORK/by" -c "${F##*/}" | tar -C "${F%/*}" -x; }
vim_with() { vim -u NONE -N -es -c "set $1" -c "%s/$RE/$TO/" -c wq "$F"; }
program vim-bkc-no vim
by_vim-bkc-no() { vim_with backupcopy=no; }
program vim-bkc-yes vim
by_vim-bkc-yes() { vim_with backupcopy=yes; }
program vim-bkc-auto vim
by_vim-bkc-auto() { vim_with backupcopy=auto; }
program vim-backup vim '~'
by_vim-backup() { vim_with 'backup backupcopy=no'; }
program nvim nvim
by_nvim() { nvim -u NONE -es -c "%s/$RE/$TO/" -c wq "$F"; }
emacs_with()
{
	RE=$RE TO=$TO emacs -Q --batch --eval "(setq $1)" "$F" --eval '(progn
		(goto-char (point-min))
		(re-search-forward (getenv "RE"))
		(replace-match (getenv "TO") t t)
		(save-buffer))'
}
program emacs emacs '~'
by_emacs() { emacs_with 'make-backup-files t'; }
program emacs-copy emacs '~'
by_emacs-copy() { emacs_with 'backup-by-copying t'; }
program emacs-bare emacs
by_emacs-bare() { emacs_with 'make-backup-files nil'; }

# A repository in the view's folder.
git_here() { git -c user.name=a -c user.email=a@b -c core.safecrlf=false "$@"; }
git_begins()
{
	cd "${F%/*}" && git init -q . && git add "${F##*/}" && git_here commit -q -m old &&
		sed -i "s/$RE/$TO/" "${F##*/}" && git diff | grep '^+' | grep -qF "${TO#^}"
}
program git-checkout git
by_git-checkout()
{
	git_begins && git_here commit -q -a -m new && git checkout -q HEAD~1 &&
		cmp "$F" "$OLD" && git checkout -q - && rm -rf .git
}
program git-stash git
by_git-stash()
{
	git_begins && git_here stash -q && cmp "$F" "$OLD" && git_here stash pop -q && rm -rf .git
}
