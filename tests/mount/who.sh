#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# who.sh - .animfs/status shows the programs that have something open for writing, by process, user and
# command.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
F=$MNT/wiki512.canm/walk/bones/Bone01.csv
J=$MNT/wiki512.canm/walk/clip.json
SELF="$$ $(id -u) $(</proc/$$/comm)"

programs() { sed -n 's/^program //p' "$MNT/.animfs/status"; }
none() { [ -z "$(programs)" ]; }
# writer OPEN SHOW: opens the view as OPEN says in Python, and prints the programs once SHOW is done
cat >"$WORK/writer.py" <<'PYTHON'
import mmap, os, sys, threading

mount, path, how = sys.argv[1:4]

def programs():
    with open(mount + "/.animfs/status") as status:
        print(*sorted(line[8:].rstrip("\n") for line in status if line.startswith("program ")), sep=";")

def in_thread():
    global fd
    assert threading.get_native_id() != os.getpid()
    fd = os.open(path, os.O_RDWR)

if how == "plain":
    fd = os.open(path, os.O_RDWR)
elif how == "thread":
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
elif how == "mapping":
    fd = os.open(path, os.O_RDWR)
    pages = mmap.mmap(fd, 0)
    os.close(fd)
    pages[0:1] = pages[0:1]
elif how == "child":
    fd = os.open(path, os.O_RDWR)
    if os.fork() == 0:
        os.write(fd, os.pread(fd, 10, 0))
        os.close(fd)
        programs()
        os._exit(0)
    os.wait()
    sys.exit()
programs()
PYTHON
writer() { python3 "$WORK/writer.py" "$MNT" "$F" "$1"; }
# The same, behind its own number.
writer_and_pid() { sh -c 'echo $$; exec python3 "$@"' sh "$WORK/writer.py" "$MNT" "$F" "$1"; }

mount_animfs
ok "nobody writes" none
exec 5<"$F"
ok "who reads is not shown" none
exec 5>>"$F"
is "a program with a view open for writing is" "$(programs)" "$SELF"
exec 6>>"$J"
is "once" "$(programs)" "$SELF"
exec 5>&- 6>&-
ok "and no more when it was closed" wait_for 10 none
exec 5>"$MNT/note"
is "a plain file counts, too" "$(programs)" "$SELF"
exec 5>&-
ok "until it was closed" wait_for 10 none
rm "$MNT/note"

for how in plain thread mapping; do
	mapfile -t got < <(writer_and_pid $how)
	is "$how: the process" "${got[1]}" "${got[0]} $(id -u) python3"
	ok "$how: ends" wait_for 10 none
done
mapfile -t got < <(writer_and_pid child)
is "what a child writes is its opener's" "${got[1]}" "${got[0]} $(id -u) python3"
ok "until both have ended" wait_for 10 none

text=$(<"$F")
{ head -c 9 <<<"$text"; programs >"$WORK/programs"; tail -c +10 <<<"$text"; } >"$F"
is "{ a; b; } > F is the shell's" "$(<"$WORK/programs")" "$SELF"
is "and saved" "$(<"$F")" "$text"
exec 5<"$F" # what is seen there stays
ok "a text that is settled is nobody's" wait_for 10 none
exec 5<&-

cp "$F" "$WORK/copy"
cat >"$WORK/rename.py" <<'PYTHON'
import os, sys
print(os.getpid())
os.rename(sys.argv[1], sys.argv[2])
sys.stdout.write("".join(line[8:] for line in open(sys.argv[3]) if line.startswith("program ")))
PYTHON
cp "$WORK/copy" "$F.new"
wait_for 10 none # close() does not wait until the mount knows of it
mapfile -t got < <(python3 "$WORK/rename.py" "$F.new" "$F" "$MNT/.animfs/status")
is "a rename is its caller's" "${got[1]:-}" "${got[0]} $(id -u) python3"
ok "who has ended is not shown" wait_for 10 none

# exec: the same process is another program from then on.
mapfile -t got < <(bash -c 'echo $$; exec 5>>"$1"; shift; exec python3 "$@"' bash "$J" "$WORK/writer.py" "$MNT" "$F" plain)
is "exec makes it two" "${got[1]}" "${got[0]} $(id -u) bash;${got[0]} $(id -u) python3"
mapfile -t got < <(bash -c 'echo $$; true; python3 "$@"' bash "$WORK/writer.py" "$MNT" "$F" plain)
is "and so the last command of bash -c" "${got[1]}" "${got[0]} $(id -u) python3"

