#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# report.sh - what a report of a fault is pasted from: animfs --version --verbose, and animfs bug-report,
# which names no file.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/secret.canm"

# The report without the mounts of other tests.
report()
{
	"$ANIMFS" bug-report >"$WORK/report" || return
	awk -v pid="$(sed -n 's/^pid //p' "$MNT/.animfs/status")" '
		/^mount/ { if (mine) printf "%s", text; text = ""; mine = 0; inside = 1 }
		!inside { print; next }
		{ text = text $0 "\n" }
		$1 == "pid" && $2 == pid { mine = 1 }
		END { if (mine) printf "%s", text }' "$WORK/report"
}

for words in '--version --verbose' '--verbose --version' '-V --verbose'; do
	# shellcheck disable=SC2086 # words
	OUT=$("$ANIMFS" $words)
	is "$words: status" "$?" 0
	for line in 'animfs [0-9.]*' 'commit [0-9a-z]*' 'system Linux .*' 'libfuse 3\..*' '/dev/fuse (yes|no)' \
		'formats canm cas .*' 'archives cpk rab zip'; do
		like "$words: $line" "$OUT" "(^|
)$line"
	done
done
is "--version alone is short" "$("$ANIMFS" --version | wc -l)" 4
is "no operand" "$("$ANIMFS" bug-report x >/dev/null 2>&1; echo $?)" 2
is "no room for it" "$("$ANIMFS" bug-report >/dev/full 2>/dev/null; echo $?)" 2

mount_animfs --rate=canm=30 --base='hidden_*=idle' --overlay="$WORK/mine" \
	-o max_threads=4,type=hidden.x=canm -orotations=stored
bone=$MNT/secret.canm/walk/bones/hip.csv
sed 's/,0.5000076,/,0..5,/' "$bone" >"$WORK/wrong.csv"
fails "a text is refused" cp "$WORK/wrong.csv" "$bone"
OUT=$(report)
is "of a mount: status" "$?" 0
like "its options" "$OUT" $'\n  options -f --rate=canm=30 --base=\\* --overlay=\\* -o max_threads=4 -o type=\\* -o rotations=stored\n'
like "its limits" "$OUT" $'\n  history_limit [0-9]*\n'
like "its confinement" "$OUT" $'\n  confined '
like "its errors, with the place" "$OUT" $'\n    \\*\\.csv:[0-9]+:[0-9]+: tx: "\\*" is not a number'
for name in "$SRC" "$MNT" mine secret hip walk hidden 0..5; do
	is "nothing of '$name'" "$(sed -n '/^mount/,$p' <<<"$OUT" | grep -cF -- "$name")" 0
done

# ---- names of several words, with colons, and words of messages ----
hidden="$SRC/my hidden: game.canm"
cp tests/data/canm/wiki512.canm "$hidden"
cp tests/data/canm/bad_truncated.canm "$SRC/other: odd.canm"
ls "$MNT/other: odd.canm" >/dev/null
bone="$MNT/my hidden: game.canm/walk/bones/hip.csv"
fails "another text is refused" cp "$WORK/wrong.csv" "$bone"
OUT=$(report)
like "a name of several words is one" "$OUT" $'\n    \\*\\.csv:[0-9]+:[0-9]+: tx: '
like "and one with a colon" "$OUT" $'\n    \\*\\.canm: shown as it is: the table of 4 '
for name in my hidden game other odd secret hip walk Bone; do
	is "nothing of '$name' there" "$(sed -n '/^  errors/,$p' <<<"$OUT" | grep -cF -- "$name")" 0
done

# ---- many ----
for name in {1..22}; do
	cp tests/data/canm/bad_version.canm "$SRC/old$name.canm"
	ls "$MNT/old$name.canm" >/dev/null
done
OUT=$(report | sed -n '/^  errors/,$p')
is "of many errors, the first and last ten" "$(grep -c '^    ' <<<"$OUT") $(head -1 <<<"$OUT")" "20   errors 25"
is "the refused texts" "$(grep -c ':[0-9]*:[0-9]*: tx: ' <<<"$OUT")" 2
umount_animfs
