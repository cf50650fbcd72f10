# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# animfs export: the tree of a mount on a disk, whole or not at all, and again.
. "$(dirname "$0")/lib.sh"
OUT=$WORK/out
walk=object/e0000/ranger.canm/walk

# exported OPTION...: what the export says at its end.
exported() { "$ANIMFS" export "$@" "$SRC" "$OUT" 2>&1 | tail -n 1; }
exported_soon() { timeout 300 "$ANIMFS" export "$@" "$SRC" "$OUT" 2>&1 | tail -n 1; }
texts() { (cd "$1" && find . -type f ! -name .animfs-export ! -name 'skeleton.csv' | sort); }
sums() { (cd "$1" && find . -type f -exec md5sum {} + | sort -k 2 | tee "$WORK/sums" | md5sum); }

make_game --files 3 --clips 2 --bones 4 --frames 5 --version mix --plain 6 --skeleton 1
mkdir -p "$SRC/more"
cp tests/data/canm/odd512.canm tests/data/cas/v203.cas tests/data/ribbon/duplicate.anm \
	tests/data/kanim/stick.kanim "$SRC/more"
printf 'no animation' >"$SRC/more/broken.canm"
ln -s ../object/e0000/ranger.canm "$SRC/more/link.canm"

# ---- the same as a mount ----

status=0
said=$("$ANIMFS" export "$SRC" "$OUT" 2>&1) || status=$?
is "one file does not decode: status 1" "$status" 1
like "it is named, with the reason" "$said" 'animfs: more/broken.canm.*: '
like "and counted" "$said" '[0-9]+ exported, 1 failed$'
mount_animfs -o ro --views=all
mkdir "$WORK/shown"
(cd "$MNT" && find . -type d \( -name '*.canm' -o -name '*.cas' -o -name '*.anm' -o -name '*.kanim.d' \) \
	-prune -exec cp -r --parents {} "$WORK/shown" \;)
ok "it is what cp -r of the mount copies" diff -r -x .animfs-export "$WORK/shown" "$OUT"
is "texts have the time of their file" "$(stat -c %y "$OUT/$walk/clip.json")" \
	"$(stat -c %y "$SRC/object/e0000/ranger.canm")"
umount_animfs
is "links are left out" "$(ls -d "$OUT"/more/link* 2>&1 | grep -c 'No such')" 1
is "SOURCE has nothing new" "$(find "$SRC" -name '.animfs*')" ''
exported --all >/dev/null
ok "--all copies the others: a picture" same_file "$SRC"/object/e0000/texture_00001.png "$OUT"/object/e0000/texture_00001.png
ok "a broken animation" same_file "$SRC/more/broken.canm" "$OUT/more/broken.canm"
is "a link" "$(readlink "$OUT/more/link.canm")" "../object/e0000/ranger.canm"
rm "$SRC/more/broken.canm"

# ---- again ----

before=$(sums "$OUT")
inodes() { find "$OUT" -name '*.csv' -printf '%i %p\n' | sort | md5sum; }
first=$(inodes)
exported >/dev/null
is "the same again is the same" "$(sums "$OUT")" "$before"
is "and writes no text anew" "$(inodes)" "$first"
like "--update has nothing to do" "$(exported --update)" '^0 exported, [0-9]+ up to date, 0 failed$'
touch -d 2001-01-01 "$SRC/object/e0000/ranger.canm"
like "a file with another time is exported" "$(exported -u)" '^1 exported'
echo 'bone,parent' >"$SRC/object/e0000/ranger.canm.skeleton.csv"
like "one with another skeleton is" "$(exported -u)" '^1 exported'
like "other options are other texts" "$(exported -u --rotations=quaternion)" ' 0 up to date'
"$ANIMFS" clip rename "$SRC/$walk" ran
like "one with a renamed clip is" "$(exported -u --rotations=quaternion)" '^1 exported'
ok "the clip has its new name" test -f "$OUT/object/e0000/ranger.canm/ran/clip.json"
fails "and the old one is gone" test -e "$OUT/$walk"
"$ANIMFS" clip rename "$SRC/object/e0000/ranger.canm/ran" walk
exported >/dev/null

# ---- what people wrote ----

echo mine >"$OUT/$walk/notes.txt"
sed -i 's/^1,/1,/;3s/,0[.]/,9./' "$OUT/$walk/bones/hips.csv"
edited=$(cat "$OUT/$walk/bones/hips.csv")
touch "$SRC/object/e0000/ranger.canm"
status=0
said=$("$ANIMFS" export "$SRC" "$OUT" 2>&1) || status=$?
is "an edited text is not replaced: status 1" "$status" 1
like "and it is said which" "$said" 'ranger.canm: walk/bones/hips.csv: was edited'
is "it stays" "$(cat "$OUT/$walk/bones/hips.csv")" "$edited"
exported --force >/dev/null
fails "--force replaces it" [ "$(cat "$OUT/$walk/bones/hips.csv")" = "$edited" ]
is "other files stay" "$(cat "$OUT/$walk/notes.txt")" mine

