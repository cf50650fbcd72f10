#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# doors.sh - root's mount for all users: a request acts on the file that was checked, even if others
# exchange it meanwhile; and new files belong to the caller.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/user.bash"
has_faults || exit 0
cp tests/data/canm/wiki512.canm "$SRC/a.canm"
chown "$USER_ID:$USER_ID" "$SRC/a.canm"
chmod 600 "$SRC/a.canm"
touch -d 2001-02-03 "$SRC/a.canm"
chmod 755 "$SRC"
mkdir -m 777 "$SRC/team"
LD_PRELOAD=$FAULTS FAULT=$WORK/fault mount_animfs -o allow_other,unconfined
BONE=$MNT/a.canm/walk/bones/hip.csv

secret() { as_other sh -c "umask 077; echo secret >'$SRC/team/secret'"; }

# owned HOW NTH COMMAND...: it makes $MNT/team/x, and is held at its NTH open in the folder; then the
# other's secret takes that name, where it exists by then
owned()
{
	local how=$1 nth=$2 maker
	shift 2
	secret
	echo "open hold $SRC/team $nth" >"$WORK/fault"
	as_user "$@" 2>/dev/null &
	maker=$!
	wait_for 5 eval "[ -e '$WORK/fault.held' ] || ! kill -0 $maker 2>/dev/null"
	[ ! -e "$SRC/team/x" ] || mv -f -T "$SRC/team/secret" "$SRC/team/x"
	rm -f "$WORK/fault"
	wait "$maker"
	rm -f "$WORK/fault.held"
	is "$how, open $nth: a file of another stays his" \
		"$(find "$SRC/team" -type f -user "$USER_ID" -exec grep -l secret {} +)" ""
	rm -rf "$SRC"/team/*
}
for nth in 1 2 3; do
	owned create $nth sh -c "echo mine >'$MNT/team/x'"
	owned mknod $nth python3 -c "import os; os.mknod('$MNT/team/x')"
	owned fifo $nth mkfifo "$MNT/team/x"
	owned symlink $nth ln -s nowhere "$MNT/team/x"
done

# What is made is his, all the same.
as_user sh -c "cd '$MNT/team' && echo mine >file && mkfifo fifo && ln -s nowhere link && mkdir folder && python3 -c 'import os; os.mknod(\"node\")'"
is "what he makes is his" "$(find "$SRC/team" -mindepth 1 -user "$USER_ID" -group "$USER_ID" | wc -l)" 5
rm -rf "$SRC"/team/*

for nth in 1 2 3; do
	secret
	as_user sh -c "sed 's/^0,0,[^,]*/0,0,0.$nth/' '$BONE' >'$MNT/team/t'"
	echo "open hold $SRC/team $nth" >"$WORK/fault"
	as_user mv -f "$MNT/team/t" "$BONE" 2>/dev/null &
	mover=$!
	wait_for 5 eval "[ -e '$WORK/fault.held' ] || ! kill -0 $mover 2>/dev/null"
	[ ! -e "$SRC/team/t" ] || as_user mv -f "$SRC/team/secret" "$SRC/team/t"
	rm -f "$WORK/fault"
	wait "$mover"
	rm -f "$WORK/fault.held"
	is "rename, open $nth: a text of another is not read for him" "$(grep -rl secret "$SRC/.animfs" 2>/dev/null)" ""
	rm -rf "$SRC"/team/* "$SRC/.animfs/rejected"
done

# The backup that vim and emacs make.
before=$(as_user stat -c '%u:%g %a %Y' "$BONE")
ok "a view is moved away" as_user mv "$BONE" "$BONE~"
is "it has the view's owner, mode and time" "$(as_user stat -c '%u:%g %a %Y' "$BONE~")" "$before"
is "so it has on disk" "$(find "$SRC/.animfs" -name 'hip.csv~' -exec stat -c '%u:%g %a %Y' {} +)" "$before"
like "and its owner can read it" "$(as_user cat "$BONE~")" '^frame,'
fails "nobody else can" as_other cat "$BONE~"
ok "a link of a view is a copy" as_user ln "${BONE%/*}/Bone01.csv" "${BONE%/*}/copy"
is "which is his, too" "$(find "$SRC/.animfs" -name copy -exec stat -c '%u:%g %a' {} +)" "${before% *}"
umount_animfs
