#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# command_help.sh - the common parts of all commands: the form of --help, wrong calls, exit statuses, `--`.
# Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
cd "$SRC" || exit 1
data=$OLDPWD/tests/data
mkdir .animfs
cp "$data/canm/wiki512.canm" w.canm
printf CANM >bad.canm

# run WORDS...: sets OUT, ERR and STATUS
run()
{
	STATUS=0
	OUT=$("$ANIMFS" "$@" 2>"$WORK/err") || STATUS=$?
	ERR=$(cat "$WORK/err")
}

commands=$("$ANIMFS" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
is "the commands" "$(sort <<<"$commands" | grep -xE \
	'mount|umount|ls|cat|put|check|diff|text|undo|clip|bone|formats' | wc -l)" 12

# ---- --help ----
# The parts of a help text, in their order: usage, what it does, options, exit statuses.
shape()
{
	python3 - "$1" <<'PYTHON'
import re, sys
text = sys.argv[1]
match = re.fullmatch(
    r"Usage: animfs .*\n(?:  or:  animfs .*\n)*"
    r"[A-Z](?:.*\n)+?"
    r"\nOptions:\n(?P<options>(?: .*\n)+)"
    r"\nExit status:\n(?P<statuses>(?:  [0-2]  \S.*\n)+)", text + "\n")
if not match:
    sys.exit("not in this shape:\n" + text)
for line in match["options"].splitlines():
    # A letter, a long name, both; what they mean from column 26 on, further words further in.
    if not re.fullmatch(r"  (-\S( [A-Z].*?)?(, --[a-z0-9-]+(\[?=\S+)?)?|    --[a-z0-9-]+(\[?=\S+)?)\s+", line[:26]) \
            and line[:28] != " " * 28 or line[26:27] == " " and line[:28] != " " * 28:
        sys.exit("not aligned: " + line)
for line in text.splitlines():
    if len(line) > 80:
        sys.exit("too long: " + line)
PYTHON
}
for command in $commands; do
	run "$command" --help
	is "$command --help: status" "$STATUS" 0
	is "$command --help: nothing on standard error" "$ERR" ""
	like "$command --help: its own" "$OUT" "^Usage: animfs $command "
	ok "$command --help: shape" shape "$OUT"
	is "$command -h" "$("$ANIMFS" "$command" -h)" "$OUT"
	is "help $command" "$("$ANIMFS" help "$command")" "$OUT"
	is "$command --version" "$("$ANIMFS" "$command" --version)" "$("$ANIMFS" --version)"
	like "$command is in the manual" "$(grep -c "^\.It Nm Cm $command" "$OLDPWD/man/animfs.1")" '^[1-9]'
done
is "help" "$("$ANIMFS" help)" "$("$ANIMFS" --help)"
is "-h" "$("$ANIMFS" -h)" "$("$ANIMFS" --help)"
like "the version has the license" "$("$ANIMFS" -V)" '^animfs [0-9.]+
License GPLv3\+: .*
.*NO WARRANTY'
fails "help that cannot be printed" sh -c "'$ANIMFS' ls --help >/dev/full"

# ---- wrong calls ----
# wrong NAME WORDS...: two lines on standard error, nothing on standard output, status 2
wrong()
{
	local name=$1
	shift
	run "$@"
	is "$name: status" "$STATUS" 2
	is "$name: nothing on standard output" "$OUT" ""
	like "$name: a line, and where to read more" "$ERR" \
		"^animfs [a-z-]+: [^
]*
Try 'animfs $1 --help' for more information\.\$"
}
for command in $commands; do
	case $command in
	mount) continue ;;
	esac
	wrong "$command with a wrong option" "$command" --nonsense x y
	like "$command with a wrong option: it is named" "$ERR" "unrecognized option '--nonsense'"
	wrong "$command with a wrong letter" "$command" -% x y
done
for command in umount ls cat put check diff text undo clip bone; do
	wrong "$command without operands" "$command"
	like "$command without operands: says so" "$ERR" 'missing operand'
