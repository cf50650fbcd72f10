#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# commands_json.sh - ls, check, diff, log and formats for scripts: --json, --null, --files0-from,
# --shard, --jobs. Nothing is mounted here.
. "$(dirname "$0")/lib.sh"
data=$PWD/tests/data
make_game --files 40 --clips 2 --bones 4 --frames 5 --version mix --plain 3 --seed 7
cd "$SRC" || exit 1
animfs() { "$ANIMFS" "$@"; }
cp "$data/canm/wiki512.canm" w.canm
cp w.canm $'odd\n"name".canm'
cp "$data/owanim/small.006" small.006
cp "$data/kanim/stick.kanim" .
printf CANM >bad.canm
mkdir deep
head -c 100 w.canm >deep/short.canm
sed '2s/scenes_per_time="/&x/' stick.kanim >deep/bad.kanim
cp w.canm $'deep/no\xfftext.canm'

# json TEXT EXPRESSION: the expression, of the document as `d`, or of its lines as `lines`
json()
{
	python3 - "$1" "$2" <<'PYTHON'
import json, sys
text, expression = sys.argv[1:]
def refuse(name):
    raise ValueError(name)
def read(part):
    return json.loads(part, parse_constant=refuse)
try:
    d, lines = read(text), []
except ValueError:
    d, lines = None, [read(line) for line in text.splitlines()]
value = eval(expression)
print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
PYTHON
}

# ---- ls ----
out=$(animfs ls --json w.canm w.canm/walk w.canm/walk/bones/hip.csv none.canm 2>"$WORK/err")
is "ls: status" "$?" 2
is "ls: what is wrong is on standard error too" "$(cat "$WORK/err")" "animfs: none.canm: No such file or directory"
is "ls: the format" "$(json "$out" 'd["format"]')" animfs.ls/1
is "ls: the paths, in order" "$(json "$out" '[p["path"] for p in d["paths"]]')" \
	'["w.canm", "w.canm/walk", "w.canm/walk/bones/hip.csv", "none.canm"]'
is "ls: the names are those of ls" \
	"$(json "$out" '"\n".join(e["name"] + "/" * (e["type"] == "folder") for e in d["paths"][0]["entries"])')" \
	"$(animfs ls w.canm)"
is "ls: a view" "$(json "$out" 'd["paths"][2]')" \
	'{"path": "w.canm/walk/bones/hip.csv", "type": "view", "view": "csv", "editable": true}'
is "ls: what cannot be edited" \
	"$(json "$out" '[e["name"] for e in d["paths"][1]["entries"] if not e.get("editable", True)]')" \
	'["clip.x3d", "clip.svg", "clip.html"]'
is "ls: an error" "$(json "$out" 'd["paths"][3]["error"]')" "No such file or directory"
out=$(animfs ls --json w.canm/empty/bones)
is "ls: an empty folder" "$(json "$out" 'd["paths"][0]["entries"]')" '[]'
is "ls: several folders have headings" "$(animfs ls w.canm w.canm/empty | grep -n ':$')" $'1:w.canm:\n11:w.canm/empty:'
is "ls --null: paths that cat takes" \
	"$(animfs ls -0 w.canm/walk/bones w.canm/Idle/bones | xargs -0 "$ANIMFS" cat | cksum)" \
	"$(for clip in walk Idle; do
		animfs ls w.canm/$clip/bones | while read -r name; do animfs cat "w.canm/$clip/bones/$name"; done
	done | cksum)"
is "ls --null: folders" "$(animfs ls --null w.canm/ | tr '\0' '\n' | tail -n 1)" w.canm/empty/

# ---- check ----
plain=$(animfs check . 2>"$WORK/sum")
is "check: status" "$?" 1
is "check: the sum" "$(cat "$WORK/sum")" "48 checked, 3 failed"
is "check: in the order of names" "$(grep -o '^\./[^:]*' <<<"$plain")" $'./bad.canm\n./deep/bad.kanim\n./deep/short.canm'
out=$(animfs check --json . 2>"$WORK/err")
is "check --json: status" "$?" 1
is "check --json: nothing on standard error" "$(cat "$WORK/err")" ""
is "check --json: the format of each line" "$(json "$out" 'sorted({l["format"] for l in lines})')" '["animfs.check/1"]'
is "check --json: the sum" "$(json "$out" 'lines[-1]')" \
	'{"format": "animfs.check/1", "checked": 48, "failed": 3, "unreadable": 0}'