# ---- what somebody put in the way ----

for name in .animfs-export~ .animfs-text~; do
	for plant in mkfifo 'ln -s victim' 'ln -s nowhere' "ln $OUT/victim"; do
		echo precious >"$OUT/victim"
		$plant "$OUT/object/e0000/ranger.canm/$name"
		cp "$OUT/victim" "$OUT/object/e0000/ranger.canm/"
		touch "$SRC/object/e0000/ranger.canm"
		like "${plant%% /*} $name: the export ends" "$(exported_soon --force)" '^[0-9]+ exported, 0 failed'
		is "${plant%% /*} $name: what it leads to stays" \
			"$(head -qn 1 "$OUT/victim" "$OUT/object/e0000/ranger.canm/victim" | uniq)" precious
		fails "${plant%% /*} $name: nothing is made" test -e "$OUT/object/e0000/ranger.canm/nowhere"
		rm -f "$OUT/victim" "$OUT/object/e0000/ranger.canm"/{victim,nowhere,.animfs-*~}
	done
done

# ---- which ----

rm -rf "$OUT"
exported --views=csv,curves >/dev/null
is "--views" "$(texts "$OUT" | sed 's/.*[.]//' | sort -u)" csv
rm -rf "$OUT"
all=$(exported | sed 's/ .*//')
whole=$(sums "$OUT")
rm -rf "$OUT"
sum=0
for part in 1 2 3; do
	n=$(exported --shard=$part/3 | sed 's/ .*//')
	sum=$((sum + n))
done
is "three parts have each file once" "$sum" "$all"
is "and are the whole" "$(sums "$OUT")" "$whole"
is "one thread writes the same as several" "$(rm -rf "$OUT"; exported -j1 >/dev/null; sums "$OUT")" \
	"$whole"
"$ANIMFS" export "$SRC" "$SRC/out" 2>/dev/null
"$ANIMFS" export "$SRC" "$SRC/out" 2>/dev/null
is "what lies in SOURCE is not exported with it" "$(sums "$SRC/out")" "$whole"
rm -rf "$SRC/out"
for wrong in -j0 -jx --shard=3/2 --views=nothing --layout=cube --compress=gzip; do
	"$ANIMFS" export $wrong "$SRC" "$OUT" 2>/dev/null
	is "$wrong: status 2" $? 2
done
"$ANIMFS" export "$SRC" "$SRC" 2>/dev/null
is "into SOURCE itself: status 2" $? 2
"$ANIMFS" export "$SRC/nothing" "$OUT" 2>/dev/null
is "of nothing: status 2" $? 2

# ---- stopped on the way ----

# Does every folder of texts in it say what it was made of? That is written last.
whole_folders() { [ -z "$(find "$1" -type d -name '*.canm' ! -exec test -s {}/.animfs-export \; -print)" ]; }

left_over() { find "$1" -name '.animfs-*~'; }

make_game --files 30 --clips 2 --bones 12 --frames 10 --plain 0
for delay in 0.03 0.1 0.2; do
	rm -rf "$OUT"
	(timeout -s KILL $delay "$ANIMFS" export "$SRC" "$OUT") >/dev/null 2>&1
	ok "after a kill ($delay s) what is there is whole" whole_folders "$OUT"
done
exported --update >/dev/null
is "--update goes on, and leaves no other trace" "$(left_over "$OUT")" ''
whole=$(sums "$OUT")
rm -rf "$OUT"
exported >/dev/null
is "the outcome is the same" "$(sums "$OUT")" "$whole"

rm -rf "$OUT"
env --default-signal=INT "$ANIMFS" export -j1 "$SRC" "$OUT" 2>"$WORK/said" &
pid=$!
wait_for 10 test -d "$OUT/object" || true
kill -INT $pid
status=0
wait $pid || status=$?
if [ "$status" -eq 130 ]; then
	like "SIGINT stops it" "$(cat "$WORK/said")" 'interrupted after [0-9]+ of [0-9]+ files'
	is "and leaves no half folder" "$(left_over "$OUT")" ''
	ok "what is there is whole" whole_folders "$OUT"
else
	is "it was done before it could be stopped" "$status" 0
fi

# ---- two at the same files ----

