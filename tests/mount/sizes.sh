#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# sizes.sh - sizes are exact in every reply, and a text is rendered once: not for a lookup of its name, and
# not a second time for its content.
. "$(dirname "$0")/lib.sh"
make_game --files 6 --clips 4 --bones 30 --frames 12 --plain 6

texts() { sed -n 's/^texts //p' "$MNT/.animfs/status"; }
views() { find "$MNT" -name '*.csv' | wc -l; }
# Of what lists and asks in turn, as ls -lR does.
sizes() { find "$MNT" -name '*.csv' -printf '%s %p\n' | sort -k 2; }
lengths() { find "$MNT" -name '*.csv' | sort | while read -r view; do echo "$(cat "$view" | wc -c) $view"; done; }

for mode in rw ro; do
	mount_animfs --views=csv -o "$mode"
	count=$(views)
	is "$mode: names alone make no text" "$(texts)" 0
	umount_animfs

	mount_animfs --views=csv -o "$mode"
	sizes >"$WORK/sizes"
	is "$mode: a text is made once for its size" "$(texts)" "$count"
	is "$mode: which is what there is to read" "$(lengths | diff "$WORK/sizes" -)" ""
	umount_animfs

	mount_animfs --views=csv -o "$mode"
	grep -rc . "$MNT" >/dev/null
	is "$mode: and once to be searched" "$(texts)" "$count"
	sed 's/ .*//' "$WORK/sizes" >"$WORK/told"
	is "$mode: sizes are the same then" "$(sizes | sed 's/ .*//' | diff "$WORK/told" -)" ""
	umount_animfs
done

mount_animfs --views=csv
sizes >/dev/null
F=$(find "$MNT" -path '*/ranger.canm/walk/bones/hips.csv')
before=$(stat -c %s "$F")
ok "an edit" sed -i '3s/^\(1,[^,]*,[^,]*,[^,]*,[^,]*\),[^,]*/\1,0.1/' "$F"
ok "to another length" test "$before" -ne "$(stat -c %s "$F")"
is "shows in sizes at once" "$(sizes | diff - <(lengths))" ""
umount_animfs