is "check --json: a line for each" "$(json "$out" 'len(lines)')" 49
is "check --json: those that fail" "$(json "$out" '[l["path"] for l in lines[:-1] if not l["ok"]]')" \
	'["./bad.canm", "./deep/bad.kanim", "./deep/short.canm"]'
is "check --json: the place in bytes" "$(json "$out" '[l for l in lines if l.get("path") == "./bad.canm"][0]')" \
	'{"format": "animfs.check/1", "path": "./bad.canm", "type": "canm", "ok": false, "byte": 4, "message": "the file ends inside its header"}'
is "check --json: the place in a text" "$(json "$out" '[[l["line"], l["column"]] for l in lines if l.get("path") == "./deep/bad.kanim"][0]')" '[2, 29]'
is "check --json: a name with a line end" "$(json "$out" '[l["ok"] for l in lines if l.get("path") == "./odd\n\"name\".canm"]')" '[true]'
is "check --json: a name that is no text" "$(json "$out" '[l["ok"] for l in lines if l.get("path", "").startswith("./deep/no")]')" '[true]'
is "check --null: the paths" "$(animfs check --null . 2>/dev/null | tr '\0' '\n')" $'./bad.canm\n./deep/bad.kanim\n./deep/short.canm'
for jobs in 1 2 7; do
	is "check -j $jobs: the same" "$(animfs check -j $jobs --json . | cksum)" "$(cksum <<<"$out")"
done
out=$(animfs check --json none.canm small.006 2>/dev/null)
is "check --json: what cannot be read: status" "$?" 2
is "check --json: what cannot be read" "$(json "$out" 'lines[0]')" \
	'{"format": "animfs.check/1", "path": "none.canm", "ok": null, "message": "No such file or directory"}'
is "check --json: it is counted" "$(json "$out" 'lines[-1]["unreadable"]')" 1
is "check: operands keep their order" "$(animfs check -j 2 --json w.canm bad.canm small.006 |
	sed -n 's/.*"path": "\([^"]*\)".*/\1/p' | paste -sd ' ')" "w.canm bad.canm small.006"
printf 'int main;' >main.c
is "check: what is no animation does not count" "$(animfs check --json --type='*=auto' main.c 2>/dev/null | sed -n 2p)" \
	'{"format": "animfs.check/1", "checked": 0, "failed": 0, "unreadable": 1}'
mkdir code
mv main.c code
is "check: nor in a folder" "$(animfs check --json --type='*=auto' code 2>/dev/null)" \
	'{"format": "animfs.check/1", "checked": 0, "failed": 0, "unreadable": 0}'
rm -r code

{ printf '\xef\xbb\xbf'; cat deep/bad.kanim; } | iconv -f UTF-8 -t UTF-16LE >deep/utf16.kanim
sed '2s/scenes_per_time="/name="\xe9\xe9" &x/' "$data/kanim/stick.kanim" |
	sed '1s/.*/<?xml version="1.0" encoding="ISO-8859-1"?>/' >deep/latin1.kanim
out=$(animfs check --json deep/bad.kanim deep/utf16.kanim deep/latin1.kanim 2>&1)
is "check --json: characters in every encoding" "$(json "$out" '[[l["line"], l["column"]] for l in lines[:-1]]')" \
	"[[2, 29], [2, 29], [2, 39]]"
like "ls: the place is a line, too" "$(animfs ls deep/utf16.kanim 2>&1)" '^animfs: deep/utf16\.kanim:2:29: '
rm deep/utf16.kanim deep/latin1.kanim

is "check --json: what is accepted" "$(json "$(animfs check --json deep/bad.kanim 2>/dev/null)" 'lines[0]["accepted"]')" \
	"a whole number such as 30"
mkdir beside
cp w.canm beside/a.canm
cp w.canm beside/b.canm
echo 'not,a,skeleton' >beside/skeleton.csv
is "check: what lies beside files is told once" \
	"$(animfs check -j 2 beside 2>&1 | sed 's/not used: .*/not used/')" \
	$'animfs: beside/skeleton.csv: not used\n2 checked, 0 failed'
rm -r beside

# ---- check --files0-from ----
find . -type f -name '*.canm' -print0 | sort -z >"$WORK/names"
whole=$(animfs check --json --files0-from="$WORK/names")
is "--files0-from: all" "$(json "$whole" 'lines[-1]["checked"]')" "$(tr -cd '\0' <"$WORK/names" | wc -c)"
is "--files0-from=-" "$(animfs check --json --files0-from=- <"$WORK/names" | cksum)" "$(cksum <<<"$whole")"
is "--files0-from: the last one without an end" "$(printf 'w.canm\0small.006' | animfs check --files0-from=- 2>&1)" \
	"2 checked, 0 failed"
