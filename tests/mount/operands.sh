#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# operands.sh - operands that are symbolic links, and how large the files and texts that commands
# read may be. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
data=$PWD/tests/data
cd "$SRC" || exit 1
animfs() { "$ANIMFS" "$@"; }
# status NUMBER COMMAND...: it ends with that status
status()
{
	local want=$1
	shift
	is "$*: status" "$("$ANIMFS" "$@" >/dev/null 2>&1; echo $?)" "$want"
}

# ---- links ----

mkdir real links
cp "$data/canm/wiki512.canm" real/w.canm
printf CANM >real/broken.canm
ln -s ../real/w.canm links/w.canm
ln -s w.canm links/chain.canm
ln -s ../real/w.canm links/noname
ln -s ../real/broken.canm links/broken.canm
ln -s ../real/none.canm links/dangling.canm
ln -s real folder
bone=walk/bones/hip.csv

for command in ls text formats check; do
	is "$command of a link is that of the file" \
		"$(animfs $command links/chain.canm 2>&1 | sed 's|links/chain|real/w|')" \
		"$(animfs $command real/w.canm 2>&1)"
done
is "cat of a link is that of the file" "$(animfs cat links/w.canm/$bone)" "$(animfs cat real/w.canm/$bone)"
is "a link to a folder is walked" "$(animfs check folder 2>&1 >/dev/null)" "2 checked, 1 failed"
is "links in a folder are not followed" "$(animfs check links 2>&1)" "0 checked, 0 failed"
like "what fails is called as it was given" "$(animfs check links/broken.canm 2>/dev/null)" \
	'^links/broken\.canm:0x'
is "also in lists" "$(printf 'links/broken.canm\0' | animfs check -0 --files0-from=- 2>/dev/null | tr '\0' .)" \
	links/broken.canm.
status 0 diff links/w.canm real/w.canm
status 0 formats links/noname
status 2 check links/dangling.canm
status 2 cat links/dangling.canm/$bone
mkdir elsewhere
cp -P links/dangling.canm elsewhere
status 1 clip new elsewhere/dangling.canm/walk
fails "nothing is made where it leads" test -e real/none.canm

animfs cat real/w.canm/$bone | sed 's/,0.5000076,/,0.25,/' | animfs put links/w.canm/$bone
like "put goes to the file" "$(animfs cat real/w.canm/$bone)" ',0.2500038,'
ok "the link stays" test -L links/w.canm
animfs bone remove links/chain.canm hip
is "bone remove, too" "$(animfs ls real/w.canm/walk/bones | grep -c hip)" 0
like "what is kept is kept with the file" "$(animfs log real/w.canm)" 'hip removed'
ok "and put back there" animfs undo links/w.canm
is "as it was" "$(animfs ls real/w.canm/walk/bones | grep -c hip)" 3
printf 'bone,parent\nhip,\nBone01,hip\n' >real/w.canm.skeleton.csv
like "a skeleton is the one beside the file" "$(animfs cat links/w.canm/skeleton.csv)" 'Bone01,hip'
animfs cat links/w.canm/skeleton.csv | sed 's/Bone01,hip/Bone01,/' | animfs put links/w.canm/skeleton.csv
like "and is saved there" "$(cat real/w.canm.skeleton.csv)" 'Bone01,,'
printf 'bone,parent\nhip,\nBone01,hip\nmore,hip\n' >real/w.canm.skeleton.csv
animfs cat links/w.canm/skeleton.csv | grep -v more | animfs put links/w.canm/skeleton.csv
ok "what it was can be put back" animfs undo links/chain.canm/skeleton.csv
like "there" "$(cat real/w.canm.skeleton.csv)" 'more,hip'
fails "beside the link is nothing" compgen -G 'links/*skeleton*'
fails "nor a state directory" test -e links/.animfs

# ---- --max-file ----

size=$(stat -c %s real/w.canm)
for command in ls text check; do
	like "$command of a file that is too large" "$(animfs $command --max-file=100 real/w.canm 2>&1)" \
		'the file is larger than 100 bytes, the limit'
	status 0 $command --max-file="$size" real/w.canm
done
status 2 cat --max-file=100 real/w.canm/$bone
status 2 put --max-file=100 real/w.canm/$bone /dev/null
status 2 diff --max-file=100 real/w.canm links/w.canm
status 1 check --max-file=100 real/w.canm
rm real/broken.canm
like "export leaves it out" "$(animfs export --max-file=100 real out 2>&1)" \
	'w\.canm: the file is larger than 100 bytes.*0 exported, 1 failed'
status 0 export --max-file=1K real out
status 2 check --max-file=many real/w.canm

# ---- --max-text ----

sed -i 's/,0.2500038,/,0.5,/' out/w.canm/$bone
status 2 put --max-text=10 real/w.canm/$bone out/w.canm/$bone
like "import refuses what is too large" "$(animfs import --max-text=10 out real 2>&1)" \
	'File too large.*1 rejected'
like "also when it stands for a file" "$(animfs import --max-file=10 out real 2>&1)" \
	'raw\.canm: File too large.*1 rejected'
like "and the file is as it was" "$(animfs cat real/w.canm/$bone)" ',0.2500038,'
status 0 import --max-text=1M out real
like "with more room it is saved" "$(animfs cat real/w.canm/$bone)" ',0.5000'
for command in cat put export import; do
	like "$command --help has it" "$(animfs $command --help)" '--max-text=SIZE'
done

# A text of 260 MiB from 400 kB: bones share their keys.
python3 - "$OLDPWD/tests/mount" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from bombs import canm, names_of, rows_of
with open("large.canm", "wb") as out:
    out.write(canm([("walk", 65535, 0, 160)], rows_of(160), names_of(160), [(1, 65535)],
                   bytes(6 * 65535)))
PYTHON
like "a text of more than 256 MiB" "$(animfs cat large.canm/walk/curves.csv 2>&1 >/dev/null)" \
	'large\.canm/walk/curves\.csv: File too large'
like "is printed where it may" \
	"$(animfs cat --max-text=600M large.canm/walk/curves.csv | wc -c)" '^(2[789]|[3-5].)[0-9]{7}$'
cd "$OLDPWD" || exit 1
