#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# containers.sh - the commands on paths into archives, which are only read. overlay.sh has edits.
. "$(dirname "$0")/lib.sh"

data=$PWD/tests/data here=$PWD/tests/mount
game=$WORK/game
mkdir -p "$game/mods"
cp "$data/cpk/nested.cpk" "$game/Root.cpk"
cp "$data/zip/mod.zip" "$game/mods/mod.zip"
cp "$data/canm/wiki512.canm" "$game/walker.canm"
sums() { (cd "$game" && find . -type f -exec sha256sum {} + | sort -k 2); }
before=$(sums)
cd "$game" || exit 1

# ---- ls ----
is "ls lists an archive's folders and files" "$("$ANIMFS" ls Root.cpk)" $'OBJECT/\nWEAPON/\nroot.txt\nUI/'
is "animations and archives in it are listed as folders" "$("$ANIMFS" ls Root.cpk/OBJECT)" \
	$'WALKER.MRAB/\nWALKER.CAS/\nwalker.canm/\nEDF6_768.CANM/'
is "an archive in an archive" "$("$ANIMFS" ls Root.cpk/OBJECT/WALKER.MRAB)" $'TEXTURE/\nMODEL/\nANIMATION/\nHD-TEXTURE/'
is "what is in an animation is as in a file" "$("$ANIMFS" ls Root.cpk/OBJECT/walker.canm/walk/bones)" \
	"$("$ANIMFS" ls walker.canm/walk/bones)"
is "ls -0 prints paths that cat takes" \
	"$("$ANIMFS" ls -0 mods/mod.zip/Root.cpk/WEAPON | xargs -0 "$ANIMFS" cat | sha256sum)" \
	"dd6db5914ad2f250c3e72420363fad72dea6def63ad1c9081d95df8218300ac1  -"
is "ls --json says what is what" "$("$ANIMFS" ls --json Root.cpk/UI Root.cpk/root.txt)" '{"format": "animfs.ls/1", "paths": [
  {"path": "Root.cpk/UI", "type": "folder", "entries": [
    {"name": "FONT", "type": "folder"}
  ]},
  {"path": "Root.cpk/root.txt", "type": "file"}
]}'

# ---- cat ----
for path in Root.cpk/OBJECT/walker.canm Root.cpk/OBJECT/WALKER.MRAB/ANIMATION/walker.canm \
	mods/mod.zip/Root.cpk/OBJECT/WALKER.MRAB/ANIMATION/walker.canm; do
	"$ANIMFS" cat "$path/raw.canm" | cmp -s - walker.canm
	is "raw.canm of $path is the member" $? 0
	is "a bone of $path is that of the file" "$("$ANIMFS" cat "$path/walk/bones/hip.csv")" \
		"$("$ANIMFS" cat walker.canm/walk/bones/hip.csv)"
done
is "a file in an archive is printed unpacked" "$("$ANIMFS" cat Root.cpk/root.txt)" 'in no directory'
is "an archive in an archive is printed as it is" \
	"$("$ANIMFS" cat mods/mod.zip/Root.cpk | cmp - Root.cpk && echo same)" same
like "a CAS has the skeleton of the MRAB beside it" \
	"$("$ANIMFS" cat Root.cpk/OBJECT/WALKER.CAS/skeleton.csv)" $'\nhand_L,Bone01,0.25,0.5,0,'

# Two models in the MRAB of a CAS, neither of its name: none is used, until it is said which.
two=$WORK/two
mkdir -p "$two/in/OBJECT" "$two/rab/MODEL"
"$here/mdb.py" "$two/rab/MODEL/body.mdb" 2
"$here/mdb.py" "$two/rab/MODEL/head.mdb" 3
cp "$data/cas/v203.cas" "$two/in/OBJECT/X.CAS"
python3 "$here/pack.py" rab "$two/in/OBJECT/X.MRAB" "$two/rab"
python3 "$here/pack.py" cpk "$two/Root.cpk" "$two/in"
member=$two/Root.cpk/OBJECT/X.CAS
is "of two models none is used" "$("$ANIMFS" cat "$member/skeleton.csv" 2>/dev/null | grep '^Bone01,')" 'Bone01,,,,,,,,,,'
like "and that is said" "$("$ANIMFS" cat "$member/skeleton.csv" 2>&1 >/dev/null)" \
	'head\.mdb: not used: it is one of several models beside X\.CAS, none of which has its name'
