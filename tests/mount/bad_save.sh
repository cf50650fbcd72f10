#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bad_save.sh - a text that cannot be saved: the program gets EBADMSG, binary and view are unchanged,
# .rejected has the text and .error the reason.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_stopped

sed 2s/5.729578/12..5/ "$OLD" >"$WORK/bad.csv"
cat >"$WORK/wanted.error" <<'EOF'
FILE/walk/bones/Bone01.csv:2:22: ry: "12..5" is not a number
  0,0,1.5,-2,0.25,-180,12..5,11.460703,1,1,1
                       ^
cell G2, column ry
accepted here: a decimal number such as 12.5 (degrees), or nothing where there is no key
the binary is unchanged; the text as you saved it is in Bone01.csv.rejected
EOF

# refused NAME ERRNO FUNCTION: the FUNCTION saves $WORK/bad.csv as $F and prints the errno
refused()
{
	local name=$1
	cp "$SAMPLE" "$SRC/$name.canm"
	F=$MNT/$name.canm/$BONE
	is "$name: errno" "$("$3")" "$2"
	ok "$name: the binary stays" cmp "$SRC/$name.canm" "$SAMPLE"
	ok "$name: the text is kept" wait_for 3 cmp -s "$F.rejected" "$WORK/bad.csv"
	ok "$name: with the reason" diff <(sed "s/FILE/$name.canm/" "$WORK/wanted.error") "$F.error"
	ok "$name: what is read at once" wait_for 1 cmp -s "$F" "$OLD"
	is "$name: and its size" "$(stat -c %s "$F")" "$(stat -c %s "$OLD")"
}

by_close() { save_errno close "$F" "$(<"$WORK/bad.csv")"$'\n'; }
by_fsync() { save_errno fsync "$F" "$(<"$WORK/bad.csv")"$'\n'; }
by_rename() { save_errno rename "$F" "$(<"$WORK/bad.csv")"$'\n'; }
# A child, which inherits the file and ends, flushes it first; then the opener closes it, twice over.
by_opener()
{
	python3 - "$F" "$WORK/bad.csv" <<'PYTHON'
import errno, os, sys

name, new = sys.argv[1:]
fd = os.open(name, os.O_WRONLY | os.O_TRUNC)
with open(new, "rb") as f:
    os.write(fd, f.read())
for _ in range(2):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
again = os.dup(fd)
said = []
for each in again, fd:
    try:
        os.close(each)
        said.append("0")
    except OSError as e:
        said.append(errno.errorcode[e.errno])
print(*said)
PYTHON
}
refused closed EBADMSG by_close
refused inherited "EBADMSG 0" by_opener
is "inherited: it is kept once" "$(ls -a "${F%/*}" | grep -c '\.rejected')" 1
refused synced EBADMSG by_fsync
refused renamed EBADMSG by_rename
ok "renamed: the program still has its file" cmp "$F.new~" "$WORK/bad.csv"

by_mapping()
{
	python3 - "$F" "$WORK/bad.csv" "$1" <<'PYTHON'
import errno, mmap, os, sys
path, bad, flush = sys.argv[1:]
text = open(bad, "rb").read()
fd = os.open(path, os.O_RDWR)
os.ftruncate(fd, len(text))
m = mmap.mmap(fd, len(text))
m[:] = text
try:
    if flush == "flush":
        m.flush()
    print(0)
except OSError as error:
    print(errno.errorcode[error.errno])
PYTHON
}
by_msync() { by_mapping flush; }
by_exit() { by_mapping no; }
refused msync EBADMSG by_msync
refused mapped 0 by_exit

by_builtin() { echo "$(<"$WORK/bad.csv")" 2>/dev/null >"$F"; echo 0; }
by_subshells() { { head -c 90 "$WORK/bad.csv"; tail -c +91 "$WORK/bad.csv"; } 2>/dev/null >"$F"; echo 0; }
refused builtin 0 by_builtin
refused subshells 0 by_subshells

for program in 'cp' 'tee' 'dd' 'rsync' 'sed' 'mv' 'ed' 'install'; do
	cp "$SAMPLE" "$SRC/p.canm"
	F=$MNT/p.canm/$BONE
	case $program in
	cp) fails "cp says so" cp "$WORK/bad.csv" "$F" ;;
	tee) fails "tee says so" tee "$F" <"$WORK/bad.csv" ;;
	dd) fails "dd says so" dd if="$WORK/bad.csv" of="$F" ;;
	rsync) fails "rsync says so" rsync -I "$WORK/bad.csv" "$F" ;;
	sed) fails "sed says so" sed -i 2s/5.729578/12..5/ "$F" ;;
	mv) cp "$WORK/bad.csv" "$F.new" && fails "mv says so" mv "$F.new" "$F" ;;
	ed) fails "ed says so" ed -s "$F" <<<$'2s/5.729578/12..5/\nw\nq' ;;
	install) fails "install says so" install "$WORK/bad.csv" "$F" ;;
	esac
	ok "$program: the view is back" after 2000 cmp -s "$F" "$OLD"
	ok "$program: the binary" cmp "$SRC/p.canm" "$SAMPLE"
	ok "$program: the text" cmp "$F.rejected" "$WORK/bad.csv"
	rm "$F.rejected" "$F.error"
done

# What is generated cannot be edited; the reason says what can.
F=$MNT/closed.canm/walk/frames/frame_00000.x3d
fails "a still cannot be edited" sed -i s/Viewpoint/Viewpoints/ "$F"
like "and the error says what can" "$(<"$F.error")" 'bones/\*\.csv'
rm "$F.error" "$F.rejected"

advance 2500
is "nothing of all that changed a view" \
	"$(for f in "$MNT"/*.canm/"$BONE"; do cmp "$f" "$OLD"; done)" ""
umount_animfs
