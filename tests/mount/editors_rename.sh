#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# editors_rename.sh - programs that write a file of their own and rename it onto a view, and those
# that move or remove the view first, save exactly their edit and leave nothing behind.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_stopped

by_sed() { sed -i 's/1\.5,-2/2.5,-2/' "$F"; }
by_sed_with_backup() { sed -i.bak 's/1\.5,-2/2.5,-2/' "$F"; }
by_perl() { perl -pi -e 's/1\.5,-2/2.5,-2/' "$F"; }
by_perl_with_backup() { perl -pi.bak -e 's/1\.5,-2/2.5,-2/' "$F"; }
edits sed by_sed
edits sed-backup by_sed_with_backup Bone01.csv.bak
ok "sed-backup: the backup" cmp "$F.bak" "$OLD"
edits perl by_perl
edits perl-backup by_perl_with_backup Bone01.csv.bak
ok "perl-backup: the backup" cmp "$F.bak" "$OLD"

vim_with() { vim -u NONE -N -es -c "set $1" -c '%s/1\.5,-2/2.5,-2/' -c wq "$F"; }
by_vim() { vim_with backupcopy=no; }
by_vim_auto() { vim_with backupcopy=auto; }
by_vim_keeping() { vim_with 'backup backupcopy=no'; }
edits vim by_vim
edits vim-auto by_vim_auto
edits vim-backup by_vim_keeping Bone01.csv~
ok "vim-backup: the backup" cmp "$F~" "$OLD"

# As emacs: the view becomes F~ and stays it, a new F is written and synced.
by_emacs()
{
	python3 - "$F" "$NEW" <<'PYTHON'
import os, sys
path, new = sys.argv[1:]
folder, name = os.path.split(path)
lock = os.path.join(folder, ".#" + name)
os.symlink("somebody@somewhere.1:1", lock)
with open(os.path.join(folder, "#" + name + "#"), "w") as f:
    f.write("unsaved")
mode = os.stat(path).st_mode & 0o777
os.rename(path, path + "~")
fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
os.write(fd, open(new, "rb").read())
os.fsync(fd)
os.fchmod(fd, mode)
os.close(fd)
os.unlink(os.path.join(folder, "#" + name + "#"))
os.unlink(lock)
PYTHON
}
edits emacs by_emacs Bone01.csv~
ok "emacs: the backup" cmp "$F~" "$OLD"

by_replace()
{
	python3 -c 'import os, sys
path, new = sys.argv[1:]
open(path + ".tmp", "w").write(open(new).read())
os.replace(path + ".tmp", path)' "$F" "$NEW"
}
edits os-replace by_replace

# As GLib: the new file is renamed while it is still open, F too, and both are closed afterwards.
by_glib()
{
	python3 - "$F" "$NEW" "$1" <<'PYTHON'
import os, sys
path, new, backup = sys.argv[1:]
folder = os.path.dirname(path)
old = os.open(path, os.O_WRONLY)
st = os.fstat(old)
temporary = os.path.join(folder, ".goutputstream-ABCDEF")
fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
os.fchown(fd, st.st_uid, st.st_gid)
os.fchmod(fd, st.st_mode & 0o777)
os.write(fd, open(new, "rb").read())
os.fsync(fd)
if backup == "backup":
    os.link(path, path + "~")
os.rename(temporary, path)
assert os.fstat(fd).st_size == os.stat(path).st_size
os.close(fd)
os.close(old)
PYTHON
}
by_glib_plain() { by_glib no; }
by_glib_with_backup() { by_glib backup; }
edits glib by_glib_plain
edits glib-backup by_glib_with_backup Bone01.csv~
ok "glib-backup: the backup" cmp "$F~" "$OLD"

by_gio() { gio save "$F" <"$NEW"; }
if command -v gio >/dev/null; then
	edits gio by_gio
else
	skip "gio is not installed"
fi

by_rsync() { rsync -I "$NEW" "$F"; }
# Of another time than the view, or rsync takes the equal size for an equal text.
by_rsync_archive() { touch -d '1 hour ago' "$NEW" && rsync -a "$NEW" "$F"; }
by_rsync_folder() { mkdir "$WORK/from" && cp "$NEW" "$WORK/from/Bone01.csv" && rsync -rI "$WORK/from/" "${F%/*}"; }
edits rsync by_rsync
edits rsync-archive by_rsync_archive
edits rsync-folder by_rsync_folder

by_cp_removing() { cp --remove-destination "$NEW" "$F"; }
by_install() { install -m 644 "$NEW" "$F"; }
by_install_with_backup() { install -b -m 600 "$NEW" "$F"; }
by_cp_with_backup() { cp -a --backup=simple "$NEW" "$F"; }
edits cp-removing by_cp_removing
edits install by_install
edits install-backup by_install_with_backup Bone01.csv~
edits cp-backup by_cp_with_backup Bone01.csv~

by_rm() { rm "$F" && cat "$NEW" >"$F"; }
by_mv_inside() { cp "$NEW" "$F.new" && mv "$F.new" "$F"; }
by_mv_from_outside() { cp "$NEW" "$WORK/moved" && mv "$WORK/moved" "$F"; }
by_mv_from_source() { cp "$NEW" "$MNT/moved.csv" && mv "$MNT/moved.csv" "$F"; }
edits rm by_rm
edits mv-inside by_mv_inside
edits mv-outside by_mv_from_outside
edits mv-source by_mv_from_source

by_patch() { (cd "${F%/*}" && diff -u "$OLD" "$NEW" | patch Bone01.csv); }
edits patch by_patch

by_sponge() { sed 's/1\.5,-2/2.5,-2/' "$F" | sponge "$F"; }
if command -v sponge >/dev/null; then
	edits sponge by_sponge
else
	skip "sponge is not installed"
fi

# As git checkout: removed, made anew and closed before anybody looks.
by_git()
{
	(
		cd "${F%/*}" || exit
		git init -q . && git -c user.name=a -c user.email=a@b add . &&
			git -c user.name=a -c user.email=a@b commit -q -m old &&
			sed -i 's/1\.5,-2/2.5,-2/' Bone01.csv &&
			git -c user.name=a -c user.email=a@b commit -q -a -m new &&
			git checkout -q HEAD~1 && git checkout -q - && rm -rf .git
	)
}
if command -v git >/dev/null; then
	edits git by_git
else
	skip "git is not installed"
fi

is "nothing was refused" "$(grep -v ": went back: " "$MNT/.animfs/errors")" ""