printf 'bone,parent,ty\nBone01,Scene_Root,2\nScene_Root,,\n' >"$two/in/OBJECT/X.CAS.skeleton.csv"
python3 "$here/pack.py" cpk "$two/Root.cpk" "$two/in"
is "its skeleton.csv settles it" "$("$ANIMFS" cat "$member/skeleton.csv" 2>&1 | grep '^Bone01,\|used')" \
	'Bone01,Scene_Root,0,2,0,0,0,0,1,1,1'
cp "$two/rab/MODEL/body.mdb" "$two/rab/MODEL/x.mdb"
rm "$two/in/OBJECT/X.CAS.skeleton.csv"
python3 "$here/pack.py" rab "$two/in/OBJECT/X.MRAB" "$two/rab"
python3 "$here/pack.py" cpk "$two/Root.cpk" "$two/in"
is "so does a model of its name" "$("$ANIMFS" cat "$member/skeleton.csv" 2>&1 | grep '^Bone01,\|used')" \
	'Bone01,Scene_Root,0,2,0,0,0,0,1,1,1'

# Extracted, a CAS finds the model in the MRAB beside it, too.
plain=$WORK/plain
mkdir "$plain"
cp "$data/cas/v203.cas" "$plain/X.CAS"
row() { "$ANIMFS" cat "$plain/X.CAS/skeleton.csv" 2>&1 | grep '^Bone01,\|used'; }
is "without an archive it has none" "$(row)" 'Bone01,,,,,,,,,,'
cp "$two/in/OBJECT/X.MRAB" "$plain/x.mrab"
is "nor with one of another name" "$(row)" 'Bone01,,,,,,,,,,'
mv "$plain/x.mrab" "$plain/X.mrab"
is "a file has the skeleton of the MRAB beside it" "$(row)" 'Bone01,Scene_Root,0,2,0,0,0,0,1,1,1'
mv "$plain/X.mrab" "$plain/X.MRAB"
printf 'bone,parent,ty\nBone01,Scene_Root,7\nScene_Root,,\n' >"$plain/skeleton.csv"
is "not that of the whole folder" "$(row)" 'Bone01,Scene_Root,0,2,0,0,0,0,1,1,1'
"$here/mdb.py" "$plain/x.mdb" 4
is "but that of a model that is a file" "$(row)" 'Bone01,Scene_Root,0,4,0,0,0,0,1,1,1'
rm "$plain/x.mdb" "$two/rab/MODEL/x.mdb"
python3 "$here/pack.py" rab "$plain/X.MRAB" "$two/rab"
like "of two models none is used, and that is said" "$(row)" \
	'head\.mdb: not used: it is one of several models beside X\.CAS, none of which has its name'
printf 'bone,parent,ty\nBone01,Scene_Root,5\nScene_Root,,\n' >"$plain/X.CAS.skeleton.csv"
is "its own skeleton.csv settles it" "$(row)" 'Bone01,Scene_Root,0,5,0,0,0,0,1,1,1'
head -c 64 "$two/in/OBJECT/X.MRAB" >"$plain/X.MRAB"
rm "$plain/X.CAS.skeleton.csv"
is "a damaged archive has no models" "$(row)" 'Bone01,Scene_Root,0,7,0,0,0,0,1,1,1'

# Two models that are files, neither of its name.
rm "$plain/X.MRAB" "$plain/skeleton.csv"
"$here/mdb.py" "$plain/body.mdb" 2
"$here/mdb.py" "$plain/head.mdb" 3
is "of two models that are files none is used, and that is said once" "$(row)" \
	"animfs: head.mdb: not used: it is one of several models beside X.CAS, none of which has its name; saving its skeleton.csv settles which counts
Bone01,,,,,,,,,,"
cp "$two/in/OBJECT/X.MRAB" "$plain/X.MRAB"
like "not if the MRAB beside it has its model" "$(row)" '^Bone01,Scene_Root,0,2,0,0,0,0,1,1,1$'
rm "$plain/X.MRAB"
printf 'bone,parent,ty\nBone01,Scene_Root,6\nScene_Root,,\n' >"$plain/X.CAS.skeleton.csv"
is "its own skeleton.csv settles that" "$(row)" 'Bone01,Scene_Root,0,6,0,0,0,0,1,1,1'

