#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# mistakes.sh - a mistake in a command is answered with a correct form, and has the same exit status in
# every command. Only the last part mounts.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/w.canm"
cd "$SRC" || exit 1
mkdir folder
cp w.canm folder/x.canm
printf CANM >broken.canm
echo "Read me." >README.txt
bone=walk/bones/hip.csv

# status COMMAND...: the status, and nothing but a message
status() { timeout 60 "$ANIMFS" "$@" >/dev/null 2>"$WORK/said" </dev/null; echo $?; }

# ---- every mistake, in every command that can have it ----

# mistake NAME STATUS WORDS...: animfs WORDS, one after the other, ends with that status and says why
mistake()
{
	local name=$1 want=$2 line got
	shift 2
	for line; do
		# shellcheck disable=SC2086 # words
		got=$(status $line)
		is "$name: animfs $line" "$got" "$want"
		[ "$got" = 0 ] || like "$name: animfs $line: says why" "$(cat "$WORK/said")" '^animfs'
	done
}

every='bug-report convert ls cat view put check export import diff text log undo redo forget errors umount clip bone formats mount status lint git-setup git-merge'
for command in $every; do
	[[ $command == @(formats|status|git-setup|bug-report) ]] || mistake "no operand" 2 "$command"
	mistake "no such option" 2 "$command --nonsense w.canm w.canm"
done
for command in 'ls' 'cat' 'put' 'check' 'lint' 'text' 'diff w.canm' 'clip remove' 'bone add' 'formats' \
	'export' 'import' 'mount'; do
	mistake "a value that is none" 2 "$command --max-file=many w.canm"
	mistake "a format that is none" 2 "$command --rate=camn=30 w.canm"
done

mistake "too many operands" 2 'view a b' 'put a b c' 'text a b' 'diff a b c' 'log a b' 'undo a b' 'git-setup a b' \
	'redo a b' 'forget a b' 'errors a b' 'umount a b' 'clip rename a b c' 'clip copy a b c' \
	'clip new a b' 'bone rename a b c d' 'convert a b c' 'bug-report a' 'mount a b c' 'export a b c' 'import a b c'

mistake "no such file" 2 'ls none.canm' "cat none.canm/$bone" 'view -n none.canm' \
	"put none.canm/$bone" 'check none.canm' 'lint none.canm' 'text none.canm' 'diff w.canm none.canm' \
	'diff none.canm w.canm' 'diff --version=1 none.canm' 'cat --version=1 none.canm' 'log none.canm' \
	'log --follow none.canm' 'undo none.canm' 'undo --list none.canm' 'undo --number=1 none.canm' \
	'redo none.canm' 'forget none.canm' 'errors none' 'umount none' 'status none' 'clip rename none.canm/walk x' \
	'clip remove none.canm/walk' 'clip copy none.canm/walk w.canm' 'bone rename none.canm a b' \
	'bone remove none.canm a' 'bone add none.canm a' 'formats none.canm' 'export none out' \
	"import none $SRC" 'mount none folder' 'mount folder none'

mistake "no such place in it" 2 'ls w.canm/none' 'cat w.canm/none' 'view -n w.canm/none' \
	'put w.canm/none' 'check w.canm/none' 'lint w.canm/none' 'text w.canm/none' 'diff w.canm w.canm/none' \
	'clip rename w.canm/none x' 'clip remove w.canm/none' 'clip copy w.canm/none w.canm/x' \
	'bone rename w.canm/none hip x' 'bone remove w.canm/none hip' 'bone add w.canm/none x' \
	'bone rename w.canm none x' 'bone remove w.canm none' 'bone remove w.canm/walk none'

mistake "another kind of place" 2 'cat w.canm' 'cat w.canm/walk' 'put w.canm' 'put w.canm/walk' \
	"view -n w.canm/$bone" 'text w.canm/walk' 'diff w.canm w.canm/walk' 'clip rename w.canm x' \
	"clip remove w.canm/$bone" "clip copy w.canm w.canm/x" "bone remove w.canm/$bone x" \
	'check w.canm/walk' 'lint w.canm/walk'

