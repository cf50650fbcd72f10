# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# --shard of export, import and check, by processes that work at the same time, as several machines
# would; one of them is killed. Nothing is mounted here. `make test-slurm` does the same on a cluster.
. "$(dirname "$0")/lib.sh"
OUT=$WORK/out
PARTS=4

# Every file with its bytes, and every text with its time.
all_of()
{
	(cd "$1" && find . -type f -exec md5sum {} + | sort -k 2 &&
		find . -type f ! -name .animfs-export -printf '%p %T@\n' | sort)
}
same_tree() { diff <(all_of "$1") <(all_of "$2"); }

# in_parts COMMAND ARGUMENT...: all parts at once; each one's words in $WORK/said.I, STATUSES of all.
in_parts()
{
	local command=$1 part pids=()
	shift
	for ((part = 1; part <= PARTS; part++)); do
		"$ANIMFS" "$command" -j1 --shard=$part/$PARTS "$@" >"$WORK/said.$part" 2>"$WORK/err.$part" &
		pids+=($!)
	done
	STATUSES=
	for part in "${pids[@]}"; do
		wait "$part"
		STATUSES+="$? "
	done
}

make_game --files 16 --clips 2 --bones 5 --frames 3 --version mix --plain 4 --skeleton 1
mkdir "$SRC/more"
cp tests/data/canm/odd512.canm tests/data/cas/v203.cas tests/data/ribbon/duplicate.anm \
	tests/data/owanim/small.006 tests/data/kanim/{stick.kanim,*.x3d} "$SRC/more"
"$ANIMFS" export --all "$SRC" "$WORK/whole" 2>/dev/null

# ---- export ----

in_parts export --all "$SRC" "$OUT"
is "every part is exported" "$STATUSES" "0 0 0 0 "
ok "together they are one export, byte for byte" same_tree "$WORK/whole" "$OUT"
in_parts export --all --update "$SRC" "$OUT"
is "again there is nothing to do" "$(cat "$WORK"/err.* | grep -vc '^0 exported')" 0
rm -rf "$OUT"
in_parts export --layout=hive "$SRC" "$OUT"
"$ANIMFS" export --layout=hive "$SRC" "$WORK/hive" 2>/dev/null
ok "so are those of one long table" same_tree "$WORK/hive" "$OUT"

rm -rf "$OUT"
for delay in 0.02 0.05 0.1; do
	(timeout -s KILL $delay "$ANIMFS" export --all -j1 --shard=2/$PARTS "$SRC" "$OUT") >/dev/null 2>&1
done
in_parts export --all --update "$SRC" "$OUT"
ok "a part that was killed goes on, and changes nothing" same_tree "$WORK/whole" "$OUT"

# ---- what an array job gives to each task ----

# task ID MIN MAX STEP COUNT: the part that the job script exports, or its exit status.
task()
{
	rm -rf "$WORK/task"
	SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=$2 SLURM_ARRAY_TASK_MAX=$3 SLURM_ARRAY_TASK_STEP=$4 \
		SLURM_ARRAY_TASK_COUNT=$5 bash scripts/animfs-export.sbatch --views=json "$SRC" "$WORK/task" \
		>/dev/null 2>&1 || { echo "status $?"; return; }
	files_in "$WORK/task"
}
files_in() { (cd "$1" && find . -name .animfs-export | sort); }
part()
{
	rm -rf "$WORK/part"
	"$ANIMFS" export --views=json --shard="$1" "$SRC" "$WORK/part" 2>/dev/null
	files_in "$WORK/part"
}

is "task 2 of 1-3 has part 2/3" "$(task 2 1 3 1 3)" "$(part 2/3)"
is "task 0 of 0-2 has part 1/3" "$(task 0 0 2 1 3)" "$(part 1/3)"
is "task 30 of 10-30:10 has part 3/3" "$(task 30 10 30 10 3)" "$(part 3/3)"
is "an array with gaps is refused" "$(task 1 1 4 1 3)" "status 2"
is "so is a call without an array" \
	"$(bash scripts/animfs-export.sbatch "$SRC" "$WORK/task" 2>&1 | grep -c 'sbatch --array')" 1

# ---- check ----

cp -r "$SRC" "$WORK/damaged"
printf CANM >"$WORK/damaged/more/odd512.canm"
in_parts check "$WORK/damaged"
is "one part alone finds the damaged file" "$(grep -o '[0-9]' <<<"$STATUSES" | sort | paste -sd '')" 0001
is "the parts say what one check says" "$(cat "$WORK"/said.* | sort)" \
	"$("$ANIMFS" check "$WORK/damaged" 2>/dev/null | sort)"
is "and have checked as many" "$(cat "$WORK"/err.* | awk '{ n += $1 } END { print n }')" \
	"$("$ANIMFS" check "$WORK/damaged" 2>&1 >/dev/null | cut -d ' ' -f 1)"

# ---- import ----

rm -rf "$OUT"
"$ANIMFS" export "$SRC" "$OUT" 2>/dev/null
for text in "$OUT"/*/*/*/run/bones/hips.csv; do
	sed -i '2s/,[^,]*/,0.01/2' "$text"
done
cp -r --preserve=timestamps "$OUT" "$WORK/texts"
cp -r --preserve=timestamps "$SRC" "$WORK/once"
"$ANIMFS" import "$WORK/texts" "$WORK/once" 2>/dev/null | sort >"$WORK/changed"
in_parts import "$OUT" "$SRC"
is "every part is imported" "$STATUSES" "0 0 0 0 "
is "they change what one import changes" "$(cat "$WORK"/said.* | sort)" "$(cat "$WORK/changed")"
is "which is every file" "$(wc -l <"$WORK/changed")" 16
ok "to the same bytes" diff -r -x .animfs "$WORK/once" "$SRC"
in_parts import "$OUT" "$SRC"
is "again there is nothing to do" "$(cat "$WORK"/said.*)" ""