done
for command in umount text undo; do
	wrong "$command with one more" "$command" a b
	like "$command with one more: says so" "$ERR" "extra operand 'b'"
done
wrong "diff with one" diff a
like "diff with one: says so" "$ERR" "missing operand after 'a'"
wrong "a value that is wrong" cat --rate=canm=fast w.canm/walk/clip.json
like "a value that is wrong: says so" "$ERR" '"fast" is not a rate'
wrong "a colour that is none" ls --color=red w.canm
wrong "no jobs" check -j 0 w.canm
wrong "a part of none" check --shard=3/2 w.canm
wrong "a verb that is none" clip sing w.canm/walk
wrong "frames that are no number" clip new --frames=many w.canm/more
wrong "--json and --null" ls --json --null w.canm
wrong "names from two places" check --files0-from=- w.canm
run --nonsense . "$MNT"
is "a mount with a wrong option: status" "$STATUS" 2
like "a mount with a wrong option: what, and where to read more" "$ERR" \
	"^animfs mount: unrecognized option '--nonsense'
Try 'animfs mount --help' for more information\.\$"

# ---- a word that is no command ----
run lss w.canm
is "no command: status" "$STATUS" 2
is "no command: near ones" "$ERR" "animfs: unknown command 'lss'; did you mean \"ls\"?
Try 'animfs --help' for a list of the commands."
run form
like "no command: its beginning" "$ERR" 'did you mean "formats"\?'
run xyzzy "$MNT"
is "no command: none is near" "$ERR" "animfs: unknown command 'xyzzy'
Try 'animfs --help' for a list of the commands."
run help cehck
like "help of no command" "$ERR" 'did you mean "check"\?'
mkdir lss
run lss
like "a folder of that name is one" "$ERR" '^animfs mount: no MOUNTPOINT given'
rmdir lss

# ---- -- and options behind operands ----
cp w.canm ./--odd.canm
is "-- ends the options" "$("$ANIMFS" ls -- --odd.canm)" "$("$ANIMFS" ls w.canm)"
is "options may stand behind" "$("$ANIMFS" diff w.canm ./--odd.canm --brief)" ""
is "a value in the next word" "$("$ANIMFS" cat --rotations quaternion w.canm/walk/bones/hip.csv | head -n 1)" \
	"frame,time,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz"
rm ./--odd.canm

# ---- exit statuses ----
# status NUMBER NAME COMMAND...
status()
{
	local want=$1 name=$2
	shift 2
	run "$@"
	is "status: $name" "$STATUS" "$want"
}
"$ANIMFS" cat w.canm/walk/bones/hip.csv >hip.csv
status 0 "ls" ls w.canm
status 2 "ls of what is not there" ls w.canm none.canm
status 2 "cat of a folder" cat w.canm/walk
status 2 "cat of what does not decode" cat bad.canm/file.json
"$ANIMFS" cat w.canm/walk/curves.csv >/dev/full 2>/dev/null
is "status: what cannot be printed" "$?" 2
status 0 "check" check w.canm
status 1 "check: one fails" check w.canm bad.canm
status 2 "check: one is not there" check w.canm bad.canm none.canm
status 0 "put" put w.canm/walk/bones/hip.csv hip.csv
sed '3s/,/,x/2' hip.csv >wrong.csv
status 1 "put: refused" put w.canm/walk/bones/hip.csv wrong.csv
status 2 "put: no such text" put w.canm/walk/bones/hip.csv none.csv
status 2 "put: no such file" put none.canm/walk/bones/hip.csv hip.csv
status 2 "put: onto what does not decode" put bad.canm/file.json hip.csv
status 1 "clip: refused" clip rename w.canm/walk Idle
status 2 "clip: no such file" clip rename none.canm/walk Idle
status 1 "bone: refused" bone rename w.canm/walk hip Bone01
status 2 "bone: no such file" bone rename none.canm nobody somebody
status 1 "undo: nothing to undo" undo w.canm
status 2 "undo: no such folder" undo none/w.canm
status 2 "text: no such file" text none.canm
status 0 "text: of what does not decode" text bad.canm
status 1 "umount: no mount" umount "$MNT"
status 0 "formats" formats
status 1 "formats: of none" formats w.canm hip.csv
status 2 "formats: no such file" formats none.canm

