#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# status.sh - `animfs status`: mounts, what is pending, what was refused, limits, changed files; and
# commands take paths in a mount as well as in SOURCE.
. "$(dirname "$0")/lib.sh"
animfs() { "$ANIMFS" "$@"; }
mkdir "$SRC/deep"
for name in a b c deep/d; do
	cp tests/data/canm/wiki512.canm "$SRC/$name.canm"
done
bone=walk/bones/Bone01.csv
# json EXPRESSION WORDS...: the expression, of animfs status --json WORDS
json()
{
	local expression=$1
	shift
	animfs status --json "$@" | python3 -c '
import json, sys
d = json.load(sys.stdin)
m = d["mounts"][0] if d["mounts"] else None
print(json.dumps(eval(sys.argv[1])))' "$expression"
}
edit() { sed "s/1.5,-2/$2,-2/" "$1/$bone" >"$WORK/text" && cp "$WORK/text" "$1/$bone"; }

is "a folder that nobody mounted or saved in" "$(animfs status "$SRC" 2>&1; echo $?)" \
	"animfs: $SRC: not a mount of animfs"$'\n1'
animfs bone add "$SRC/b.canm/walk" tail
sleep 0.01 # a time that is not the mount's
mount_stopped --cache=3M --drafts-max=5M

# ---- the mount ----

is "the source is an absolute path" "$(awk -v at="$MNT" '$2 == at { print $1 }' /proc/mounts)" "$SRC"
(
	cd "$WORK" || exit 1
	mkdir relative
	timeout 60 "$ANIMFS" src relative
	awk -v at="$WORK/relative" '$2 == at { print $1 }' /proc/mounts >"$WORK/said"
	timeout 60 "$ANIMFS" umount relative
)
is "also of one that was relative" "$(cat "$WORK/said")" "$SRC"
out=$(animfs status "$MNT")
is "status: status" $? 0
is "its first lines" "$(head -n 2 <<<"$out")" "$MNT"$'\n'"  source     $SRC"
like "who serves it" "$out" $'\n'"  mounted    $(date +%Y)-.*, process ${DAEMON[$MNT]}, animfs [0-9]"
like "nothing is pending" "$out" $'\n  pending    nothing\n'
like "nothing is changed: what was saved before the mount does not count" "$out" $'\n  changed    0 since '
is "from inside" "$(cd "$MNT/deep" && animfs status . | grep -v '^  memory')" "$(grep -v '^  memory' <<<"$out")"
is "of a path in it" "$(animfs status "$MNT/a.canm/$bone" | grep -v '^  memory')" "$(grep -v '^  memory' <<<"$out")"
like "all mounts" "$(animfs status)" "(^|"$'\n'")$MNT"$'\n'
is "the format" "$(json 'd["format"]' "$MNT")" '"animfs.status/1"'
is "JSON: the mount" "$(json '[m["mountpoint"], m["source"], m["state"], m["pid"], m["read_only"]]' "$MNT")" \
	"[\"$MNT\", \"$SRC\", null, ${DAEMON[$MNT]}, false]"
is "JSON: limits" "$(json '[m["limits"][k]["limit"] for k in ("cache", "held", "drafts", "history", "extra", "rejected")]' "$MNT")" \
	'[3145728, 1073741824, 5242880, 1073741824, 4294967296, 268435456]'
is "JSON: nothing pending, refused or changed" "$(json '[m["pending"], m["pending_paths"], m["refused"], m["changed"]]' "$MNT")" \
	'[0, [], 0, []]'

is "SOURCE stands for its mounts" "$(animfs status "$SRC" | grep -v '^  memory')" "$(grep -v '^  memory' <<<"$out")"
is "errors of a path in it" "$(animfs errors "$MNT/deep"; echo $?)" 0
is "errors of SOURCE: where it is mounted" "$(animfs errors "$SRC" 2>&1; echo $?)" \
	"animfs: $SRC: not a mount of animfs; it is mounted at $MNT"$'\n1'
is "umount, likewise" "$(animfs umount "$SRC" 2>&1; echo $?)" \
	"animfs: $SRC: not a mount of animfs; it is mounted at $MNT"$'\n1'

# ---- what is not saved yet ----

mkdir "$MNT/a.canm/jump"
is "a folder that is being staged" "$(json '[m["pending"], m["pending_paths"]]' "$MNT")" '[1, ["a.canm/jump"]]'
like "for people" "$(animfs status "$MNT")" $'\n  pending    1 not saved yet\n    a\.canm/jump/\n'
ok "until it is a clip" after 2000 sh -c "'$ANIMFS' status '$MNT' | grep -q '^  pending    nothing'"
python3 - "$MNT/a.canm/$bone" "$ANIMFS" "$MNT" >"$WORK/said" <<'PYTHON'
import os, subprocess, sys
path, animfs, mnt = sys.argv[1:]
fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
os.write(fd, b"frame,tx\n")
print(subprocess.run([animfs, "status", mnt], capture_output=True, text=True).stdout)
os.write(fd, b"0,1.5\n")
try:
    os.close(fd)
except OSError:
    pass
PYTHON
like "a text that is being written" "$(cat "$WORK/said")" $'\n    a\.canm/walk/bones/Bone01\.csv\n'

# ---- what was changed ----