# The archives of a game are one tree, in which the files in Mods lie, too.
tree=$WORK/tree
mkdir -p "$tree/Mods/Object" "$tree/object" "$two"/{root,chunk}/OBJECT
rm "$two/rab/MODEL/head.mdb"
cp "$data/cas/v203.cas" "$two/root/OBJECT/X.CAS"
python3 "$here/pack.py" rab "$two/chunk/OBJECT/x.mrab" "$two/rab"
python3 "$here/pack.py" cpk "$tree/Root.cpk" "$two/root"
python3 "$here/pack.py" cpk "$tree/Chunk01.cpk" "$two/chunk"
row() { "$ANIMFS" cat "$tree/$1/skeleton.csv" 2>&1 | grep '^Bone01,\|used'; }
model2='Bone01,Scene_Root,0,2,0,0,0,0,1,1,1' none='Bone01,,,,,,,,,,'
is "a CAS has the model of an MRAB in another archive of the game" "$(row Root.cpk/OBJECT/X.CAS)" "$model2"
cp "$data/cas/v203.cas" "$tree/Mods/Object/x.cas"
cp "$data/cas/v203.cas" "$tree/object/x.cas"
is "so has a loose file, in any case" "$(row Mods/Object/x.cas)" "$model2"
is "not one elsewhere" "$(row object/x.cas)" "$none"
mkdir -p "$tree/Mods/OBJECT/more"
cp "$data/cas/v203.cas" "$tree/Mods/OBJECT/more/x.cas"
is "nor deeper down" "$(row Mods/OBJECT/more/x.cas)" "$none"
"$here/mdb.py" "$tree/Mods/Object/x.mdb" 4
is "a model beside it comes first" "$(row Mods/Object/x.cas)" 'Bone01,Scene_Root,0,4,0,0,0,0,1,1,1'
mv "$tree/Chunk01.cpk" "$tree/Other.cpk"
is "an archive of another name is of no game" "$(row Root.cpk/OBJECT/X.CAS)" "$none"
head -c 2500 "$tree/Other.cpk" >"$tree/Chunk01.cpk"
is "a damaged one has no models" "$(row Root.cpk/OBJECT/X.CAS)" "$none"

# ---- check, diff, export, import ----
is "check checks every member" "$("$ANIMFS" check . 2>&1)" '15 checked, 0 failed'
is "and those below a folder of an archive" "$("$ANIMFS" check Root.cpk/OBJECT/WALKER.MRAB 2>&1)" '2 checked, 0 failed'
is "shards are made of members" \
	"$(for i in 1 2 3; do "$ANIMFS" check --json --shard=$i/3 .; done | grep -c '"ok": true')" 15
cp "$data/cpk/bad_type.cpk" "$data/cpk/names.cpk" .
is "damaged archives and members fail, and no others" "$("$ANIMFS" check -j1 . 2>&1)" \
	'./bad_type.cpk:0x940: a column has type 14, which is unknown
./names.cpk/object/a.canm:0xa: the file ends inside its header
19 checked, 2 failed'
rm bad_type.cpk names.cpk
is "diff of a member and a file" "$("$ANIMFS" diff Root.cpk/OBJECT/walker.canm walker.canm; echo $?)" 0
is "diff of two members" "$("$ANIMFS" diff -q Root.cpk/OBJECT/walker.canm Root.cpk/OBJECT/EDF6_768.CANM; echo $?)" \
	$'Animations Root.cpk/OBJECT/walker.canm and Root.cpk/OBJECT/EDF6_768.CANM differ\n1'
texts=$WORK/texts
is "export writes members beside their archives" "$("$ANIMFS" export . "$texts" 2>&1)" '15 exported, 0 failed'
is "their texts are those of files" \
	"$(diff -r "$texts/mods/mod.zip.d/Root.cpk.d/OBJECT/WALKER.MRAB.d/ANIMATION/walker.canm/walk/bones" \
		"$texts/walker.canm/walk/bones" && echo same)" same
is "export --update knows them" "$("$ANIMFS" export -u . "$texts" 2>&1)" '0 exported, 15 up to date, 0 failed'
is "import takes texts that are as they were" "$("$ANIMFS" import "$texts" . 2>&1)" '15 files, 0 changed, 0 rejected'
sed -i '2s/translation,0,0,0,/translation,0,0,0.5,/' "$texts/Root.cpk.d/OBJECT/WALKER.CAS/walk/curves.csv"
is "and saves edited ones as loose files" "$("$ANIMFS" import "$texts" . 2>&1 | grep -v undo; find . -path '*overlay/*' -type f)" \
	$'changed Root.cpk.d/OBJECT/WALKER.CAS\n15 files, 1 changed, 0 rejected\n./.animfs/overlay/Root.cpk/OBJECT/WALKER.CAS'
