#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# overlay.sh - edits of members of archives become loose files, where the game takes them.
# limit: 900
. "$(dirname "$0")/lib.sh"

tests=$PWD/tests/mount
data=$PWD/tests/data
cas=$data/cas/v203.cas canm=$data/canm/wiki512.canm
export PYTHONDONTWRITEBYTECODE=1

# A game with an archive of these members: a CAS and a CANM, plain and packed.
make_edf() # FOLDER
{
	mkdir -p "$1"
	touch "$1/EDF6.exe"
	python3 "$tests/cpk.py" "$1/Root.cpk" "OBJECT/PLAIN.CAS=$cas" "OBJECT/PACKED.CAS=$cas:packed" \
		"OBJECT/PLAIN.CANM=$canm" "OBJECT/PACKED.CANM=$canm:packed" "OBJECT/X.MRAB=$data/rab/walker.mrab" \
		"TOP.CAS=$cas" "A/B/DEEP.CAS=$cas"
}
loads() { python3 "$tests/loader.py" "$1" "/cri_bind/$2"; }
# Prints the first view of a bone in an animation.
bone_of() # FILE
{
	local clip
	clip=$("$ANIMFS" ls "$1" | grep / | head -n 1)
	echo "${clip}bones/$("$ANIMFS" ls "$1/${clip}bones" | grep 'csv$' | head -n 1)"
}
# A text with another value in its first row.
edited()
{
	if [ -f "$1" ]; then cat "$1"; else "$ANIMFS" cat "$1"; fi | awk -F, -v OFS=, 'NR == 2 { for (i = 3; i <= NF; i++) if ($i != "") { $i += 1; break } } 1'
}
# Everything about the archives that a write would change.
archives() { find "$1" -iname '*.cpk' -o -iname '*.zip' | sort | xargs stat -c '%n %s %y %z %i' && find "$1" -iname '*.cpk' -exec sha256sum {} +; }