# ---- what is said of refusals ----
run put w.canm/walk/bones/hip.csv wrong.csv
like "put: place, line, what is accepted" "$ERR" '^wrong\.csv:3:12: tx: "x.*" is not a number
  [^
]*x[^
]*
 +\^
cell C3, column tx
accepted here: a decimal number'
is "put: nothing on standard output" "$OUT" ""
for from in "" -; do
	# shellcheck disable=SC2086 # no operand where it is empty
	like "put: of standard input ('$from') the view is named" \
		"$("$ANIMFS" put w.canm/walk/bones/hip.csv $from <wrong.csv 2>&1)" '^w\.canm/walk/bones/hip\.csv:3:12: '
done
run clip rename w.canm/walk a:b
is "clip" "$ERR" 'animfs: w.canm/walk: "a:b" cannot be the file name of a clip or bone
accepted here: "a%3Ab"'
run check bad.canm
like "check: bytes have a number" "$OUT" '^bad\.canm:0x4: the file ends'
sed '2s/scenes_per_time="/&x/' "$data/kanim/stick.kanim" >bad.kanim
run check bad.kanim
like "check: a text has lines" "$OUT" '^bad\.kanim:2:29: scenes_per_time cannot be this
  <animation scenes_per_time="x30"[^
]*
 +\^
accepted here: a whole number'
run formats "$SRC"
is "the name is said once" "$ERR" "animfs: $SRC: an ordinary folder; expected an animation file in it, such as $SRC/bad.canm"

# ---- colours ----
# terminal WORDS...: what the command says to a terminal
terminal()
{
	python3 - "$ANIMFS" "$@" <<'PYTHON'
import os, pty, sys
said = b""
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
try:
    while part := os.read(fd, 65536):
        said += part
except OSError:  # the other end is closed
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(said.replace(b"\r\n", b"\n").replace(b"\033", b"^"))
PYTHON
}
unset NO_COLOR
export TERM=xterm
cp w.canm one.canm
sed '3s/,0.5000076,/,0.25,/' hip.csv >new.csv
"$ANIMFS" put w.canm/walk/bones/hip.csv new.csv
colored='^[1m--- one.canm^[0m
^[1m+++ w.canm^[0m
^[36mbone walk/hip^[0m
^[31m-  translation 1 0.5000076 1 2.00001^[0m
^[32m+  translation 1 0.2500038 1 2.00001^[0m'
is "none in a pipe" "$("$ANIMFS" diff one.canm w.canm | grep -c $'\033')" 0
is "--color in a pipe" "$("$ANIMFS" diff --color one.canm w.canm | tr '\033' '^')" "$colored"
is "JSON has none" "$("$ANIMFS" diff --color --json one.canm w.canm | grep -c $'\033')" 0
if has_terminals; then
	is "colours on a terminal" "$(terminal diff one.canm w.canm)" "$colored"
	is "--color=never on a terminal" "$(terminal diff --color=never one.canm w.canm | grep -c '\^')" 0
	is "NO_COLOR" "$(NO_COLOR=1 terminal diff one.canm w.canm | grep -c '\^')" 0
	is "NO_COLOR that is empty" "$(NO_COLOR='' terminal diff one.canm w.canm)" "$colored"
	is "--color=always before NO_COLOR" "$(NO_COLOR=1 terminal diff --color=always one.canm w.canm)" "$colored"
	is "a terminal without" "$(TERM=dumb terminal diff one.canm w.canm | grep -c '\^')" 0
	is "folders" "$(terminal ls w.canm/walk | tail -n 1)" '^[01;34mbones^[0m/'
	like "errors" "$(terminal put w.canm/walk/bones/hip.csv wrong.csv)" '^\^\[1;31mwrong\.csv:3:12: [^
]*\^\[0m
  1,'
fi
cd "$OLDPWD" || exit 1
