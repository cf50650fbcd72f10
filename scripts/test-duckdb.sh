#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-duckdb.sh - queries the long table of 1,000 clips with DuckDB: the bones that rotate by more
# than 90 degrees within 0.1 s, compared with the same computed from their CSVs; plain, compressed,
# and converted to Parquet. The commands of docs/GUIDE.md are run as they stand there.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d /var/tmp/animfs-duckdb.XXXXXX)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8

duckdb=$BUILD/npm/node_modules/@duckdb/node-api
[ -e "$duckdb" ] || npm install --silent --prefix "$BUILD/npm" @duckdb/node-api@1.5.6-r.1 >/dev/null

"$BUILD/make_game" "$work/src" --files 250 --clips 4 --bones 12 --frames 31 --version mix --plain 0
# No bone in the game rotates that fast: make some do, and others a bit too slowly.
"$BUILD/animfs" export --rotations=euler --views=csv "$work/src" "$work/texts" 2>/dev/null
for file in "$work"/texts/*/*/*_00[0-9][05]*.canm; do
	awk -F, -v OFS=, '$1 == 10 { $6 = 110 } 1' "$file/walk/bones/spine.csv" >"$work/text"
	cat "$work/text" >"$file/walk/bones/spine.csv"
	awk -F, -v OFS=, '$1 != "frame" { $6 = 60 * int($1 / 10) } 1' "$file/run/bones/hips.csv" >"$work/text"
	cat "$work/text" >"$file/run/bones/hips.csv"
done
"$BUILD/animfs" import --rotations=euler "$work/texts" "$work/src" | tail -n 1
python3 tests/tools/duckdb_turns.py "$BUILD/animfs" "$work/src" >"$work/expected"
[ -s "$work/expected" ] || { echo "not ok - no bone turns so far"; exit 1; }

# compare NAME: is the answer in $work/answer right?
compare()
{
	if ! diff <(sort "$work/expected") <(sort "$work/answer") >"$work/difference"; then
		echo "not ok - $1"
		head "$work/difference"
		exit 1
	fi
	echo "ok - $1: $(wc -l <"$work/answer") bones of 1000 clips"
}
# check NAME PATTERN COMPRESSION: asks DuckDB.
check()
{
	node tests/tools/duckdb_turns.js "$duckdb" "$work/table" "$2" "$3" >"$work/answer"
	compare "$1"
}

for how in none::none gzip:.gz:gzip zstd:.zst:zstd; do
	IFS=: read -r name suffix compression <<<"$how"
	rm -rf "$work/table"
	"$BUILD/animfs" export --layout=hive --rotations=quaternion --compress="$name" \
		"$work/src" "$work/table" 2>/dev/null
	check "part.csv$suffix" "format=*/file=*/clip=*/part.csv$suffix" "$compression"
done

# The guide's commands, in a folder with "game".
mv "$work/src" "$work/game"
mkdir "$work/bin"
ln -s "$BUILD/animfs" "$work/bin"
printf '#!/bin/sh\nexec node "%s" "%s" "$@"\n' "$PWD/tests/tools/duckdb.js" "$duckdb" >"$work/bin/duckdb"
chmod +x "$work/bin/duckdb"
awk '/^##/ { inside = $0 == "### DuckDB and Parquet" }
	inside && /^```sh$/ { code = 1; next }
	/^```$/ { code = 0 }
	code' docs/GUIDE.md >"$work/recipe"
(cd "$work" && PATH=$work/bin:$PATH bash -euo pipefail recipe >answer)
compare "the recipe of docs/GUIDE.md"
node tests/tools/duckdb_parquet.js "$duckdb" "$work/curves" "$work/curves.parquet"