# ---- what an edit makes is what an edit of the extracted member would have made ----
game=$WORK/game out=$WORK/extracted
mkdir "$out"
make_edf "$game"
(cd "$WORK" && python3 - "$cas" "$canm" <<'END'
import sys, zipfile
for name, how in (("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(name, "w", how) as out:
        for path in sys.argv[1:]:
            out.write(path, "OBJECT/" + ("PLAIN" + path[path.rindex("."):]).upper())
END
) || exit 1
before=$(archives "$game")
for kind in CAS CANM; do
	for name in PLAIN PACKED; do
		from=$cas
		[ $kind = CAS ] || from=$canm
		cp "$from" "$out/$name.$kind"
		bone=$(bone_of "$out/$name.$kind")
		edited "$out/$name.$kind/$bone" >"$WORK/text.csv"
		ok "$name.$kind: put into the extracted member" "$ANIMFS" put "$out/$name.$kind/$bone" "$WORK/text.csv"
		ok "$name.$kind: put into the archive" "$ANIMFS" put "$game/Root.cpk/OBJECT/$name.$kind/$bone" "$WORK/text.csv"
		is "$name.$kind: the game gets the loose file" "$(loads "$game" "OBJECT/$name.$kind")" "Mods/OBJECT/$name.$kind"
		ok "$name.$kind: which is the edited member" cmp "$game/Mods/OBJECT/$name.$kind" "$out/$name.$kind"
		ok "$name.$kind: and differs from the stock one" test "$(cmp -s "$game/Mods/OBJECT/$name.$kind" "$from"; echo $?)" = 1
	done
	for zip in stored deflated; do
		mkdir -p "$WORK/zips"
		cp "$WORK/$zip.zip" "$WORK/zips"
		ok "$kind in $zip.zip: put" "$ANIMFS" put "$WORK/zips/$zip.zip/OBJECT/PLAIN.$kind/$bone" "$WORK/text.csv"
		ok "$kind in $zip.zip: is the edited member" \
			cmp "$WORK/zips/.animfs/overlay/$zip.zip/OBJECT/PLAIN.$kind" "$out/PLAIN.$kind"
		ok "$kind in $zip.zip: the archive stays" cmp "$WORK/zips/$zip.zip" "$WORK/$zip.zip"
	done
done
is "the archives are as they were" "$(archives "$game")" "$before"
is "other members are the archive's" "$(loads "$game" TOP.CAS)$(loads "$game" OBJECT/X.MRAB)" archivearchive

# ---- what the commands show is what the game loads ----
bone=$(bone_of "$canm")
member=$game/Root.cpk/OBJECT/PLAIN.CANM
is "cat" "$("$ANIMFS" cat "$member/$bone")" "$("$ANIMFS" cat "$game/Mods/OBJECT/PLAIN.CANM/$bone")"
is "diff with the stock file" "$("$ANIMFS" diff -q "$member" "$canm" >/dev/null; echo $?)" 1
ok "diff with the loose file" "$ANIMFS" diff "$member" "$game/Mods/OBJECT/PLAIN.CANM"
is "export writes the loose file's texts" "$("$ANIMFS" export "$game" "$WORK/texts" >/dev/null 2>&1
	cat "$WORK/texts/Root.cpk.d/OBJECT/PLAIN.CANM/$bone")" "$("$ANIMFS" cat "$member/$bone")"
like "status lists the loose files" "$("$ANIMFS" status "$game")" $'loose      4 .*\n    Mods/OBJECT/PACKED.CANM\n    Mods/OBJECT/PACKED.CAS\n    Mods/OBJECT/PLAIN.CANM\n    Mods/OBJECT/PLAIN.CAS$'
mkdir -p "$WORK/library/steamapps/common"
cp -a "$game" "$WORK/library/steamapps/common/EDF6"
mv "$WORK/library/steamapps/common/EDF6/.animfs" "$WORK/library"
like "and those of a game folders down" "$("$ANIMFS" status "$WORK/library")" \
	$'loose      4 .*\n    steamapps/common/EDF6/Mods/OBJECT/PACKED.CANM\n'
like "and as JSON" "$("$ANIMFS" status --json "$WORK/zips" | tr -d '\n')" '"loose": \[ *"[^"]*\.animfs/overlay/deflated.zip/OBJECT/PLAIN.CANM",'
is "status -0 prints their files, for tar" "$("$ANIMFS" status -0 "$WORK/zips" | (cd "$WORK/zips" && tar --null -cT - | tar -t) | sort)" \
	"$(cd "$WORK/zips" && find .animfs/overlay -type f | sort)"
cp "$game/Mods/OBJECT/PLAIN.CANM" "$WORK/good"
echo damaged >"$game/Mods/OBJECT/PLAIN.CANM"
like "check looks at the loose file" "$("$ANIMFS" check "$game/Root.cpk" 2>&1)" 'Root.cpk/OBJECT/PLAIN.CANM'
cp "$WORK/good" "$game/Mods/OBJECT/PLAIN.CANM"
rm "$game/Mods/OBJECT/PLAIN.CANM"
ok "removed, the archive's member is back" "$ANIMFS" diff "$member" "$canm"

# ---- saving the same writes nothing ----
edf=$WORK/edf
make_edf "$edf"
ok "put of the member's own text" "$ANIMFS" put "$edf/Root.cpk/OBJECT/PLAIN.CANM/$bone" <(
	"$ANIMFS" cat "$edf/Root.cpk/OBJECT/PLAIN.CANM/$bone")
is "makes nothing" "$(ls -A "$edf")" $'EDF6.exe\nRoot.cpk'
ok "a refused text" test "$(echo nonsense | "$ANIMFS" put "$edf/Root.cpk/OBJECT/PLAIN.CANM/$bone" 2>/dev/null; echo $?)" = 1
is "makes none, either" "$(ls -A "$edf")" $'EDF6.exe\nRoot.cpk'

# ---- every spelling ----
n=0
for spelling in mods Mods/object MODS/Object/ mods/OBJECT/plain.CANM Mods/object/Plain.canm Mods/OBJECT/PLAIN.CANM Mods/a/b; do
	edf=$WORK/spelling$((++n))
	make_edf "$edf"
	case $spelling in
	*.*) mkdir -p "$edf/${spelling%/*}" && cp "$canm" "$edf/$spelling" ;;
	*) mkdir -p "$edf/$spelling" ;;
	esac
	for at in OBJECT/PLAIN.CANM A/B/DEEP.CAS TOP.CAS; do
		b=$(bone_of "$edf/Root.cpk/$at")
		edited "$edf/Root.cpk/$at/$b" >"$WORK/text.csv"
		ok "$spelling: put $at" "$ANIMFS" put "$edf/Root.cpk/$at/$b" "$WORK/text.csv"
		lower=${at,,}
		for path in "$at" "$lower"; do
			got=$(loads "$edf" "$path")
			is "$spelling: the game gets $path from Mods" "${got,,}" "mods/$lower"
			is "$spelling: with the edit" "$("$ANIMFS" cat "$edf/$got/$b")" "$("$ANIMFS" cat "$edf/Root.cpk/$at/$b")"
		done
	done
	is "$spelling: no name is there twice" "$(cd "$edf" && find . -path ./.animfs -prune -o -print | sort -f | uniq -di)" ""
	case $spelling in
	*.*) is "$spelling: the file that was there is the one" "$(cd "$edf" && find . -iname plain.canm)" "./$spelling" ;;
	esac
