#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# commands.sh - animfs diff, clip and bone. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
cd "$SRC" || exit 1
data=$OLDPWD/tests/data
mkdir .animfs
cp "$data/canm/wiki512.canm" w.canm
cp "$data/canm/edf6_768.canm" e.canm
cp "$data/cas/v203.cas" .
cp "$data/owanim/small.006" small.006
cp "$data/kanim/stick.kanim" .
cp w.canm one.canm
animfs() { "$ANIMFS" "$@"; }
# status NUMBER COMMAND...: it ends with that status
status()
{
	local want=$1
	shift
	is "$*: status" "$("$ANIMFS" "$@" >/dev/null 2>&1; echo $?)" "$want"
}
clips() { animfs ls "$1" | grep /; }

# ---- diff ----
status 0 diff w.canm one.canm
is "nothing differs: nothing is said" "$(animfs diff w.canm one.canm)" ""
animfs cat w.canm/walk/bones/hip.csv | sed 's/,0.5000076,/,0.25,/' |
	animfs put w.canm/walk/bones/hip.csv
status 1 diff one.canm w.canm
is "a key" "$(animfs diff one.canm w.canm)" "--- one.canm
+++ w.canm
bone walk/hip
-  translation 1 0.5000076 1 2.00001
+  translation 1 0.2500038 1 2.00001"
is "--brief" "$(animfs diff --brief one.canm w.canm)" "Animations one.canm and w.canm differ"
status 1 diff one.canm/walk w.canm/walk
status 0 diff one.canm/Idle w.canm/Idle
status 1 diff one.canm/walk/bones/hip.csv w.canm/walk/bones/hip.csv
status 0 diff one.canm/walk/bones/Bone01.csv w.canm/walk/bones/Bone01.json
status 2 diff one.canm w.canm/walk
status 2 diff one.canm missing.canm
status 2 diff one.canm
status 2 diff --unknown one.canm w.canm
cp one.canm w.canm

# ---- clips ----
ok "rename" animfs clip rename w.canm/walk stride
is "rename: the place stays" "$(clips w.canm)" $'stride/\nIdle/\n攻撃_01/\nempty/'
like "diff says so" "$(animfs diff one.canm w.canm)" ' clip walk is called stride'
fails "rename: a name that there is" animfs clip rename w.canm/stride Idle
like "rename: a name that cannot be" "$(animfs clip rename w.canm/stride a:b 2>&1)" \
	'accepted here: "a%3Ab"'
ok "copy within a file" animfs clip copy w.canm/stride w.canm/again
ok "copy: it is the same" animfs diff w.canm/stride w.canm/again
fails "copy: a name that there is" animfs clip copy w.canm/stride w.canm/again
ok "copy from another file" animfs clip copy e.canm/turn w.canm
is "copy: last" "$(clips w.canm | tail -n 2)" $'again/\nturn/'
like "remove: later ones have other numbers" "$(animfs clip remove w.canm/Idle 2>&1)" \
	'4 later clips moved up: those from 攻撃_01'
is "remove" "$(clips w.canm)" $'stride/\n攻撃_01/\nempty/\nagain/\nturn/'
is "remove: the last moves none" "$(animfs clip remove w.canm/again w.canm/turn 2>&1 | grep -c turn)" 1
ok "new" animfs clip new --frames=31 w.canm/idle
like "new: so many frames" "$(animfs cat w.canm/idle/clip.json)" '"frames": 31, "frame_time": 1, "duration": 30'
ok "new: a file" animfs clip new --frames 2 made.canm/first
is "new: the file" "$(clips made.canm)" first/
fails "new: no name" animfs clip new w.canm
fails "new: no frames" animfs clip new --frames=0 w.canm/none
ok "a CAS: a copy at the end" animfs clip copy v203.cas/walk v203.cas/more
cp v203.cas before.cas
like "a CAS: what it names by number stays" "$(animfs clip remove v203.cas/walk 2>&1)" \
	'by its number'
ok "a CAS: nothing has changed" cmp v203.cas before.cas
ok "a CAS: the copy can go" animfs clip remove v203.cas/more
status 2 clip
status 2 clip rename w.canm/stride
status 2 clip sing w.canm/stride
status 2 clip remove w.canm/none
status 2 clip copy w.canm/stride/bones x.canm

# ---- between formats ----
ok "Overwatch to CANM" animfs clip copy small.006/small s.canm
status 0 diff small.006 s.canm
ok "and back" animfs clip copy s.canm/small back.006
status 0 diff s.canm back.006
like "a loop" "$(animfs clip copy one.canm/walk l.006 2>&1)" 'walk loops, and owanim files store no loop'
fails "a file that there is" animfs clip copy s.canm/small small.006
like "names of bones" "$(animfs clip copy one.canm/Idle l.006 2>&1)" 'store the number of a bone'
like "stills" "$(animfs clip copy one.canm/Idle l.kanim 2>&1)" 'is made of curves'
like "a CAS needs more" "$(animfs clip copy one.canm/Idle l.cas 2>&1)" 'a copy of a CAS, edited'
like "no format" "$(animfs clip copy one.canm/Idle l.jpeg 2>&1)" 'no format has this name'
like "a name that is not stored" "$(animfs clip copy s.canm/small l.006/x 2>&1)" 'store no name'
fails "nothing is left of them" compgen -G 'l.*'

# ---- bones ----
cp one.canm w.canm
ok "add, to every clip" animfs bone add w.canm tail
is "add: there" "$(animfs text w.canm | grep -c '^bone .*/tail$')" 4
ok "add: where it is, it stays" animfs bone add w.canm tail
fails "add: in one clip it is there already" animfs bone add w.canm/walk tail
ok "rename in one clip" animfs bone rename w.canm/walk tail ear
is "rename: there alone" "$(animfs text w.canm | grep -c '^bone .*/tail$')" 3
ok "rename in all" animfs bone rename w.canm tail ear2
is "rename: there" "$(animfs text w.canm | grep -c '^bone .*/ear2$')" 3
ok "remove" animfs bone remove w.canm ear ear2
status 0 diff w.canm one.canm
like "no such bone" "$(animfs bone remove w.canm nobody 2>&1)" 'there is no bone "nobody"'
cp w.canm before.canm
fails "all or nothing" animfs bone remove w.canm hip nobody
ok "nothing" cmp w.canm before.canm
like "numbers" "$(animfs bone add small.006 hips 2>&1)" 'accepted here: a name such as "bone_0012"'
like "a file without bones" "$(animfs bone add stick.kanim b 2>&1)" 'have no bones'
status 2 bone
status 2 bone add w.canm
status 2 bone rename w.canm a
status 2 bone add w.canm/walk/bones x
for command in text diff undo clip bone put; do
	like "$command --help" "$(animfs "$command" --help)" "^Usage: animfs $command"
	like "$command is in the help" "$(animfs --help)" "
  $command "
done
cd "$OLDPWD" || exit 1
