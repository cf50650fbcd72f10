#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# editors_libreoffice.sh - the calls of LibreOffice Calc when it opens a CSV, saves it in place and closes
# it: the edit is saved, once; after a refused save LibreOffice finds the old text and writes it back, which
# is harmless.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_stopped

# by_calc TEXT WANTED-OF-RENAME
by_calc()
{
	python3 - "$F" "$1" "$2" <<'PYTHON'
import errno, fcntl, os, sys

path, new, wanted = sys.argv[1:]
folder, name = os.path.split(path)
text = open(new, "rb").read()
old = open(path, "rb").read()


def lock(fd):
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def outcome(call, *args):
    try:
        call(*args)
        return "0"
    except OSError as error:
        return errno.errorcode[error.errno]


os.statvfs(path)
kept = os.open(path, os.O_RDWR)
lock(kept)
lockfile = os.path.join(folder, ".~lock." + name + "#")
with open(lockfile, "w") as f:
    f.write(",somebody,somewhere,01.01.2026 00:00,file:///home/somebody;")

temporary = os.path.join(folder, "lu1234ab.tmp")
fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
os.close(fd)
fd = os.open(temporary, os.O_RDWR)
os.pwrite(fd, text, 0)
os.fsync(fd)
os.close(fd)
got = outcome(os.rename, temporary, path)
assert got == wanted, got

if got == "0":
    os.chown(path, -1, -1)
    os.chmod(path, 0o644)
    fd = os.open(path, os.O_RDWR)
    lock(fd)
    os.fsync(fd)
    os.close(kept)
    kept = fd
else:
    # Calc then truncates the file, opens it anew and writes into it, and, refused again, writes
    # the old text back.
    os.close(os.open(path, os.O_RDWR | os.O_TRUNC))
    fd = os.open(path, os.O_RDWR)
    os.ftruncate(fd, 0)
    os.pwrite(fd, text, 0)
    assert outcome(os.fsync, fd) == wanted
    os.ftruncate(fd, 0)
    os.pwrite(fd, old, 0)
    os.fsync(fd)
    os.close(fd)
    os.unlink(temporary)
# Names that it tries, to see whether they are there.
assert not os.path.exists(os.path.join(folder, "Bone010.csv"))
os.unlink(lockfile)
os.close(kept)
PYTHON
}

by_saving() { by_calc "$NEW" 0; }
edits saved by_saving

sed s/1.5,-2/1..5,-2/ "$OLD" >"$WORK/bad.csv"
by_saving_badly() { by_calc "$WORK/bad.csv" EBADMSG; }
leaves refused by_saving_badly Bone01.csv.rejected Bone01.csv.error
ok "refused: the text is kept" cmp "$F.rejected" "$WORK/bad.csv"
like "refused: and the reason" "$(<"$F.error")" 'Bone01\.csv:2:5: '
