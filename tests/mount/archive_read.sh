#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# archive_read.sh - archives in a mount: the folder beside each, with all members, read-only.
. "$(dirname "$0")/lib.sh"

data=$PWD/tests/data
pack=$PWD/tests/mount/pack.py
sha() { sha256sum | cut -d' ' -f1; }
errors() { cat "$MNT/.animfs/errors"; }
cp "$data/cpk/"*.cpk "$data/rab/"*.rab "$data/rab/walker.mrab" "$data/zip/"*.zip "$SRC"
mv "$SRC/nested.cpk" "$SRC/Root.cpk"
mkdir "$SRC/extracted"
"$ANIMFS" cat "$SRC/Root.cpk/OBJECT/WALKER.MRAB" >"$SRC/extracted/WALKER.MRAB"
"$ANIMFS" cat "$SRC/Root.cpk/OBJECT/WALKER.CAS/raw.CAS" >"$SRC/extracted/WALKER.CAS"
mkdir -p "$WORK/walker/MODEL"
"$ANIMFS" cat "$SRC/Root.cpk/OBJECT/WALKER.MRAB/MODEL/walker.mdb" >"$WORK/walker/MODEL/walker.mdb"
cp "$WORK/walker/MODEL/walker.mdb" "$SRC/extracted/walker.mdb"
before=$(cd "$SRC" && find . -type f -exec sha256sum {} + | sort -k 2)
mount_animfs --type '*.cas=cas'

# ---- what is where ----
top=$MNT/Root.cpk.d
ok "the archive stays a file" same_file "$MNT/Root.cpk" "$SRC/Root.cpk"
is "its folder is beside it" "$(ls "$MNT" | grep -c '^Root\.cpk')" 2
is "it has what the archive has" "$(cd "$top" && find . -maxdepth 2 | sort)" \
	$'.\n./OBJECT\n./OBJECT/EDF6_768.CANM\n./OBJECT/WALKER.CAS\n./OBJECT/WALKER.MRAB\n./OBJECT/WALKER.MRAB.d\n./OBJECT/walker.canm\n./UI\n./UI/FONT\n./WEAPON\n./WEAPON/readme.txt\n./root.txt'
is "a file has its size, time and mode" "$(stat -c '%s %a %F' "$top/WEAPON/readme.txt")" '3000 444 regular file'
is "and the archive's owner" "$(stat -c '%u %g' "$top/root.txt")" "$(stat -c '%u %g' "$SRC/Root.cpk")"
like "its time is the one that is stored" "$(TZ=UTC stat -c %y "$top/root.txt")" '^2024-02-29 '
is "its bytes are those unpacked" "$(sha <"$top/WEAPON/readme.txt")" \
	dd6db5914ad2f250c3e72420363fad72dea6def63ad1c9081d95df8218300ac1
is "so are those of an empty one" "$(wc -c <"$top/UI/FONT/empty.bin")" 0
is "a part of it" "$(dd if="$top/WEAPON/readme.txt" bs=1 skip=2990 count=100 2>/dev/null | wc -c)" 10
like "an animation has every view" "$(ls "$top/OBJECT/walker.canm" "$top/OBJECT/walker.canm/walk")" 'raw\.canm.*clip\.gltf'
ok "its texts are those of the extracted file" \
	diff -r --exclude=skeleton.csv --exclude='*.x3d' --exclude='clip.*' "$top/OBJECT/WALKER.CAS" "$MNT/extracted/WALKER.CAS"
like "a CAS has the skeleton of the MRAB beside it" "$(cat "$top/OBJECT/WALKER.CAS/skeleton.csv")" \
	$'\nhand_L,Bone01,0.25,0.5,0,'
is "an archive in an archive" "$(ls "$top/OBJECT/WALKER.MRAB.d")" $'ANIMATION\nHD-TEXTURE\nMODEL\nTEXTURE'
ok "what is in it" same_file "$top/OBJECT/WALKER.MRAB.d/MODEL/walker.mdb" "$SRC/extracted/walker.mdb"
ok "deeper down" same_file "$MNT/mod.zip.d/Root.cpk.d/OBJECT/WALKER.MRAB.d/MODEL/walker.mdb" "$SRC/extracted/walker.mdb"
ok "all of a ZIP" test -d "$MNT/mod.zip.d/Root.cpk.d/OBJECT/WALKER.CAS/walk/bones"
is "find sees everything" "$(find "$MNT/Root.cpk.d" "$MNT/mod.zip.d" -name 'raw.*' | wc -l)" \
	"$("$ANIMFS" check --json "$SRC/Root.cpk" "$SRC/mod.zip" 2>&1 | grep -c '"ok": true')"

