# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# animfs export --layout=hive: one table for each clip, in partitions. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
OUT=$WORK/out
hive() { "$ANIMFS" export --layout=hive "$@" "$SRC" "$OUT" 2>&1 | tail -n 1; }
sums() { (cd "$OUT" && find . -type f -exec md5sum {} + | sort -k 2 | md5sum); }

make_game --files 3 --clips 2 --bones 4 --frames 6 --plain 2 --skeleton 1
mkdir -p "$SRC/a=b c"
cp tests/data/canm/wiki512.canm "$SRC/a=b c/50%'{x}.canm"
cp tests/data/ribbon/duplicate.anm tests/data/kanim/stick.kanim "$SRC"
"$ANIMFS" clip copy "$SRC/a=b c/50%'{x}.canm/walk" "$SRC/a=b c/50%'{x}.canm/a%2Fb"

is "all files" "$(hive)" '5 exported, 0 failed'
table="$OUT/format=canm/file=object%2Fe0000%2Franger.canm/clip=walk/part.csv"
ok "a clip's table is its curves.csv" cmp "$table" \
	<("$ANIMFS" cat "$SRC/object/e0000/ranger.canm/walk/curves.csv")
is "with the time of its file" "$(stat -c %y "$table")" "$(stat -c %y "$SRC/object/e0000/ranger.canm")"
is "names are escaped as Hive does" "$(ls "$OUT/format=canm" | head -n 1)" 'file=a%3Db c%2F50%25%27%7Bx}.canm'
is "and once more where they were" "$(ls "$OUT/format=canm/file=a%3Db c%2F50%25%27%7Bx}.canm" | grep %)" \
	'clip=a%252Fb'
is "other formats have other partitions" "$(ls "$OUT" | paste -sd ' ')" 'format=canm format=ribbon'
is "readers see nothing but tables" "$(find "$OUT" -type f ! -name '.*' | sed 's/.*\///' | sort -u)" part.csv

before=$(sums)
is "--update has nothing to do" "$(hive -u)" '0 exported, 5 up to date, 0 failed'
hive >/dev/null
is "the same again is the same" "$(sums)" "$before"
"$ANIMFS" clip remove "$SRC/object/e0000/ranger.canm/run"
is "a file that changed is written anew" "$(hive -u)" '1 exported, 4 up to date, 0 failed'
is "as a whole" "$(ls "$OUT/format=canm/file=object%2Fe0000%2Franger.canm")" 'clip=walk'

for how in gzip:gz:gunzip zstd:zst:zstd\ -d; do
	IFS=: read -r name suffix unpack <<<"$how"
	hive --compress="$name" >/dev/null
	is "--compress=$name" "$(find "$OUT" -type f ! -name '.*' | sed 's/.*\///' | sort -u)" "part.csv.$suffix"
	if command -v "${unpack% *}" >/dev/null; then
		# shellcheck disable=SC2086
		ok "says the same" cmp <($unpack <"$table.$suffix") \
			<("$ANIMFS" cat "$SRC/object/e0000/ranger.canm/walk/curves.csv")
	else
		skip "${unpack% *} is not installed"
	fi
done
ok "parts come together" test "$(rm -rf "$OUT"; hive --shard=1/2 >/dev/null; hive --shard=2/2 >/dev/null; sums)" = \
	"$(rm -rf "$OUT"; hive >/dev/null; sums)"
mkdir -p "$SRC/$(printf '%0100d' 1)/$(printf '%0100d' 2)"
cp tests/data/canm/wiki512.canm "$SRC/$(printf '%0100d' 1)/$(printf '%0100d' 2)/$(printf '%060d' 3).canm"
rm -rf "$OUT"
said=$("$ANIMFS" export --layout=hive "$SRC" "$OUT" 2>&1)
is "a path that is too long for a partition: status 2" $? 2
like "is named" "$said" 'File name too long'
"$ANIMFS" export --layout=hive --views=csv "$SRC" "$OUT" 2>/dev/null
is "--views has no meaning: status 2" $? 2
