#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# own_text.sh - saving a view's own text, in any way, leaves the binary unchanged: the same bytes, inode and
# times; and leaves nothing beside the view.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/{wiki512,odd512,nan512,edf6_768}.canm "$SRC"
make_game --files 2 --clips 1 --bones 8 --frames 6 --version mix --plain 0
mapfile -t files < <(cd "$SRC" && find . -name '*.canm' -printf '%P\n')
mount_stopped

by_cat() { cat "$2" >"$1"; }
by_cp() { cp "$2" "$1"; }
by_dd() { dd if="$2" of="$1" conv=notrunc status=none; }
by_mv() { cp "$2" "$1.new~" && mv "$1.new~" "$1"; }
by_rm() { rm "$1" && cp "$2" "$1"; }

stamp() { stat -c '%i %s %y %z' "$SRC/$1" && md5sum <"$SRC/$1"; }

for file in "${files[@]}"; do
	mapfile -t views < <(cd "$MNT/$file" && find . -type f -printf '%P\n')
	names=$(cd "$MNT/$file" && find . | sort)
	for way in by_cat by_cp by_dd by_mv by_rm; do
		failed=
		before=$(stamp "$file")
		for view in "${views[@]}"; do
			cat "$MNT/$file/$view" >"$WORK/text"
			"$way" "$MNT/$file/$view" "$WORK/text" || failed+=" $view"
			cmp -s "$MNT/$file/$view" "$WORK/text" || failed+=" $view(text)"
		done
		is "$file: every view saves its own text $way" "$failed" ""
		is "$file: and the binary stays $way" "$(stamp "$file")" "$before"
	done
	is "$file: the names are the same" "$(cd "$MNT/$file" && find . | sort)" "$names"
done

# Everything at once, as people move folders about.
cp -r "$MNT" "$WORK/out"
contents() { (cd "$SRC" && stat -c '%i %s' "${files[@]}" && md5sum "${files[@]}"); }
before=$(contents)
ok "a whole tree copied out and back" cp -r "$WORK/out/." "$MNT"
ok "by rsync" rsync -rI "$WORK/out/" "$MNT"
ok "by rsync with all attributes" rsync -aI "$WORK/out/" "$MNT"
ok "by tar" sh -c "tar -C '$WORK/out' -c . | tar -C '$MNT' -x"
is "changes nothing" "$(contents)" "$before"
is "and nothing was refused" "$(<"$MNT/.animfs/errors")" ""
umount_animfs

# The end of a new grid is what its key says as text: a value that nobody typed lay between two floats.
end_of_grid()
{
	local bone=$SRC/nan512.canm/n/bones/b.csv rest=,nan,inf,0 text
	local head=frame,time,tx,ty,tz,rx,ry,rz,sx,sy,sz
	printf '%s\n' $head "0,0,nan,inf,0,-0.062075584127379901,0.020678834794937373,-0.62124281660492064$rest" \
		1,,,,,-5.3654976820591553,-9.2285679497258677,-9.36179062620964,,, |
		"$ANIMFS" put "$bone" || return
	text=$(printf '%s\n' $head "0,0,nan,inf,0,-0.062075564,0.02067899,-0.6212426$rest" \
		1,0.016667,,,,0.31370064377285045,-0.0026661617735050935,-0.0987272586220871,,,)
	"$ANIMFS" put "$bone" <<<"$text" && cp "$SRC/nan512.canm" "$WORK/once" &&
		"$ANIMFS" put "$bone" <<<"$text" && cmp "$SRC/nan512.canm" "$WORK/once"
}
ok "a text that was saved says nothing new the second time" end_of_grid