# every member of every sample, by what the maker of the sample says
python3 - "$MNT" "$data" <<'EOF' >"$WORK/members" 2>&1
import glob, hashlib, json, os, sys
mnt, data = sys.argv[1:]
for path in sorted(glob.glob(data + "/cpk/*.json") + glob.glob(data + "/rab/*.json") + glob.glob(data + "/zip/*.json")):
    with open(path) as f:
        want = json.load(f)
    if not want["valid"]:
        continue
    hashes = {m["sha256"] for m in want["members"] if m.get("sha256")}
    name = os.path.basename(path)[:-len(".expect.json")]
    name = "Root" if name == "nested" else name
    kind = os.path.basename(os.path.dirname(path))
    folder = [f for f in os.listdir(mnt) if f.startswith(name + ".") and f.endswith(kind + ".d")][0]
    got = set()
    for where, folders, files in os.walk(os.path.join(mnt, folder)):
        if any(f.startswith("raw.") for f in files):
            folders.clear()
            files = [f for f in files if f.startswith("raw.")]
        folders[:] = [f for f in folders if not f.lower().endswith((".mrab.d", ".cpk.d", ".rab.d"))]
        for f in files:
            try:
                with open(os.path.join(where, f), "rb") as g:
                    got.add(hashlib.sha256(g.read()).hexdigest())
            except OSError:
                got.add("error")
    if hashes - got:
        print(folder, "lacks", len(hashes - got))
    if any("error" in m for m in want["members"]) != ("error" in got):
        print(folder, "errors")
EOF
is "every member of every sample has its bytes" "$(cat "$WORK/members")" ""

# ---- names ----
is "hostile names lead nowhere" "$(find "$MNT/names.cpk.d" -type f -name 'evil' -printf '%P\n')" '%2E%2E/%2E%2E/evil'
ok "equal names are all there" test -e "$MNT/names.cpk.d/OBJECT/A.CANM~2"
mkdir "$SRC/walker.mrab.d"
ok "an entry that others make shows" wait_for 5 sh -c "test -e '$MNT/walker.mrab.d~2' && ! test -e '$MNT/walker.mrab.d/MODEL'"
names_are() { [ "$(ls "$1" | grep "^$2")" = "$3" ]; }
ok "a real entry of the folder's name wins" wait_for 5 names_are "$MNT" walker $'walker.mrab\nwalker.mrab.d\nwalker.mrab.d~2'
is "with what is in it" "$(ls "$MNT/walker.mrab.d")" ""
ok "and the folder has ~2" test -f "$MNT/walker.mrab.d~2/MODEL/walker.mdb"
rmdir "$SRC/walker.mrab.d"
ok "until it is gone" wait_for 5 test -f "$MNT/walker.mrab.d/MODEL/walker.mdb"

# ---- a large folder ----
nodes() { sed -n 's/^nodes //p' "$MNT/.animfs/status"; }
python3 "$pack" sparse "$SRC/large.cpk" 2000 100000000
ok "a large archive shows" wait_for 5 test -d "$MNT/large.cpk.d/d001"
before_nodes=$(nodes)
is "it has all names" "$(ls -f "$MNT"/large.cpk.d/* | grep -c '^f')" 2000
ok "and listing them looks none up" test "$(($(nodes) - before_nodes))" -lt 20
is "they have attributes all the same" "$(ls -l "$MNT/large.cpk.d/d001" | awk '$1 == "-r--r--r--" && $5 == 4096' | wc -l)" 1000
rm "$SRC/large.cpk"

# ---- what is damaged ----
is "a damaged archive is a file only" "$(ls "$MNT" | grep '^bad_type.cpk')" bad_type.cpk
fails "its folder cannot be reached" ls "$MNT/bad_type.cpk.d"
like "the reason is listed" "$(errors)" 'bad_type\.cpk: shown as it is: a column has type 14, which is unknown'
is "and is its attribute" "$(getfattr --absolute-names --only-values -n user.animfs.error "$MNT/bad_type.cpk" 2>&1)" \
	'a column has type 14, which is unknown'
bad=$MNT/bad_members.cpk.d/b
is "a damaged member does not hide the others" "$(wc -c <"$bad/good.txt")" 2000
is "it is listed" "$(ls "$bad" | wc -l)" 8
for name in size_lie cut starved far beyond wrap plain_lie; do
	like "reading $name fails" "$(cat "$bad/$name.bin" 2>&1)" 'Input/output error'
	like "$name has the reason" "$(getfattr --absolute-names --only-values -n user.animfs.error "$bad/$name.bin" 2>&1)" '[a-z]{3} '
done
like "they are listed, too" "$(errors)" 'bad_members\.cpk\.d/b/starved\.bin: not read: '
cp "$data/cpk/columns.cpk" "$SRC/bad_type.cpk"
ok "an archive that is repaired has its folder" wait_for 5 test -d "$MNT/bad_type.cpk.d"
ok "and is not listed any more" wait_for 5 sh -c "! grep -q bad_type.cpk '$MNT/.animfs/errors'"
cp "$data/cpk/bad_type.cpk" "$SRC/bad_type.cpk"
ok "one that is damaged has none" wait_for 5 sh -c "! test -e '$MNT/bad_type.cpk.d'"