less=--views=json
folders() { find "$OUT" -name '*.canm' | wc -l; }
all_but_one() { [ "$(folders)" -ge $(($(find "$SRC" -name '*.canm' -type f | wc -l) - 1)) ]; }
# An export that stands still while it writes a file: $first.
stop_within()
{
	rm -rf "$OUT"
	"$ANIMFS" export -j1 $less "$SRC" "$OUT" 2>/dev/null &
	first=$!
	while kill -STOP $first 2>/dev/null; do
		[ -z "$(find "$OUT" -name '.animfs-part-*' 2>/dev/null)" ] || return 0
		kill -CONT $first
	done
	return 1
}
# A process that the shell began in the background ignores SIGINT until env has changed that.
catches_interrupts() { ((0x$(awk '/^SigCgt:/ { print $2 }' "/proc/$1/status") & 2)); }
both_end()
{
	local status=0
	wait "$first" || status=$?
	wait "$second" || status=$?
	return $status
}

rm -rf "$OUT"
exported $less >/dev/null
whole=$(sums "$OUT")
wait_for 20 stop_within || not_ok "an export stands still while it writes a file"
"$ANIMFS" export -j2 $less "$SRC" "$OUT" 2>/dev/null &
second=$!
ok "a second one goes on with the others" wait_for 20 all_but_one
kill -CONT $first
both_end
is "and waits for that one: both end well" $? 0
is "the outcome is the same" "$(sums "$OUT")" "$whole"
is "nothing is left over" "$(left_over "$OUT")" ''

wait_for 20 stop_within || not_ok "an export stands still while it writes a file"
env --default-signal=INT "$ANIMFS" export -j1 $less "$SRC" "$OUT" 2>/dev/null &
second=$!
wait_for 10 catches_interrupts $second
kill -INT $second
wait $second
is "one that waits can be interrupted" $? 130
kill -KILL $first
wait $first 2>/dev/null
exported $less >/dev/null
is "what a kill leaves goes" "$(left_over "$OUT")" ''
is "and the rest is done" "$(sums "$OUT")" "$whole"
touch "$OUT"/object/e0000/ranger.canm{,/walk/bones}/.animfs-text~
exported $less >/dev/null
is "what a kill left in a folder that was there goes, too" "$(left_over "$OUT")" ''

for how in "$less" "$less --all" --layout=hive; do
	rm -rf "$OUT"
	exported $how >/dev/null
	whole=$(sums "$OUT")
	for before in there gone; do
		[ $before = there ] || rm -rf "$OUT"
		"$ANIMFS" export $how "$SRC" "$OUT" 2>/dev/null &
		first=$!
		"$ANIMFS" export $how "$SRC" "$OUT" 2>/dev/null &
		second=$!
		both_end
		is "two at once, $how, what was before is $before: both end well" $? 0
		is "the outcome is the same" "$(sums "$OUT")" "$whole"
		is "nothing is left over" "$(left_over "$OUT")" ''
	done
done

# ---- a full disk ----

if mkdir -p "$WORK/small" && mount -t tmpfs -o size=1m none "$WORK/small" 2>/dev/null; then
	said=$("$ANIMFS" export "$SRC" "$WORK/small/out" 2>&1)
	is "a full disk: status 2" $? 2
	times=$(grep -c 'No space left' <<<"$said")
	ok "it is said ($times times), and once for each job at most" test "$times" -ge 1 -a "$times" -le "$(nproc)"
	like "and that it stopped" "$said" 'stopped after'
	is "no half folder is left" "$(left_over "$WORK/small")" ''
	ok "what is there is whole" whole_folders "$WORK/small/out"
	umount "$WORK/small"
else
	skip "no tmpfs can be mounted"
fi

# ---- what is said on the way ----

rm -rf "$OUT"
if has_terminals && has_faults; then
	# Held on the way, since nothing is said of what takes no time.
	echo "mkdir hold $OUT 20" >"$WORK/fault"
	TERM=xterm script -qec "LD_PRELOAD='$FAULTS' FAULT='$WORK/fault' '$ANIMFS' export -j1 '$SRC' '$OUT'" /dev/null >"$WORK/said" &
	wait_for 10 test -e "$WORK/fault.held" || not_ok "an export stands still on its way"
	sleep 0.2
	rm "$WORK/fault"
	wait $!
	said=$(<"$WORK/said")
	like "a terminal sees how far it is" "$said" '[[][#.]+[]] animfs export: [0-9]+ of [0-9]+ files, [0-9.]+ MB/s, [0-9]+:[0-9]+ left'
fi
rm -rf "$OUT"
fails "a pipe sees no bar" grep -q $'\r' <("$ANIMFS" export "$SRC" "$OUT" 2>&1)