# Names are any bytes, and a line stays a line.
cat >"$WORK/named.py" <<'PYTHON'
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b"a) (b\nc\td", 0, 0, 0)
fd = os.open(sys.argv[1], os.O_RDWR)
print(os.getpid())
sys.stdout.write("".join(line[8:] for line in open(sys.argv[2]) if line.startswith("program ")))
PYTHON
mapfile -t got < <(python3 "$WORK/named.py" "$F" "$MNT/.animfs/status")
is "a strange name" "${got[1]}" "${got[0]} $(id -u) a) (b?c?d"
umount_animfs

# ---- PID namespaces ----

if [ "$(id -u)" -ne 0 ] || ! unshare -p -f true 2>/dev/null; then
	skip "no PID namespaces can be made here"
	exit
fi
mount_animfs
cat >"$WORK/inner.sh" <<'EOF2'
exec 5>>"$1"
echo $$
sed -n 's/^program //p' "$2/.animfs/status" | while read -r pid uid name; do
	echo "$(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status") $uid $name"
done
EOF2
mapfile -t got < <(unshare -p -f bash "$WORK/inner.sh" "$F" "$MNT")
is "a program in a namespace below has its number in ours" "${got[1]}" "${got[0]} 0 bash"
umount_animfs

# The daemon in one below: it sees nobody out here. Where its /proc is ours, the number of a program
# beside it is another's there.
export OUTER_PID=$$ PROGRAM=$ANIMFS
cat >"$WORK/below" <<'EOF2'
#!/bin/bash
exec unshare -p -f --kill-child bash "$WORK/inside.sh" "$@"
EOF2
# Whatever else starts meanwhile, a thread of the daemon say, may have the number before.
cat >"$WORK/inside.sh" <<'EOF2'
"$PROGRAM" "$@" &
until [ -e "$MNT/.animfs/status" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
until echo $((OUTER_PID - 1)) >/proc/sys/kernel/ns_last_pid && bash "$WORK/beside.sh"; do sleep 0.05; done
wait $!
EOF2
cat >"$WORK/beside.sh" <<'EOF2'
[ $$ -eq "$OUTER_PID" ] || exit
exec 5>>"$MNT/wiki512.canm/walk/clip.json"
echo $$ >"$WORK/beside.pid"
sed -n 's/^program //p' "$MNT/.animfs/status" >"$WORK/beside"
EOF2
chmod +x "$WORK/below"
export MNT WORK
for option in rw unconfined; do
	rm -f "$WORK/beside"
	ANIMFS=$WORK/below mount_animfs -o $option
	ok "$option: a program beside the daemon ends" wait_for 10 test -s "$WORK/beside"
	is "$option: its number is ours out here" "$(<"$WORK/beside.pid")" "$$"
	if [ $option = rw ] && ! grep -q '^confined.*tree' "$MNT/.animfs/status"; then
		skip "the daemon has no /proc of its own"
	elif [ $option = rw ]; then
		is "$option: it is known" "$(<"$WORK/beside")" "$$ 0 bash"
	else
		is "$option: it is not taken for ours" "$(<"$WORK/beside")" "0 0 -"
	fi
	ok "$option: it has closed it" wait_for 10 none
	exec 5>>"$F"
	is "$option: who is not seen is one of the user's" "$(programs)" "0 0 -"
	exec 5>&-
	umount_animfs
done

# ---- users ----

mount_animfs -o allow_other
exec 5>>"$F"
ok "where others are let in, nobody is shown" none
exec 5>&-
umount_animfs

. "$(dirname "$0")/user.bash"
needs_fusermount
chown -R $USER_ID:$USER_ID "$SRC" "$MNT"
chmod -R a+rX "$WORK"
ok "an ordinary user mounts" as_user "$USER_ANIMFS" "$SRC" "$MNT"
mapfile -t got < <(as_user sh -c 'echo $$; exec python3 "$@"' sh "$WORK/writer.py" "$MNT" "$F" plain)
is "and sees who writes" "${got[1]}" "${got[0]} $USER_ID python3"
ok "unmounts" as_user "$USER_ANIMFS" umount "$MNT"
