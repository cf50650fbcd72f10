#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# settle.sh - sync DIR (fsync of a folder) ends all unfinished work below it at once, and reports refused
# texts. The clock stands still: nothing ends by itself.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mkdir -p "$SRC/a/b" "$SRC/elsewhere"
cp "$SAMPLE" "$SRC/a/b"
cp "$SAMPLE" "$SRC/elsewhere"
mount_stopped
TOP=$MNT/a/b/wiki512.canm
FILE=$SRC/a/b/wiki512.canm
F=$TOP/$BONE
ELSEWHERE=$MNT/elsewhere/wiki512.canm/$BONE
status() { sed -n "s/^$1 //p" "$MNT/.animfs/status"; }
header() { { head -n 1 "$OLD"; } >"$1"; }
has_clip() { "$ANIMFS" text "$FILE" | grep -qx "clip $1"; }

# errno_of_sync DIR: prints 0, or the name of the errno
errno_of_sync()
{
	python3 - "$1" <<'PYTHON'
import errno, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
try:
    os.fsync(fd)
    print(0)
except OSError as error:
    print(errno.errorcode[error.errno])
PYTHON
}

# From each folder above and in the file.
for folder in "" /a /a/b /a/b/wiki512.canm /a/b/wiki512.canm/walk /a/b/wiki512.canm/walk/bones /a/b/wiki512.canm/Idle; do
	header "$F"
	is "${folder:-/}: half a text is pending" "$(status pending) $(find "$MNT" -name '*.error')" "1 "
	is "it is refused at sync" "$(errno_of_sync "$MNT$folder")" EBADMSG
	is "and nothing is pending" "$(status pending)" 0
	ok "the text is kept" cmp "$F.rejected" <(head -n 1 "$OLD")
	like "with the reason" "$(<"$F.error")" 'key'
	ok "the view says what it said" cmp "$F" "$OLD"
	is "once more, there is nothing to refuse" "$(errno_of_sync "$MNT$folder")" 0
	rm -f "$F.rejected" "$F.error"

	: >"$F"
	is "an empty text is pending" "$(status pending)" 1
	ok "but no error" sync "$MNT$folder"
	ok "it is not there any more" cmp "$F" "$OLD"

	rm "$F"
	fails "a view is absent" test -e "$F"
	ok "until the sync" sync "$MNT$folder"
	ok "and is back" test -e "$F"
done
ok "all that changed nothing" cmp "$FILE" "$SAMPLE"

# Only what is below the folder.
header "$F"
header "$ELSEWHERE"
is "the sync of a folder" "$(errno_of_sync "$MNT/a")" EBADMSG
is "leaves what is beside it" "$(status pending)" 1
is "which its own does not" "$(errno_of_sync "$MNT/elsewhere") $(status pending)" "EBADMSG 0"
rm -f "$F".[er]* "$ELSEWHERE".[er]*

# Somebody who has a view open for writing goes on.
ok "a text that is open is left to its writer" python3 - "$F" "$TOP" "$NEW" <<'PYTHON'
import os, subprocess, sys
view, top, new = sys.argv[1:]
text = open(new, "rb").read()
fd = os.open(view, os.O_WRONLY | os.O_TRUNC)
os.write(fd, text[:100])
subprocess.run(["sync", top], check=True)
os.write(fd, text[100:])
os.close(fd)
PYTHON
ok "and saved by him" cmp "$FILE" "$EDITED"
ok "as it was" cp "$OLD" "$F"

# Clips: removed, and made by a program that still runs.
for folder in "" /a/b /a/b/wiki512.canm; do
	cp -r "$TOP/Idle" "$WORK/idle"
	rm -r "$TOP/Idle"
	ok "${folder:-/}: a removed clip is in the file" has_clip Idle
	ok "until the sync" sync "$MNT$folder"
	fails "and then it is not" has_clip Idle
	ok "a program that fills a folder" python3 - "$WORK/idle" "$TOP/Idle" "$MNT$folder" "$ANIMFS" "$FILE" <<'PYTHON'
import os, shutil, subprocess, sys
old, new, folder, animfs, file = sys.argv[1:]
clips = lambda: subprocess.run([animfs, "text", file], capture_output=True, text=True, check=True).stdout
shutil.copytree(old, new, copy_function=shutil.copyfile)
assert "clip Idle\n" not in clips(), "at once"
fd = os.open(folder, os.O_RDONLY)
os.fsync(fd)
assert "clip Idle\n" in clips(), "after the sync"
PYTHON
	rm -r "$WORK/idle"
done

# A new file, and one that cannot become anything.
ok "a new file" python3 - "$TOP" "$MNT" "$SRC/a/new.canm" <<'PYTHON'
import os, shutil, sys
old, mount, file = sys.argv[1:]
shutil.copytree(old, os.path.join(mount, "a/new.canm"), copy_function=shutil.copyfile)
assert not os.path.isfile(file), "at once"
fd = os.open(mount, os.O_RDONLY)
os.fsync(fd)
assert os.path.isfile(file), "after the sync"
PYTHON
mkdir "$MNT/a/bad.canm"
echo nonsense >"$MNT/a/bad.canm/raw.canm"
is "what cannot become a file" "$(errno_of_sync "$MNT")" EBADMSG
rm -r "$MNT/a/bad.canm"
is "is nothing to wait for once it is removed" "$(errno_of_sync "$MNT") $(status pending)" "0 0"

# A batch: after the sync, the program's texts mean what they say.
copies()
{
	python3 - "$TOP/walk/bones" "$NEW" "$@" <<'PYTHON'
import os, sys
bones, new, *folder = sys.argv[1:]
read = lambda name: open(os.path.join(bones, name), "rb").read()
def write(name, text):
    with open(os.path.join(bones, name), "wb") as view:
        view.write(text)
old = {name: read(name) for name in ("Bone01.csv", "Bone01.json", "hip.csv")}
write("Bone01.csv", open(new, "rb").read())
if folder:
    os.fsync(os.open(folder[0], os.O_RDONLY))
write("hip.csv", old["hip.csv"])
write("Bone01.json", old["Bone01.json"])
PYTHON
}
cp "$SAMPLE" "$FILE"
advance 20000
ok "a copy with an edit" copies
ok "keeps the edit" cmp "$F" "$NEW"
ok "as before" cp "$OLD" "$F"
advance 20000
for folder in "$MNT" "$TOP"; do
	ok "the same with a sync of ${folder#"$MNT"}/ after the edit" copies "$folder"
	ok "says what the last text says" cmp "$F" "$OLD"
	advance 20000
done

# A text that was saved and settled belongs to nobody: of two that open it at once, one begins anew.
# Either may be refused, since each empties what the other has written.
ok "two open a settled text at once, again and again" python3 - "$F" "$TOP" "$NEW" "$OLD" <<'PYTHON'
import errno, os, sys, threading
view, top, *texts = sys.argv[1:]
texts = [open(name, "rb").read() for name in texts]
failed = []
folder = os.open(top, os.O_RDONLY)
for i in range(300):
    barrier = threading.Barrier(2)
    def save():
        barrier.wait()
        try:
            fd = os.open(view, os.O_WRONLY | os.O_TRUNC)
            os.write(fd, texts[i % 2])
            os.close(fd)
        except OSError as error:
            if error.errno != errno.EBADMSG:
                failed.append(error)
    threads = [threading.Thread(target=save) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if failed:
        sys.exit(f"round {i}: {failed}")
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EBADMSG:
            raise
PYTHON
umount_animfs

# What a read-only mount has is finished.
mount_animfs -o ro
ok "a read-only mount" sync "$TOP"
umount_animfs