done

# ---- log, undo, redo ----
edf=$WORK/undo
make_edf "$edf"
member=$edf/Root.cpk/OBJECT/PACKED.CANM
fails "no versions before the first edit" "$ANIMFS" log "$member"
edited "$member/$bone" >"$WORK/one.csv"
edited "$WORK/one.csv" >"$WORK/two.csv"
"$ANIMFS" put "$member/$bone" "$WORK/one.csv" && cp "$edf/Mods/OBJECT/PACKED.CANM" "$WORK/one"
"$ANIMFS" put "$member/$bone" "$WORK/two.csv" && cp "$edf/Mods/OBJECT/PACKED.CANM" "$WORK/two"
like "log lists both edits" "$("$ANIMFS" log "$member")" $'^\\*    2 .*walk: .*\n     1 .*walk: '
is "log of the loose file is the same" "$("$ANIMFS" log "$edf/Mods/OBJECT/PACKED.CANM")" "$("$ANIMFS" log "$member")"
cp "$WORK/one" "$out/one.canm"
is "an old view" "$("$ANIMFS" cat --version=1 "$member/$bone")" "$("$ANIMFS" cat "$out/one.canm/$bone")"
ok "undo" "$ANIMFS" undo "$member"
ok "goes back to the first edit" cmp "$edf/Mods/OBJECT/PACKED.CANM" "$WORK/one"
ok "undo of the first edit" "$ANIMFS" undo "$member"
fails "removes the loose file" test -e "$edf/Mods/OBJECT/PACKED.CANM"
ok "and shows the archive's" "$ANIMFS" diff "$member" "$canm"
is "there is nothing else to undo" "$("$ANIMFS" undo "$member" 2>&1; echo $?)" "animfs: $member: there is nothing to undo"$'\n1'
rm -r "$edf/Mods"
ok "redo" "$ANIMFS" redo "$member"
ok "brings the first edit back" cmp "$edf/Mods/OBJECT/PACKED.CANM" "$WORK/one"
ok "redo again" "$ANIMFS" redo "$member"
ok "the second" cmp "$edf/Mods/OBJECT/PACKED.CANM" "$WORK/two"
fails "redo of nothing" "$ANIMFS" redo "$member"