is "--files0-from: folders" "$(printf 'deep\0' | animfs check -0 --files0-from=- 2>/dev/null | tr '\0' ' ')" \
	"deep/bad.kanim deep/short.canm "
is "--files0-from: none" "$(animfs check --files0-from=- </dev/null 2>&1)" "0 checked, 0 failed"
like "--files0-from: an empty name" "$(printf 'w.canm\0\0' | animfs check --files0-from=- 2>&1)" 'a name is empty'
like "--files0-from: no such file" "$(animfs check --files0-from=none 2>&1)" 'none: No such file'

# ---- check --shard ----
parts() { for i in 1 2 3; do animfs check --json --shard=$i/3 "$1" | sed '$d'; done; }
is "--shard: the parts are the whole" "$(parts . | sort | cksum)" "$(animfs check --json . | sed '$d' | sort | cksum)"
is "--shard: no part is empty" "$(for i in 1 2 3; do
	animfs check --shard=$i/3 . 2>&1 >/dev/null | grep -c '^0 '
done | paste -sd ' ')" "0 0 0"
is "--shard: wherever the folder is called from" "$(animfs check --json --shard=2/3 "$SRC" | sed '$d' | sed "s,$SRC,.," | cksum)" \
	"$(animfs check --json --shard=2/3 . | sed '$d' | cksum)"

# ---- diff ----
cp w.canm one.canm
animfs cat w.canm/walk/bones/hip.csv | sed 's/,0.5000076,/,0.25,/' | animfs put w.canm/walk/bones/hip.csv
out=$(animfs diff --json one.canm w.canm)
is "diff: status" "$?" 1
is "diff: a key" "$(json "$out" 'd')" '{"format": "animfs.diff/1", "a": "one.canm", "b": "w.canm", "same": false, "differences": [{"clip": "walk", "bone": "hip", "in": "a", "line": "translation 1 0.5000076 1 2.00001"}, {"clip": "walk", "bone": "hip", "in": "b", "line": "translation 1 0.2500038 1 2.00001"}]}'
animfs clip rename w.canm/walk stride
animfs clip remove w.canm/Idle 2>/dev/null
animfs bone add w.canm/stride tail
out=$(animfs diff --json one.canm w.canm)
is "diff: about clips" "$(json "$out" '[[x["in"], x["clip"], x["bone"], x["line"]] for x in d["differences"]][:2]')" \
	'[["a", null, null, "clip walk (3 frames, 4 bones)"], ["a", null, null, "clip Idle (3 frames, 2 bones)"]]'
is "diff: as many as lines" "$(json "$out" 'len(d["differences"])')" "$(animfs diff one.canm w.canm | sed 1,2d | grep -c '^[-+ ]')"
animfs clip rename one.canm/empty nothing
cp one.canm two.canm
animfs bone add two.canm/nothing tail
is "diff: about bones" "$(json "$(animfs diff --json one.canm two.canm)" '[[x["in"], x["clip"], x["bone"], x["line"]] for x in d["differences"]]')" \
	'[["b", "nothing", null, "bone tail (0 keys)"]]'
out=$(animfs diff --json one.canm one.canm)
is "diff: nothing: status" "$?" 0
is "diff: nothing" "$(json "$out" 'd')" '{"format": "animfs.diff/1", "a": "one.canm", "b": "one.canm", "same": true, "differences": []}'
is "diff: --brief" "$(json "$(animfs diff --json --brief one.canm w.canm)" 'd')" \
	'{"format": "animfs.diff/1", "a": "one.canm", "b": "w.canm", "same": false}'
is "diff -q" "$(animfs diff -q one.canm w.canm)" "Animations one.canm and w.canm differ"
printf 'bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nhip,,1,2,3,,,,,,\n' >one.canm.skeleton.csv
is "diff: skeletons" "$(json "$(animfs diff --json one.canm/skeleton.csv two.canm/skeleton.csv)" '[[x["in"], x["line"]] for x in d["differences"]]')" \
	'[["a", "hip,,1,2,3,0,0,0,1,1,1"]]'

# ---- log ----
cp "$data/canm/wiki512.canm" $'l\n"og.canm'
file=$'l\n"og.canm'
for x in 0.25 0.125; do
	animfs cat "$file/walk/bones/hip.csv" | sed "2s/^\([^,]*,[^,]*\),[^,]*/\1,$x/" | animfs put "$file/walk/bones/hip.csv"
