#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# empty_root.sh - the commands of a program without shared libraries (make static), in a root that has
# only it and a game: no library, no /dev, no /proc, no locale, no users.
# shellcheck source-path=SCRIPTDIR/../..
. tests/mount/lib.sh

unshare --user --map-root-user true 2>/dev/null || [ "$(id -u)" -eq 0 ] || skip_all "no user namespaces"
is "it needs no library" "$(readelf -d "$ANIMFS" | grep -c NEEDED)" 0
is "and no loader" "$(readelf -l "$ANIMFS" | grep -c INTERP)" 0

root=$WORK/root
mkdir -p "$root/game"
cp "$ANIMFS" "$root/animfs"
cp tests/data/canm/wiki512.canm tests/data/owanim/small.006 tests/data/cpk/nested.cpk tests/data/zip/mod.zip \
	"$root/game"
cp tests/data/canm/wiki512.canm "$root/game/攻.canm"
# run COMMAND...: OUT and STATUS of animfs there
run()
{
	if [ "$(id -u)" -eq 0 ]; then
		OUT=$(chroot "$root" /animfs "$@" 2>&1)
	else
		OUT=$(unshare --user --map-root-user chroot "$root" /animfs "$@" 2>&1)
	fi
	STATUS=$?
}

run --version
like "it runs" "$STATUS $OUT" '^0 animfs [0-9.]+'
for command in ls cat put check lint diff clip convert export import status bug-report; do
	run "$command" --help
	like "help of $command" "$STATUS $OUT" '^0 Usage: animfs '
done
run check game
like "check" "$STATUS $OUT" '^0 .*checked, 0 failed'
run cat game/wiki512.canm/walk/bones/hip.csv
is "cat" "$STATUS $OUT" "0 $("$ANIMFS" cat tests/data/canm/wiki512.canm/walk/bones/hip.csv)"
run ls game/攻.canm
like "names in UTF-8, without a locale" "$STATUS $OUT" '攻撃_01'
"$ANIMFS" cat tests/data/canm/wiki512.canm/walk/bones/hip.csv | sed 's/,0.5000076,/,0.75,/' >"$root/new.csv"
run put game/wiki512.canm/walk/bones/hip.csv new.csv
is "put" "$STATUS $OUT" "0 "
run cat game/wiki512.canm/walk/bones/hip.csv
like "is saved" "$OUT" ',0\.7499962,'
run undo game/wiki512.canm
is "undo: status" "$STATUS" 0
ok "undo" cmp "$root/game/wiki512.canm" tests/data/canm/wiki512.canm
run convert --lossy game/small.006 game/small.canm
is "convert: status" "$STATUS" 0
run diff game/small.006 game/small.canm
is "and diff" "$STATUS $OUT" "0 "
run export game texts
like "export" "$STATUS $OUT" '^0 '
run import texts game
like "import" "$STATUS $OUT" '^0 .*0 rejected'
run ls game/nested.cpk
is "an archive" "$STATUS" 0
run ls game/mod.zip
is "a ZIP archive is none: status" "$STATUS" 2
run --version --verbose
like "as its list of archives says" "$OUT" $'\narchives cpk rab\n'
run game mnt
is "a mount is refused: status" "$STATUS" 2