rm -rf .animfs

# ---- what cannot be ----
fails_with()
{
	local name=$1 status=$2 words=$3 out
	shift 3
	out=$("$ANIMFS" "$@" 2>&1 </dev/null >/dev/null)
	is "$name: exit status" $? "$status"
	is "$name: message" "$out" "animfs: $words"
}
fails_with "no such member" 2 \
	'Root.cpk/OBJECT/none: there is no "none" here in the archive' cat Root.cpk/OBJECT/none
fails_with "another spelling" 2 \
	'Root.cpk/object/x: there is no "object" here in the archive, only OBJECT' ls Root.cpk/object/x
fails_with "a file has nothing in it" 2 \
	'Root.cpk/root.txt/x: root.txt is no archive and no animation, and has nothing in it' ls Root.cpk/root.txt/x
fails_with "a folder is not printed" 2 'Root.cpk/OBJECT: a folder; animfs ls lists it' cat Root.cpk/OBJECT
fails_with "what is no animation is not compared" 2 \
	'Root.cpk: no animation; expected one in it, such as OBJECT/WALKER.MRAB/ANIMATION/walker.canm' \
	diff Root.cpk walker.canm
fails_with "members that were not edited have no versions" 1 \
	'Root.cpk/OBJECT/walker.canm: no versions are known of it: it was not saved yet, or with --history=0' \
	log Root.cpk/OBJECT/walker.canm
fails_with "nor has an archive" 2 \
	'Root.cpk: archives are only read, so only the members in them that were edited have old versions' log Root.cpk
"$ANIMFS" cat walker.canm/walk/bones/hip.csv | sed '2s/,-1,2,/,-1,3,/' >"$WORK/text.csv"
like "a member of an archive in an archive is no loose file" \
	"$("$ANIMFS" put mods/mod.zip/Root.cpk/OBJECT/walker.canm/walk/bones/hip.csv "$WORK/text.csv" 2>&1)" \
	'it is in Root.cpk, which is in an archive, too; archives are not written; animfs export takes it out of the archive'
rm -rf .animfs
cp "$data/zip/bad_members.zip" bad.zip
fails_with "a damaged member" 2 'bad.zip/crc.txt: the member is damaged: CRC error' cat bad.zip/crc.txt
is "leaves the others" "$("$ANIMFS" cat bad.zip/good.txt | head -n 1)" good
rm bad.zip

# ---- archives that contain themselves ----
python3 - <<'EOF'
import zipfile
with zipfile.ZipFile('0.zip', 'w') as z:
    z.write('walker.canm')
for i in range(4):
    with zipfile.ZipFile(f'{i + 1}.zip', 'w') as z:
        z.write(f'{i}.zip')
EOF
is "archives are read four deep" "$("$ANIMFS" check 3.zip 2>&1)" '1 checked, 0 failed'
like "and no deeper" "$("$ANIMFS" check 4.zip 2>&1)" 'archives in archives are read 4 deep, no deeper'
rm ./?.zip

# ---- only ever read ----
is "no archive has changed, and nothing was made beside them" "$(sums)" "$before"
if command -v strace >/dev/null; then
	strace -f -o "$WORK/trace" -e trace=open,openat,openat2,creat,truncate "$ANIMFS" check Root.cpk mods 2>/dev/null
	strace -f -A -o "$WORK/trace" -e trace=open,openat,openat2,creat,truncate \
		"$ANIMFS" export . "$WORK/more" 2>/dev/null
	strace -f -A -o "$WORK/trace" -e trace=open,openat,openat2,creat,truncate \
		"$ANIMFS" put Root.cpk/OBJECT/walker.canm/walk/bones/hip.csv "$WORK/text.csv"
	is "archives are opened" "$(grep -c '\.\(cpk\|zip\)", O_RDONLY' "$WORK/trace" | awk '{ print ($1 > 0) }')" 1
	is "and never for writing" "$(grep '\.\(cpk\|zip\)"' "$WORK/trace" | grep -c 'O_WRONLY\|O_RDWR\|O_CREAT\|O_TRUNC\|truncate(')" 0
else
	skip "strace is not installed"
fi