done
animfs undo "$file"
animfs undo "$file/walk/bones/hip.csv"
out=$(animfs log --json "$file")
is "log: status" "$?" 0
is "log: the format and path of each line" "$(json "$out" 'sorted({(l["format"], l["path"]) for l in lines})')" \
	'[["animfs.log/1", "l\n\"og.canm"]]'
is "log: the versions, as for people" "$(json "$out" '" ".join(str(l["number"]) for l in lines)')" \
	"$(animfs log "$file" | sed 's/^\*\? *\([0-9]*\) .*/\1/' | paste -sd ' ')"
is "log: kinds" "$(json "$out" '[l["kind"] for l in lines]')" '["step", "step", "edit", "edit", "found"]'
is "log: what changed" "$(json "$out" 'lines[3]["what"]')" "walk: hip translation 1 key"
is "log: which program, in which batch" "$(json "$out" '[[l["program"], len(l["batch"] or "")] for l in lines[3:]]')" \
	'[["animfs put", 16], [null, 0]]'
is "log: where undo led" "$(json "$out" '[[l["to"], l["view"]] for l in lines[:2]]')" \
	'[[1, "walk/bones/hip.csv"], [2, null]]'
is "log: only of those" "$(json "$out" '[l["number"] for l in lines if "to" in l]')" '[5, 4]'
is "log: which it is now" "$(json "$out" '[l["number"] for l in lines if l["current"]]')" '[5]'
is "log: all are kept" "$(json "$out" 'all(l["kept"] and not l["unfinished"] for l in lines)')" true
is "log: members of the first one" "$(json "$out" '{k: v for k, v in lines[-1].items() if k not in ("format", "path", "time")}')" \
	"{\"number\": 1, \"kind\": \"found\", \"what\": \"as it was found\", \"program\": null, \"batch\": null, \"size\": $(
		stat -c %s "$data/canm/wiki512.canm"), \"unfinished\": false, \"kept\": true, \"current\": false}"
is "log: seconds since 1970" "$(json "$out" 'abs(lines[0]["time"] - __import__("time").time()) < 3600')" true
is "log: of a view that did not change" "$(json "$(animfs log --json "$file/Idle/clip.json")" 'd["number"]')" 1
is "log: of nothing: status" "$(animfs log --json bad.canm >"$WORK/none" 2>/dev/null; echo $? "$(stat -c %s "$WORK/none")")" "1 0"

# ---- formats ----
out=$(animfs formats --json)
is "formats: the format" "$(json "$out" 'd["format"]')" animfs.formats/1
is "formats: the same as for people" "$(json "$out" '"\n".join(f["name"] + ": " + " ".join(f["patterns"]) for f in d["formats"])')" \
	"$(animfs formats | grep '^[a-z]')"
is "formats: those of the manual" \
	"$(json "$out" '"\n".join(sorted(f["name"] + ": " + " ".join(f["patterns"]) for f in d["formats"]))')" \
	"$(sed -nE 's/^\.(It|Sh) ([A-Za-z0-9]+) ?: (Pa )?(\*.*)/\2: \4/p' "$data"/../../man/animfs*.[15] |
		sed 's/ *,/ /g; s/  */ /g' | tr '[:upper:]' '[:lower:]' | sort -u)"
is "formats: a kanim has no bones" "$(json "$out" '[[f["bones"], f["keys"], f["editable"]] for f in d["formats"] if f["name"] == "kanim"]')" \
	'[[null, "stills", ["stills", "loop"]]]'
is "formats: what an Overwatch file stores" "$(json "$out" '[{r: v["stored"] for r, v in f["roles"].items()} for f in d["formats"] if f["name"] == "owanim"]')" \
	'[{"translation": "float32", "rotation": "packed", "scale": "steps"}]'
is "formats: what FF9 stores" "$(json "$out" '[{r: v["bones"] for r, v in f["roles"].items()} for f in d["formats"] if f["name"] == "ff9anim"]')" \
	'[{"translation": "first", "rotation": "all"}]'
cp small.006 other.name
is "formats: of files" "$(animfs formats w.canm other.name bad.canm 2>/dev/null)" $'w.canm: canm\nother.name: owanim\nbad.canm: unknown'
is "formats: of files, --null" "$(animfs formats -0 w.canm other.name | tr '\0' ' ')" "w.canm canm other.name owanim "
is "formats: of files, --json" "$(json "$(animfs formats --json w.canm bad.canm 2>/dev/null)" 'd')" \
	'{"format": "animfs.formats/1", "files": [{"path": "w.canm", "name": "canm"}, {"path": "bad.canm", "name": null, "error": "the file ends inside its header"}]}'
cd "$OLDPWD" || exit 1
