# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# A folder that is filled ends with the program that made it and all in it: then it is a clip at
# once. Whoever comes right after that program finds a folder that he can remove, move, list and
# write into, as on any filesystem, whether it is a clip already or not; also while others work.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC"
cp tests/data/canm/wiki512.canm "$SRC/other.canm"
mount_stopped
TOP=$MNT/wiki512.canm
RUNS=${RUNS:-30}

cp -r "$TOP/walk" "$WORK/walk"
cp -r "$TOP" "$WORK/file.canm"
has() { "$ANIMFS" ls "$SRC/wiki512.canm" | grep -qx "$1/"; }
has_not() { ! has "$1"; }

cp -r "$WORK/walk" "$TOP/one"
ok "what one program made is a clip when it has ended" after 0 has one
mkdir "$TOP/two" && cp -r "$WORK/walk/." "$TOP/two"
ok "what two made is none" after 1999 has_not two
ok "before 2 s" after 1 has two
copying "$WORK/walk" "$TOP/seen" ls "$TOP/seen" >/dev/null
ok "nor is what another has looked at as it was" after 1999 has_not seen
ok "which then is one, too" after 1 has seen
ok "and the copy of a file, too" cp -r "$WORK/file.canm" "$MNT/early.canm"
ok "is a file at once" after 0 test -f "$SRC/early.canm"
ok "is the same" cmp "$SRC/early.canm" tests/data/canm/wiki512.canm
ok "they are removed" rm -r "$TOP/one" "$TOP/two" "$TOP/seen" "$MNT/early.canm"
ok "for good" after 2000 has_not seen

# What a program's end makes due is done at once, whatever the clock says: it is what all these race with.
# The clock stands: 2 s pass only between two runs.
tag=
# errors FUNCTION: how many of its runs fail or say something
errors()
{
	local wrong=0 said
	for ((i = 0; i < RUNS; i++)); do
		n=$1$tag$i
		said=$("$@" 2>&1) && [ -z "$said" ] || { wrong=$((wrong + 1)); echo "$* $i: $said" >>"$WORK/wrong"; }
		advance 2000
	done
	echo $wrong
}

removed() { cp -r "$WORK/walk" "$TOP/$n" && rm -r "${TOP:?}/$n" && ! ls "$TOP/$n" 2>/dev/null; }
moved() { cp -r "$WORK/walk" "$TOP/$n" && mv "$TOP/$n" "$TOP/$n.2" && ! ls "$TOP/$n" 2>/dev/null && [ "$(tail -n +2 "$TOP/$n.2/curves.csv")" = "$(tail -n +2 "$WORK/walk/curves.csv")" ] && rm -r "${TOP:?}/$n.2"; }
listed() { cp -r "$WORK/walk" "$TOP/$n" && diff <(cd "$TOP/$n" && find . | sort) "$WORK/names" && cmp "$TOP/$n/curves.csv" "$WORK/walk/curves.csv" && rm -r "${TOP:?}/$n"; }
# The clip of that name, so that its clip.json renames nothing.
copied_again()
{
	sed "s/\"walk\"/\"$n\"/g" "$WORK/walk/clip.json" >"$WORK/again/clip.json"
	cp -r "$WORK/walk" "$TOP/$n" && cp -r "$WORK/again/." "$TOP/$n" && cmp "$TOP/$n/curves.csv" "$WORK/walk/curves.csv" && rm -r "${TOP:?}/$n"
}
file_removed() { cp -r "$WORK/file.canm" "$MNT/$n.canm" && rm -r "$MNT/$n.canm" && ! ls "$MNT/$n.canm" 2>/dev/null; }
file_moved() { cp -r "$WORK/file.canm" "$MNT/$n.canm" && mv "$MNT/$n.canm" "$MNT/2.$n.canm" && ! ls "$MNT/$n.canm" 2>/dev/null && rm -r "$MNT/2.$n.canm"; }
cp -r "$WORK/walk" "$WORK/again"
(cd "$WORK/walk" && find . | sort) >"$WORK/names"

for what in removed moved listed copied_again file_removed file_moved; do
	is "$what right after it was made, $RUNS times: no error" "$(errors $what)" 0
done

# The same while others read and save, and the processors are busy.
(while :; do cat "$MNT/other.canm/walk/"*.csv >/dev/null; cp "$WORK/walk/bones/Bone01.csv" "$MNT/other.canm/walk/bones/"; done) 2>/dev/null &
reader=$!
(while :; do :; done) &
busy=$!
tag=_load
for what in removed moved listed copied_again file_removed; do
	is "$what under load, $RUNS times: no error" "$(errors $what)" 0
done
kill $reader $busy
wait $reader $busy 2>/dev/null
[ ! -e "$WORK/wrong" ] || head -n 20 "$WORK/wrong" | sed 's/^/    # /'
own_clips() { [ "$("$ANIMFS" ls tests/data/canm/wiki512.canm)" = "$("$ANIMFS" ls "$SRC/wiki512.canm")" ]; }
ok "the file has its own clips" after 2000 own_clips
ok "which say what they said" same_file <("$ANIMFS" cat "$SRC/wiki512.canm/walk/curves.csv") "$WORK/walk/curves.csv"
is "and nothing was refused" "$(cat "$MNT/.animfs/errors"; find "$SRC/.animfs/rejected" -type f 2>/dev/null)" ""
