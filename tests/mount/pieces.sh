#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pieces.sh - a text that arrives in pieces, each of which is flushed, synced or closed, stores what
# one write of it stores, in every format: own text leaves the file as it was, to the byte.
. "$(dirname "$0")/lib.sh"
samples=(canm/odd512.canm canm/edf6_768.canm cas/v200.cas owanim/oddrot.006 owanim/sparse.006
	owanim/framelayout.006 ff9clip/odd.anim ff9clip/walk_json6.anim ff9anim/frames008_nolow.ff9anim ff9anim/padnibble.ff9anim
	ribbon/duplicate.anm ribbon/frames030.anm ribbon/unsorted.anm kanim/stick.kanim)
for sample in "${samples[@]}"; do cp "tests/data/$sample" "$SRC"; done
mount_stopped

# sync_twice FILE FIRST SECOND: both texts on one handle, each with an fsync; a refusal of the first
# is no matter.
sync_twice()
{
	python3 - "$@" <<'PYTHON'
import os, sys

path, first, second = sys.argv[1:]
fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
for name in (first, second):
    os.ftruncate(fd, 0)
    os.pwrite(fd, open(name, "rb").read(), 0)
    try:
        os.fsync(fd)
    except OSError as error:
        if name == second:
            sys.exit(str(error))
os.close(fd)
PYTHON
}

# A text that is saved twice stays the text of those who write to it: a write in place changes it,
# and not what the view would be rendered as. FILE is a clip.json.
patch_after_two_saves()
{
	python3 - "$1" <<'PYTHON'
import json, os, sys

path = sys.argv[1]
kept = ("format", "name", "loop", "frames")
values = {name: value for name, value in json.load(open(path)).items() if name in kept}
text = json.dumps(dict(values, loop=False), indent=8).encode()
fd = os.open(path, os.O_RDWR | os.O_TRUNC)
for _ in range(2):
    os.pwrite(fd, text, 0)
    os.fsync(fd)
assert os.pread(fd, len(text) + 1, 0) == text, "the text is another after the second save"
at = text.index(b"false")
os.pwrite(fd, b"true ", at)
want = text[:at] + b"true " + text[at + 5 :]
assert os.pread(fd, len(want) + 1, 0) == want, "the write went to another text"
os.fsync(fd)
os.close(fd)
assert json.load(open(path))["loop"] is True, "the write is not saved"
PYTHON
}

# The middle of the text, at the end of a line.
cut() { head -n "$((($(wc -l <"$OWN") + 1) / 2))" "$OWN" | wc -c; }

unchanged() { cmp "$SRC/$NAME" "tests/data/$sample"; }

two_flushes()
{
	{
		head -n 2 "$OWN"
		tail -n +3 "$OWN"
	} >"$1"
}

three_flushes()
{
	{
		head -n 1 "$OWN"
		head -c "$(cut)" "$OWN" | tail -n +2
		tail -c +"$(($(cut) + 1))" "$OWN"
	} >"$1"
}

# A shell opens the view for each row.
by_rows()
{
	local row
	: >"$1"
	while IFS= read -r row; do
		printf '%s\n' "$row" >>"$1" || true
	done <"$OWN" 2>"$WORK/said"
}

try_view()
{
	local view=$1
	cat "$view" >"$OWN"
	two_flushes "$view" 2>"$WORK/said"
	ok "$2 in two flushes" unchanged
	three_flushes "$view" 2>"$WORK/said"
	ok "$2 in three flushes" unchanged
	head -c "$(cut)" "$OWN" >"$WORK/half"
	ok "$2: half of it and all of it, with two fsyncs" sync_twice "$view" "$WORK/half" "$OWN"
	ok "$2 in two fsyncs" unchanged
	sed '3s/[1-8]$/0/' "$OWN" >"$WORK/other"
	ok "$2: another text and its own, with two fsyncs" sync_twice "$view" "$WORK/other" "$OWN"
	ok "$2 over another text" unchanged
	ok "$2 leaves no refusal" wait_for 4 test ! -e "$view.rejected" -a ! -e "$view.error"
	case $view in
	*/bones/*.csv | */frames.csv)
		by_rows "$view"
		ok "$2 row by row" unchanged
		rm -f "$view.rejected"* "$view.error" # each row was closed like a whole text
		;;
	esac
}

OWN=$WORK/own
for sample in "${samples[@]}"; do
	NAME=${sample##*/}
	folder=$MNT/$NAME
	case $NAME in
	*.kanim) views=("$folder.d/frames.csv") ;;
	*)
		bones=("$folder"/*/bones/*.csv)
		views=("${bones[0]}" "${bones[0]%.csv}.json" "${bones[-1]}" "$folder"/*/curves.csv
			"$folder"/*/clip.json "$folder/file.json")
		;;
	esac
	for view in "${views[@]}"; do
		try_view "$view" "${view#"$MNT"/}"
	done
done
cp tests/data/canm/wiki512.canm "$SRC"
ok "a write in place after the same text was saved twice" \
	patch_after_two_saves "$MNT/wiki512.canm/walk/clip.json"
umount_animfs