mistake "an ordinary folder" 2 'ls folder' 'ls folder/' 'ls .' 'ls /' 'cat folder' 'view -n folder' 'put folder' 'text folder' \
	'diff w.canm folder' 'diff folder w.canm' 'log folder' 'undo folder' 'redo folder' 'forget folder' \
	'clip rename folder x' 'bone add folder x' 'formats folder'

mistake "no animation" 2 'ls README.txt' 'cat README.txt/x' 'view -n README.txt' 'put README.txt/x' \
	'check README.txt' 'check --type=*=auto README.txt' 'lint README.txt' 'diff w.canm README.txt' 'clip rename README.txt/x y' \
	'clip copy w.canm/walk README.txt/x' 'bone add README.txt x'

mistake "what does not decode" 2 'ls broken.canm' "cat broken.canm/$bone" 'view -n broken.canm' \
	"put broken.canm/$bone" 'diff w.canm broken.canm' 'clip rename broken.canm/walk x' \
	'bone add broken.canm x' 'lint broken.canm'
# These ask whether it does.
is "check finds it" "$(status check broken.canm)" 1
is "formats finds it" "$(status formats broken.canm)" 1
is "text prints why" "$("$ANIMFS" text broken.canm; echo $?)" \
	$'not decoded: the file ends inside its header (at byte 4)\n0'

mistake "no mount" 1 'errors folder' 'umount folder' 'status folder' 'errors README.txt' 'umount README.txt'

mistake "no version" 1 'log w.canm' 'undo w.canm' 'redo w.canm' 'forget w.canm'
mistake "no version of that number" 2 'cat --version=99 w.canm' 'diff --version=99 w.canm' \
	'undo --number=99 w.canm'
"$ANIMFS" bone add w.canm/walk tail
mistake "no version of that number, though there are others" 2 'cat --version=99 w.canm' \
	'diff --version=99 w.canm' 'diff --version=1:99 w.canm' 'undo --number=99 w.canm' \
	"undo --number=99 w.canm/$bone"
mistake "a view that no version had" 2 'log w.canm/walk/bones/hipz.csv' 'undo w.canm/walk/bones/hipz.csv' \
	'redo w.canm/walk/bones/hipz.csv' 'cat --version=1 w.canm/walk/bones/hipz.csv' \
	'diff --version=1 w.canm/walk/bones/hipz.csv' 'log w.canm/walk'

for command in 'ls w.canm' 'cat w.canm/file.json' 'text w.canm' 'formats' 'log w.canm' 'diff w.canm folder/x.canm' \
	'--help' '--version' 'clip --help' 'mount --version'; do
	# shellcheck disable=SC2086
	is "no room for the output: animfs $command" "$("$ANIMFS" $command >/dev/full 2>/dev/null; echo $?)" 2
done

# ---- what to type instead ----

# said REGEX COMMAND...
said()
{
	local want=$1
	shift
	like "animfs $*" "$(timeout 60 "$ANIMFS" "$@" 2>&1 </dev/null)" "$want"
}