# ---- skeletons and clips ----
edf=$WORK/rest
mkdir "$edf"
touch "$edf/EDF5.exe"
cp "$data/cpk/nested.cpk" "$edf/Root.cpk"
member=$edf/Root.cpk/OBJECT/WALKER.CAS
like "a CAS has the skeleton of the MRAB beside it" "$("$ANIMFS" cat "$member/skeleton.csv")" $'\nhand_L,Bone01,0.25,0.5,0,'
bone=$(bone_of "$member")
edited "$member/$bone" >"$WORK/text.csv"
ok "and when it was edited" "$ANIMFS" put "$member/$bone" "$WORK/text.csv"
like "still has it" "$("$ANIMFS" cat "$member/skeleton.csv")" $'\nhand_L,Bone01,0.25,0.5,0,'
"$ANIMFS" cat "$member/skeleton.csv" | sed 's/0.25,0.5,0,/0.25,0.75,0,/' >"$WORK/rest.csv"
ok "a rest pose is saved" "$ANIMFS" put "$member/skeleton.csv" "$WORK/rest.csv"
is "beside the loose file" "$(cd "$edf" && find Mods -type f | sort)" $'Mods/OBJECT/WALKER.CAS\nMods/OBJECT/WALKER.CAS.skeleton.csv'
like "and goes before the model" "$("$ANIMFS" cat "$member/skeleton.csv")" $'\nhand_L,Bone01,0.25,0.75,0,'
ok "undo of it" "$ANIMFS" undo "$member/skeleton.csv"
like "brings the model's back" "$("$ANIMFS" cat "$member/skeleton.csv")" $'\nhand_L,Bone01,0.25,0.5,0,'
ok "a clip is renamed" "$ANIMFS" clip rename "$member/walk" ran
like "in the loose file" "$("$ANIMFS" ls "$edf/Mods/OBJECT/WALKER.CAS")" $'\nran/'
fails "a clip of a RAB's member is not" "$ANIMFS" clip rename "$edf/Root.cpk/OBJECT/WALKER.MRAB/ANIMATION/walker.cas/walk" ran
ok "without --rebuild" "$ANIMFS" clip rename --rebuild "$edf/Root.cpk/OBJECT/WALKER.MRAB/ANIMATION/walker.cas/walk" ran
like "then it is" "$("$ANIMFS" ls "$edf/Root.cpk.d/OBJECT/WALKER.MRAB.d/ANIMATION/walker.cas")" $'\nran/'
ok "and the archive is laid out as it should be" python3 "$tests/rab.py" laid "$edf/Mods/OBJECT/WALKER.MRAB"
bone=$(bone_of "$canm")

# ---- import ----
edf=$WORK/import
make_edf "$edf"
ok "export" "$ANIMFS" export "$edf" "$WORK/out"
for at in OBJECT/PLAIN.CANM OBJECT/PACKED.CAS; do
	b=$(bone_of "$edf/Root.cpk/$at")
	edited "$edf/Root.cpk/$at/$b" >"$WORK/text.csv"
	cp "$WORK/text.csv" "$WORK/out/Root.cpk.d/$at/$b"
done
is "import --dry-run" "$("$ANIMFS" import -n "$WORK/out" "$edf" 2>&1 | tail -n 1)" '8 files, 2 would change, 0 rejected'
is "writes nothing" "$(ls -A "$edf")" $'EDF6.exe\nRoot.cpk'
like "import" "$("$ANIMFS" import "$WORK/out" "$edf" 2>&1)" '8 files, 2 changed, 0 rejected'
is "makes loose files" "$(cd "$edf" && find Mods -type f | sort)" $'Mods/OBJECT/PACKED.CAS\nMods/OBJECT/PLAIN.CANM'
is "with the text" "$("$ANIMFS" cat "$edf/Root.cpk/OBJECT/PACKED.CAS/$b" | cmp - "$WORK/text.csv" && echo same)" same
like "again: nothing changes" "$("$ANIMFS" import "$WORK/out" "$edf" 2>&1)" '8 files, 0 changed, 0 rejected'
batch=$("$ANIMFS" log "$edf/Root.cpk/OBJECT/PACKED.CAS" | sed -n 's/.*batch //p')
ok "undo --batch takes it back" "$ANIMFS" undo --batch="$batch" "$edf"
is "and removes both" "$(cd "$edf" && find Mods -type f)" ""