ok "an edit" edit "$MNT/b.canm" 2.5
ok "another" edit "$MNT/deep/d.canm" 3.5
ok "a file that is made" cp -r "$MNT/c.canm" "$MNT/made.canm"
ok "which takes its time" after 2000 test -f "$SRC/made.canm"
ok "a file that is removed" rm -r "$MNT/c.canm"
ok "also" after 2000 sh -c "! test -e '$SRC/c.canm'"
is "JSON: what became of which" "$(json '[[c["path"], c["outcome"]] for c in m["changed"]]' "$MNT")" \
	'[["a.canm", "changed"], ["b.canm", "changed"], ["c.canm", "removed"], ["deep/d.canm", "changed"], ["made.canm", "made"]]'
is "JSON: how" "$(json '[c["what"] for c in m["changed"] if c["path"] == "deep/d.canm"]' "$MNT")" \
	"[\"$(animfs log "$MNT/deep/d.canm" | sed -n '1s/.*:[0-9][0-9]  \(.*\)  \[.*/\1/p')\"]"
like "for people" "$(animfs status "$MNT")" $'\n  changed    5 since .*\n    b\.canm  walk: Bone01 .*\n    c\.canm  removed\n'
is "the files of a mod: those that are there" "$(animfs status -0 "$MNT" | tr '\0' ' ')" "a.canm b.canm deep/d.canm made.canm "
ok "tar takes them" sh -c "'$ANIMFS' status -0 '$MNT' | tar -C '$SRC' -cf '$WORK/mod.tar' --null -T -"
is "all of them" "$(tar -tf "$WORK/mod.tar" | paste -sd ' ')" "a.canm b.canm deep/d.canm made.canm"
ok "undone" animfs undo "$MNT/deep/d.canm"
is "what is as it was is not changed" "$(json '[c["path"] for c in m["changed"] if "d.canm" in c["path"]]' "$MNT")" '[]'
is "since a date that is yet to come" "$(json 'm["changed"]' --since=2090-01-01 "$MNT")" '[]'
is "since a day long ago" "$(json '[c["path"] for c in m["changed"]]' --since='2001-02-03 04:05' "$MNT")" \
	'["a.canm", "b.canm", "c.canm", "made.canm"]'
is "since an hour from now on, with seconds" "$(json 'm["changed"]' --since="$(date -d '+1 hour' +%Y-%m-%dT%H:%M:%S)" "$MNT")" '[]'
for wrong in yesterday 2026-13-01 2026-01-01x ''; do
	is "not a date: '$wrong'" "$(animfs status --since="$wrong" "$MNT" 2>/dev/null; echo $?)" 2
done

# ---- what was refused ----

save_errno close "$MNT/b.canm/$bone" "$(sed 2s/-180/oops/ "$MNT/b.canm/$bone")" >/dev/null
is "JSON: a refused text" "$(json '[m["refused"], m["limits"]["rejected"]["used"] > 100]' "$MNT")" '[1, true]'
like "for people" "$(animfs status "$MNT")" $'\n  refused    1, see animfs errors\n'
versions=$(find "$SRC/.animfs/history" -regex '.*/history/[^/]*/[0-9]+' | wc -l)
is "JSON: history" "$(json 'm["history"]["versions"]' "$MNT")" "$versions"
is "JSON: its size" "$(json 'm["limits"]["history"]["used"]' "$MNT")" \
	"$(find "$SRC/.animfs/history" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')"

# ---- paths in the mount ----

for command in ls check text formats log diff; do
	from=$SRC/b.canm at=$MNT/b.canm
	[ $command != diff ] || from="$SRC/b.canm $SRC/a.canm" at="$MNT/b.canm $MNT/a.canm"
	# shellcheck disable=SC2086 # two operands of diff
	is "$command of a path in the mount" "$(animfs $command $at 2>&1 | sed "s|$MNT|$SRC|g")" "$(animfs $command $from 2>&1)"
done
is "cat of a path in the mount" "$(animfs cat "$MNT/b.canm/$bone")" "$(animfs cat "$SRC/b.canm/$bone")"
is "check of a folder in the mount" "$(animfs check "$MNT/deep" 2>&1)" "1 checked, 0 failed"
is "check of the whole mount" "$(animfs check "$MNT" 2>&1)" "4 checked, 0 failed"
printf CANM >"$SRC/deep/bad.canm"
like "check: what fails is called as it was given" "$(animfs check "$MNT/deep" 2>/dev/null)" "^$MNT/deep/bad\.canm:0x4: "
rm "$SRC/deep/bad.canm"
ok "undo of a path in the mount" animfs undo "$MNT/b.canm/$bone"
like "is done" "$(animfs cat "$SRC/b.canm/$bone")" '1\.5,-2'

# ---- afterwards ----

ok "umount of a path in the mount" animfs umount "$MNT/b.canm/walk"
fails "unmounts it" grep -q " $MNT fuse" /proc/self/mounts
umount_animfs
out=$(animfs status "$SRC")
is "not mounted: status" $? 0
is "not mounted" "$(sed -n 1,2p <<<"$out")" "$SRC"$'\n  mounted    no'
like "all that was ever changed" "$out" $'\n  changed    4\n'
is "JSON: no mount" "$(json '[m["mountpoint"], m["limits"]["history"]["limit"], "pid" in m]' "$SRC")" '[null, null, false]'
mount_animfs --state="$WORK/state"
edit "$MNT/a.canm" 9
is "another state directory" "$(json '[m["state"], [c["path"] for c in m["changed"]]]' "$MNT")" "[\"$WORK/state\", [\"a.canm\"]]"
umount_animfs
MNT=$SRC mount_animfs
is "mounted over itself" "$(json '[m["mountpoint"] == m["source"], m["history"]["files"] > 0]' "$SRC")" \
	"$([ "$(id -u)" -eq 0 ] && echo '[true, true]' || echo '[true, false]')"
MNT=$SRC umount_animfs