said 'no "hipz\.csv" in walk/bones; did you mean "hip\.csv"\?$' cat w.canm/walk/bones/hipz.csv
said 'no "hip" in walk/bones; did you mean "hip\.csv" or "hip\.json" or "hip\.svg"\?$' put w.canm/walk/bones/hip
said 'no "wlak" in w\.canm; did you mean "walk"\?$' ls w.canm/wlak
said 'no "wlak" in w\.canm; did you mean "walk"\?$' clip remove w.canm/wlak
said 'no "bonse" in walk; did you mean "bones"\?$' diff w.canm/walk/bonse/hip.csv w.canm
said 'no "hipz\.csv" in walk/bones; did you mean "hip\.csv"\?$' log w.canm/walk/bones/hipz.csv
said 'no "hipz\.csv" in walk/bones; did you mean "hip\.csv"\?$' undo w.canm/walk/bones/hipz.csv
said '"hip\.csv" is a view and not a folder|hip\.csv is a view and not a folder' cat w.canm/$bone/more
said 'no bone "hpi"; did you mean "hip"\?$' bone remove w.canm hpi
said "'remve' is neither rename, remove nor add; did you mean \"remove\"\\?" bone remve w.canm hip
said "'renam' is neither.*; did you mean \"rename\"\\?" clip renam w.canm/walk x
said 'a folder; expected a view in it, such as w\.canm/file\.json$' cat w.canm
said 'a folder; expected a view in it, such as w\.canm/walk/clip\.json$' put w.canm/walk/
expected='an ordinary folder; expected an animation file in it, such as'
said "$expected folder/x\\.canm\$" ls folder
said "$expected folder/x\\.canm\$" undo folder/
mkdir -p above/first/second above/.hidden none zipped
cp w.canm above/first/second/deep.canm
cp w.canm above/.hidden/a.canm
said "$expected above/first/second/deep\\.canm\$" ls above
said "^animfs: $SRC/above: $expected $SRC/above/first/second/deep\\.canm\$" cat "$SRC/above"
said "expected an animation file, and there is none in it: 'animfs formats' lists their names\$" ls none
cp "$OLDPWD"/tests/data/zip/*.zip zipped
said 'expected an archive in it, such as zipped/[a-z_0-9]*\.zip$' ls zipped
is "what it names is what to type" "$("$ANIMFS" ls "$("$ANIMFS" ls above 2>&1 | sed 's/.* //')" | grep -c '^walk/$')" 1
said '"cvs" is not a view; did you mean "csv"\? the views are raw, json,' --views=cvs "$SRC" "$MNT"
said '"cvs" is not a view; did you mean "csv"\? the views are raw, json,' export --views=cvs . out
said '"camn" is not a format; did you mean "canm"\? the formats are canm,' ls --rate=camn=30 w.canm
said '"camn" is not a format; did you mean "canm"\?' ls '--type=*.x=camn' w.canm
# The mount and the commands read options alike.
for command in ls mount; do
	said "^animfs $command: --rate=camn=30: \"camn\" is not a format" $command --rate camn=30 w.canm
	said "^animfs $command: option '--rate' requires an argument" $command --rate
	said "^animfs $command: unrecognized option '--rats=camn=30'"$'\n'"Did you mean '--rate'\?" $command --rats=camn=30 w.canm
	said "^animfs $command: option '--tangents' doesn't allow an argument" $command --tangents=1 w.canm
done
said "unknown command 'frob'"$'\n'"Try 'animfs --help' for a list" help frob
said "unknown command 'chekc'; did you mean \"check\"\\?" help chekc
said "unknown command 'info'; did you mean \"cat FILE/file\\.json\"\\?" info game
said "unknown command 'list'; did you mean \"ls\"\\?" help list
said "unknown command 'chekc'; did you mean \"check\"\\?" chekc .
said "Did you mean '--json'\\?" ls --jsno w.canm
said "unrecognized option '--veiws=csv'"$'\n'"Did you mean '--views'\\?"$'\n'"Try 'animfs mount --help' for more" mount --veiws=csv "$SRC" "$MNT"
said 'README\.txt: .*animation format.*0 checked, 0 failed, 1 not read' check README.txt
is "a folder without animations has none to check" "$("$ANIMFS" check none 2>&1; echo $?)" \
	$'0 checked, 0 failed\n0'

# ---- mounted over itself ----

cd "$OLDPWD" || exit 1
MNT=$SRC mount_animfs
like "a mount over its source says so" "$(cat "$LOG")" \
	"^animfs: $SRC: mounted over itself: until it is unmounted, every program sees the texts"
ok "and is one" test -d "$SRC/w.canm"
is "twice is a mistake: status" "$(timeout 60 "$ANIMFS" "$SRC" "$SRC" >"$WORK/said" 2>&1 </dev/null; echo $?)" 1
like "twice is a mistake" "$(cat "$WORK/said")" "^animfs: $SRC: already shows $SRC \\(animfs, pid $(sed -n 's/^pid //p' "$SRC/.animfs/status")\\)\$"
MNT=$SRC umount_animfs
mount_animfs
like "a mountpoint that is one already" "$(timeout 60 "$ANIMFS" "$SRC" "$MNT" 2>&1 </dev/null)" \
	"^animfs: $MNT: already shows $SRC \\(animfs, pid [1-9][0-9]*\\)\$"
umount_animfs