mkdir -p "$WORK/outer"
cp "$data/rab/bad_count.rab" "$WORK/outer/X.RAB"
cp "$data/canm/wiki512.canm" "$WORK/outer/a.canm"
head -c 20 "$data/canm/wiki512.canm" >"$WORK/outer/cut.canm"
python3 "$pack" cpk "$SRC/outer.cpk" "$WORK/outer"
is "an archive in an archive is not opened to list it" "$(ls "$MNT/outer.cpk.d")" \
	$'X.RAB\nX.RAB.d\na.canm\ncut.canm'
like "entering it fails" "$(ls "$MNT/outer.cpk.d/X.RAB.d" 2>&1)" 'Input/output error'
like "with the reason" "$(errors)" 'outer\.cpk\.d/X\.RAB.*: '
ok "and then it is known" wait_for 10 sh -c "! ls '$MNT/outer.cpk.d/X.RAB.d' 2>/dev/null &&
	! ls '$MNT/outer.cpk.d' | grep -q 'X.RAB.d'"
ok "an animation that does not decode is a file" test -f "$MNT/outer.cpk.d/cut.canm"
like "with the reason" "$(getfattr --absolute-names --only-values -n user.animfs.error "$MNT/outer.cpk.d/cut.canm")" 'ends inside'
like "which is listed" "$(errors)" 'outer\.cpk\.d/cut\.canm: shown as it is: '

# ---- nothing can be changed ----
refused() { like "$1" "$(LC_ALL=C; shift; "$@" 2>&1)" 'Read-only file system'; }
refused "a file cannot be written" tee "$top/root.txt"
refused "nor removed" rm -f "$top/root.txt"
refused "nor renamed" mv "$top/root.txt" "$top/other.txt"
refused "nor moved away" mv "$top/root.txt" "$MNT/other.txt"
refused "nor linked" ln "$top/root.txt" "$MNT/other.txt"
refused "nor made" touch "$top/new.txt"
refused "nor moved in" mv "$MNT/extracted/walker.mdb" "$top/walker.mdb"
refused "nor given a mode" chmod 600 "$top/root.txt"
refused "nor a folder made" mkdir "$top/OBJECT/new"
refused "nor the folder removed" rmdir "$top"
refused "nor renamed" mv "$top" "$MNT/other"
like "they are named" "$(errors)" 'Root\.cpk\.d/root\.txt: not changed: .*archives are only read'
ok "rm -r removes nothing" sh -c "! rm -r '$top' 2>/dev/null && test -f '$top/root.txt'"
is "no archive has changed" "$(cd "$SRC" && find . -type f ! -name bad_type.cpk ! -name outer.cpk ! -path './.animfs/*' -exec sha256sum {} + | sort -k 2)" \
	"$(grep -v bad_type.cpk <<<"$before")"

# ---- others change it ----
mkdir -p "$WORK/one" "$WORK/two"
head -c 5000000 /dev/urandom >"$WORK/one/big.bin"
head -c 5000000 /dev/urandom >"$WORK/two/big.bin"
cp "$data/canm/wiki512.canm" "$WORK/one/a.canm"
cp "$data/canm/edf6_768.canm" "$WORK/two/a.canm"
echo one >"$WORK/one/only.txt"
python3 "$pack" cpk "$SRC/turn.cpk" "$WORK/one"
python3 "$pack" cpk "$WORK/next.cpk" "$WORK/two"
turn=$MNT/turn.cpk.d
ok "an archive that is added shows" wait_for 5 test -f "$turn/big.bin"
exec 5<"$turn/big.bin" 6<"$turn/a.canm/raw.canm"
head -c 1000000 <&5 >"$WORK/read"
mv "$WORK/next.cpk" "$SRC/turn.cpk"
cat <&5 >>"$WORK/read"
ok "who reads a member reads on in the archive that is gone" same_file "$WORK/read" "$WORK/one/big.bin"
ok "so does who reads a text" sh -c "cmp - '$WORK/one/a.canm' <&6"
exec 5<&- 6<&-
ok "who opens it then finds the new one" wait_for 5 same_file "$turn/big.bin" "$WORK/two/big.bin"
ok "animations are those of the new one" wait_for 5 same_file "$turn/a.canm/raw.canm" "$WORK/two/a.canm"
ok "and the names" wait_for 5 names_are "$turn" '' $'a.canm\nbig.bin'
python3 "$pack" cpk "$SRC/turn.cpk" "$WORK/one"
ok "one that is written in place shows" wait_for 5 same_file "$turn/big.bin" "$WORK/one/big.bin"
ok "with its animations" wait_for 5 same_file "$turn/a.canm/raw.canm" "$WORK/one/a.canm"
rm "$SRC/turn.cpk"
ok "one that is removed is gone" wait_for 5 sh -c "! test -e '$turn'"
fails "with all that was in it" cat "$turn/big.bin"

