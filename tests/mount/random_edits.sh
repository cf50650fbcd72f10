#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# random_edits.sh - edits through a mount, of all formats, against a model: at least $RANDOM_EDITS
# operations (1,000) in two parts, from seed $SEED (1). The smallest sequence of edits that breaks a
# law is printed with its seed, which repeats it.
. "$(dirname "$0")/lib.sh"
# Nothing of this needs to last.
[ "$(id -u)" -ne 0 ] || mount -t tmpfs none "$SRC" 2>/dev/null
mount_animfs --rotations=stored
SEED=${SEED:-1}
parts=2
each=$((${RANDOM_EDITS:-1000} / parts + 1))
pids=()
for ((i = 0; i < parts; i++)); do
	mkdir "$SRC/part$i"
	python3 "$(dirname "$0")/../editors/random_edits.py" "$ANIMFS" "$SRC/part$i" "$MNT/part$i" \
		"$each" $((SEED + i)) >"$WORK/part$i" 2>&1 &
	pids+=($!)
done
for ((i = 0; i < parts; i++)); do
	if wait "${pids[i]}"; then
		pass "no law is broken by $each operations"
		sed 's/^/#   /' "$WORK/part$i"
	else
		not_ok "no law is broken by $each operations" "$(<"$WORK/part$i")"
	fi
done
umount_animfs
umount "$SRC" 2>/dev/null || true
