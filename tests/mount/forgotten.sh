#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the kernel forgets is forgotten: the table of nodes shrinks, and a view's text is its own
# again, not the one that was saved.
# alone: it makes the kernel forget the files of all mounts
. "$(dirname "$0")/lib.sh"
[ -w /proc/sys/vm/drop_caches ] || skip_all "only root can make the kernel forget"
make_game --files 40 --clips 1 --bones 8 --frames 6
cp tests/data/canm/wiki512.canm "$SRC/a.canm"
mount_animfs
find "$MNT" >/dev/null

forget() { echo 2 >/proc/sys/vm/drop_caches; }
nodes() { sed -n 's/^nodes //p' "$MNT/.animfs/status"; }
few_nodes() { forget && [ "$(nodes)" -lt 50 ]; }
ok "many nodes are known" test "$(nodes)" -gt 150
ok "the table of nodes shrinks" wait_for 5 few_nodes

view=$(cd "$MNT" && ls -d a.canm/*/bones/*.csv | head -n 1)
cp "$MNT/$view" "$WORK/own"
tr , ';' <"$WORK/own" >"$WORK/saved"
cp "$WORK/saved" "$MNT/$view"
ok "a view says what was saved" cmp "$MNT/$view" "$WORK/saved"
says_its_own() { forget && cmp -s "$MNT/$view" "$WORK/own"; }
ok "and its own text once it was forgotten" wait_for 5 says_its_own

# What was given to a view is kept, for as long as there is the view.
ok "views are saved by rename" sh -c "for i in \$(seq 60); do cp '$WORK/own' '$MNT/$view.new' && mv '$MNT/$view.new' '$MNT/$view' || exit; done"
ok "which leaves no nodes" wait_for 5 few_nodes
ok "a mode" chmod 640 "$MNT/$view"
ok "the kernel forgets" wait_for 5 few_nodes
is "stays" "$(stat -c %a "$MNT/$view")" 640
for i in $(seq 20); do
	cp "$SRC/a.canm" "$SRC/$i.canm"
	chmod 640 "$MNT/$i.canm/${view#*/}"
done
ok "of many" test "$(stat -c %a "$MNT"/[0-9]*.canm/"${view#*/}" | grep -c 640)" = 20
rm "$SRC"/[0-9]*.canm
ok "it goes with the files" wait_for 5 few_nodes

# What others took away, and nobody looks for any more, is not kept until memory is short.
ls -lR "$MNT" >/dev/null
known=$(nodes)
clip=${view#*/} clip=${clip%%/*}
for i in $(seq 10); do
	"$ANIMFS" clip rename "$SRC/a.canm/$clip" "clip$i"
	clip=clip$i
	wait_for 3 test -e "$MNT/a.canm/$clip/clip.json"
	ls -lR "$MNT/a.canm" >/dev/null
done
no_more_nodes() { [ "$(nodes)" -le $((known + 5)) ]; }
ok "clips that are no more go" wait_for 5 no_more_nodes
of_file=$(find "$MNT/a.canm" | wc -l)
rm "$SRC/a.canm"
without_file() { [ "$(nodes)" -le $((known + 5 - of_file)) ]; }
ok "and files" wait_for 5 without_file
umount_animfs