# ---- many readers, and a cache that is too small ----
umount_animfs
python3 "$pack" cpk "$SRC/turn.cpk" "$WORK/one"
mount_animfs --cache=100K
sums() { (cd "$MNT" && find Root.cpk.d mod.zip.d turn.cpk.d -type f ! -name '*.html' -print0 | xargs -0 sha256sum | sort -k 2 | sha); }
first=$(sums)
for i in 1 2 3 4; do sums >"$WORK/sums.$i" & pids[i]=$!; done
wait "${pids[@]}"
is "parallel readers read the same" "$(cat "$WORK"/sums.*)" "$(printf '%s\n' "$first" "$first" "$first" "$first")"
umount_animfs

# ---- read-only, and with folders beside all animations ----
mount_animfs -o ro
is "a read-only mount has the same texts" "$(sums)" "$first"
cp "$data/rab/walker.mrab" "$SRC/new.mrab"
ok "a new archive shows there, too" wait_for 5 test -d "$MNT/new.mrab.d/MODEL"
cp "$data/cpk/toc_end.cpk" "$SRC/turn.cpk"
ok "and one that changes" wait_for 5 test -f "$MNT/turn.cpk.d/a/text.txt"
umount_animfs
mount_animfs --beside
is "with --beside an animation in an archive stays a file" "$(ls "$MNT/Root.cpk.d/OBJECT")" \
	$'EDF6_768.CANM\nEDF6_768.CANM.d\nWALKER.CAS\nWALKER.CAS.d\nWALKER.MRAB\nWALKER.MRAB.d\nwalker.canm\nwalker.canm.d'
ok "with its texts beside it" test -f "$MNT/Root.cpk.d/OBJECT/walker.canm.d/walk/bones/hip.csv"
ok "and its bytes" same_file "$MNT/Root.cpk.d/OBJECT/walker.canm" "$data/canm/wiki512.canm"
umount_animfs

# ---- a model in another archive of the game ----
rm -r "$SRC"
mkdir -p "$SRC/game/Mods/OBJECT" "$WORK"/{root,chunk}/OBJECT "$WORK/rab/MODEL"
cp "$data/cas/v203.cas" "$WORK/root/OBJECT/X.CAS"
cp "$data/cas/v203.cas" "$SRC/game/Mods/OBJECT/Y.CAS"
# chunk HEIGHT: an archive with a model for X, which has this height
chunk()
{
	tests/mount/mdb.py "$WORK/rab/MODEL/body.mdb" "$1"
	python3 "$pack" rab "$WORK/chunk/OBJECT/X.MRAB" "$WORK/rab"
	cp "$WORK/chunk/OBJECT/X.MRAB" "$WORK/chunk/OBJECT/Y.MRAB"
	python3 "$pack" cpk "$WORK/chunk.cpk" "$WORK/chunk"
}
has_row() { grep -qx "Bone01,$2" "$MNT/game/$1/skeleton.csv"; }
python3 "$pack" cpk "$SRC/game/Root.cpk" "$WORK/root"
chunk 2
cp "$WORK/chunk.cpk" "$SRC/game/Chunk01.cpk"
chunk 3
mount_animfs
for path in Root.cpk.d/OBJECT/X.CAS Mods/OBJECT/Y.CAS; do
	ok "$path has the model that Chunk01.cpk has" has_row "$path" 'Scene_Root,0,2,0,0,0,0,1,1,1'
done
cp "$WORK/chunk.cpk" "$WORK/new.cpk"
mv "$WORK/new.cpk" "$SRC/game/Chunk01.cpk"
for path in Root.cpk.d/OBJECT/X.CAS Mods/OBJECT/Y.CAS; do
	ok "$path has that of a new one" wait_for 5 has_row "$path" 'Scene_Root,0,3,0,0,0,0,1,1,1'
done
rm "$SRC/game/Chunk01.cpk"
for path in Root.cpk.d/OBJECT/X.CAS Mods/OBJECT/Y.CAS; do
	ok "$path has none when that is gone" wait_for 5 has_row "$path" ',,,,,,,,,'
done
umount_animfs
cp "$WORK/chunk.cpk" "$SRC/game/Chunk01.cpk"
SRC=$SRC/game/Mods/OBJECT
mount_animfs
ok "what is above SOURCE is not read" grep -qx 'Bone01,,,,,,,,,,' "$MNT/Y.CAS/skeleton.csv"
umount_animfs
