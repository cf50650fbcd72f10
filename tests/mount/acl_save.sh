#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# acl_save.sh - while a file with an ACL is saved, its temporary never gives the group more rights than the
# ACL does, not even if the program is killed between any two of its calls.
. "$(dirname "$0")/lib.sh"
has_faults || exit 0
BONE=walk/bones/Bone01.csv
export FAULT=$WORK/fault
mkdir "$SRC/.animfs"
cp tests/data/canm/wiki512.canm "$SRC/w.canm"
chmod 640 "$SRC/w.canm"
setfacl -m u:1001:r,g::-,o::- "$SRC/w.canm" || skip_all "$SRC has no ACLs"
"$ANIMFS" cat "$SRC/w.canm/$BONE" | sed 's/,1.5,-2,/,2.5,-2,/' >"$WORK/two.csv"
killed=0
for ((n = 1; n < 50; n++)); do
	echo "attribute kill $SRC $n" >"$FAULT"
	{ LD_PRELOAD=$FAULTS "$ANIMFS" put "$SRC/w.canm/$BONE" "$WORK/two.csv" >/dev/null 2>&1; } 2>/dev/null && break
	temporary=$(find "$SRC" -maxdepth 1 -name '.animfs-*.tmp')
	[ -n "$temporary" ] || continue
	((killed++))
	is "at call $n the group has no rights" "$(getfacl -cpnE "$temporary" | grep group:)" "group::---"
	rm "$temporary"
done
ok "it was killed at some" test "$killed" -ge 2
like "and the file has its ACL in the end" "$(getfacl -cpnE "$SRC/w.canm" | xargs)" 'user:1001:r-- group::---'

# Without such calls, on a filesystem that lacks them, the mask must not become the group's.
cp -a "$SRC/w.canm" "$WORK/before"
for ((n = 1; n <= killed + 1; n++)); do
	cp -a "$WORK/before" "$SRC/w.canm"
	echo "attribute 95 $SRC $n" >"$FAULT" # EOPNOTSUPP
	"$ANIMFS" cat "$SRC/w.canm/$BONE" | sed "s/,2.5,-2,/,3.$n,-2,/" >"$WORK/three.csv"
	ok "a save without call $n" env LD_PRELOAD="$FAULTS" "$ANIMFS" put "$SRC/w.canm/$BONE" "$WORK/three.csv"
	is "gives the group no rights" "$(getfacl -cpnE "$SRC/w.canm" | grep group:)" "group::---"
done