# ---- in a RAB ----
edf=$WORK/rab
make_edf "$edf"
member=$edf/Root.cpk/OBJECT/X.MRAB/ANIMATION/walker.canm
edited "$member/$bone" >"$WORK/text.csv"
is "a member of a RAB is no loose file" "$("$ANIMFS" put "$member/$bone" "$WORK/text.csv" 2>&1; echo $?)" \
	"$WORK/text.csv: a member of X.MRAB cannot be a loose file, since the game opens that archive as a whole; --rebuild writes a new one, animfs export takes the member out"$'\n1'
is "and nothing is made" "$(ls -A "$edf")" $'EDF6.exe\nRoot.cpk'
ok "--rebuild writes the RAB" "$ANIMFS" put --rebuild "$member/$bone" "$WORK/text.csv"
new=$edf/Mods/OBJECT/X.MRAB
is "which the game gets" "$(loads "$edf" OBJECT/x.mrab)" Mods/OBJECT/X.MRAB
ok "laid out as it should be" python3 "$tests/rab.py" laid "$new"
python3 "$tests/rab.py" read "$new" ANIMATION/walker.canm >"$out/inner.canm"
cp "$canm" "$out/outer.canm"
"$ANIMFS" put "$out/outer.canm/$bone" "$WORK/text.csv"
ok "with the edited member" cmp "$out/inner.canm" "$out/outer.canm"
is "and all others as they were stored" "$(diff <(python3 "$tests/rab.py" list "$data/rab/walker.mrab") \
	<(python3 "$tests/rab.py" list "$new") | grep '^[<>]' | cut -d ' ' -f 1,2)" $'< ANIMATION/walker.canm\n> ANIMATION/walker.canm'
is "it is what is shown" "$("$ANIMFS" cat "$member/$bone")" "$("$ANIMFS" cat "$out/inner.canm/$bone")"
edited "$WORK/text.csv" >"$WORK/two.csv"
ok "a second edit" "$ANIMFS" put --rebuild "$member/$bone" "$WORK/two.csv"
like "its versions are the archive's" "$("$ANIMFS" log "$edf/Root.cpk/OBJECT/X.MRAB")" '^\*    2 '
ok "undo of the archive" "$ANIMFS" undo "$edf/Root.cpk/OBJECT/X.MRAB"
is "is undo of the edit" "$("$ANIMFS" cat "$member/$bone")" "$("$ANIMFS" cat "$out/inner.canm/$bone")"
like "not of the member" "$("$ANIMFS" undo "$member" 2>&1)" 'its versions are those of the archive that it is in, Mods/OBJECT/X.MRAB$'
ok "undo again" "$ANIMFS" undo "$edf/Root.cpk/OBJECT/X.MRAB"
is "brings the stock one back" "$(loads "$edf" OBJECT/X.MRAB)$("$ANIMFS" diff "$member" "$canm")" archive
mkdir "$WORK/alone"
cp "$data/rab/walker.mrab" "$WORK/alone"
ok "a RAB that is in no archive" "$ANIMFS" put --rebuild "$WORK/alone/walker.mrab/ANIMATION/walker.canm/$bone" "$WORK/text.csv"
ok "stays" cmp "$WORK/alone/walker.mrab" "$data/rab/walker.mrab"
"$ANIMFS" put --rebuild "$member/$bone" "$WORK/text.csv"
ok "and is rebuilt in the overlay" cmp "$WORK/alone/.animfs/overlay/walker.mrab" "$new"

# ---- --overlay ----
edf=$WORK/given
make_edf "$edf"
ok "put --overlay" "$ANIMFS" put --overlay="$WORK/mod" "$edf/Root.cpk/OBJECT/PLAIN.CANM/$bone" "$WORK/text.csv"
is "goes there" "$(cd "$WORK/mod" && find . -type f)" ./Root.cpk/OBJECT/PLAIN.CANM
fails "and not into Mods" test -e "$edf/Mods"
is "cat with it" "$("$ANIMFS" cat --overlay="$WORK/mod" "$edf/Root.cpk/OBJECT/PLAIN.CANM/$bone")" "$("$ANIMFS" cat "$out/outer.canm/$bone")"
ok "without it, the stock one" "$ANIMFS" diff "$edf/Root.cpk/OBJECT/PLAIN.CANM" "$canm"
ok "undo --overlay" "$ANIMFS" undo --overlay="$WORK/mod" "$edf/Root.cpk/OBJECT/PLAIN.CANM"
is "removes it" "$(find "$WORK/mod" -type f)" ""

# ---- what is no loose file ----
refused() # NAME CPK-PATH WORDS
{
	local edf=$WORK/refused out
	rm -rf "$edf"
	mkdir "$edf"
	touch "$edf/edf41.EXE"
	python3 "$tests/cpk.py" "$edf/root.CPK" "$2=$canm" "OBJECT/OTHER.CANM=$canm" "OBJECT/other.canm=$canm"
	mkdir "$WORK/refused/Mods"
	local label
	label=$("$ANIMFS" ls -0 "$edf/root.CPK" | tr '\0' '\n' | head -n 1)
	while [[ $label == */ && ${label,,} != *.canm/ ]]; do
		label=$("$ANIMFS" ls -0 "${label%/}" | tr '\0' '\n' | head -n 1)
	done
	out=$("$ANIMFS" put "${4:-${label%/}}/$bone" "$WORK/text.csv" 2>&1)
	is "$1: is refused" $? 1
	like "$1: with the reason" "$out" "$3"
	is "$1: and nothing is made anywhere" "$(find "$WORK/refused" -type f ! -path '*/.animfs/*' | sort)" "$(printf '%s\n' "$edf/edf41.EXE" "$edf/root.CPK" | sort)"
	fails "$1: nor outside" test -e "$WORK/EVIL.CANM"
}
refused "a path that leads up" "../../EVIL.CANM" "is no name"
refused "a path that begins at the top" "/X/EVIL.CANM" "is no name"
refused "a name with a backslash" 'OBJECT/..\EVIL.CANM' "no file on Windows can have"
refused "a stream of a file" 'OBJECT/A.CANM:B.CANM' "no file on Windows can have"
refused "a device" 'OBJECT/con.CANM' "a device"
refused "a plugin" 'plugins/EVIL.CANM' "plugins and patches"
refused "a name with a dot in front" '.tools/EVIL.CANM' "belong to tools"
refused "a trailing dot" 'OBJECT./A.CANM' "ends in a dot"
refused "two members that are equal but for case" 'OBJECT/A.CANM' "for two members" "$WORK/refused/root.CPK/OBJECT/OTHER.CANM"
edf=$WORK/refused
mkdir -p "$edf/Mods/object" "$edf/Mods/OBJECT"
cp "$canm" "$edf/Mods/object/a.canm"
cp "$canm" "$edf/Mods/OBJECT/A.canm"
like "two loose files that are equal but for case" "$("$ANIMFS" put "$edf/root.CPK/OBJECT/A.CANM/$bone" "$WORK/text.csv" 2>&1)" 'Mods/OBJECT/A.canm and Mods/object/a.canm are both there'
rm -r "$edf/Mods"
ln -s /etc "$edf/Mods"
like "Mods that is a link" "$("$ANIMFS" put "$edf/root.CPK/OBJECT/A.CANM/$bone" "$WORK/text.csv" 2>&1)" 'Mods is a symbolic link'

