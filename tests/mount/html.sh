#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# html.sh - the pages that play: listed with their size before they are read, accepted back as they
# are and refused when changed by hand, in step with what they show; animfs view; and a site made by
# animfs export. What a browser makes of them is tested by scripts/test-player.sh.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm tests/data/ribbon/frames030.anm tests/data/ff9anim/frames008_nolow.ff9anim "$SRC"
make_game --files 2 --clips 3 --bones 24 --frames 31 --plain 0 --skeleton 1
mount_animfs
is "they are not listed unasked" "$(find "$MNT" -name '*.html')" ""
ok "and open by their names" cmp "$MNT/wiki512.canm/walk/clip.html" \
	<("$ANIMFS" cat "$SRC/wiki512.canm/walk/clip.html")
like "which animfs ls says" "$("$ANIMFS" ls "$SRC/wiki512.canm")" file.html
umount_animfs
mount_animfs --views=html
is "--views=html lists them, and nothing else" "$(find "$MNT/wiki512.canm" -type f -printf '%f\n' | sort | uniq -c)" \
	"$(printf '      %s\n' '3 clip.html' '1 file.html')"
umount_animfs
mount_animfs -o views=all
WALK=$MNT/object/e0000/ranger.canm/walk
PAGES=$(find "$MNT" -name '*.html' | wc -l)

# ---- what there is ----

is "a page for each file, and each clip that has keys" "$PAGES" \
	"$(($(find "$MNT" -name file.json | wc -l) + $(find "$MNT" -name clip.gltf | wc -l)))"
before=$(sed -n 's/^texts //p' "$MNT/.animfs/status")
find "$MNT" -name '*.html' -printf '%s %P\n' | sort >"$WORK/sizes"
is "their sizes are known without rendering" "$(sed -n 's/^texts //p' "$MNT/.animfs/status")" "$before"
is "and are those of what is read" \
	"$(while read -r _ page; do echo "$(wc -c <"$MNT/$page") $page"; done <"$WORK/sizes" | sort)" \
	"$(<"$WORK/sizes")"
ok "24 bones and 31 frames are at most 100 kB" [ "$(stat -c %s "$WALK/clip.html")" -le 100000 ]
ok "it is what cat prints" cmp "$WALK/clip.html" <("$ANIMFS" cat "$SRC/object/e0000/ranger.canm/walk/clip.html")

# digest_of TAG: what the page's policy must say of what stands in the tag, as a regular expression
digest_of()
{
	perl -0777 -ne 'print $1 if m,<'"$1"'>(.*?)</'"$1"'>,s' "$WALK/clip.html" | sha256sum | cut -d ' ' -f 1 |
		perl -ne 'chomp; print pack("H*", $_)' | base64 | sed 's/[+]/[+]/g'
}
policy=$(grep -o 'content="default-src[^"]*"' "$WALK/clip.html")
like "the policy names the script" "$policy" "script-src 'sha256-$(digest_of script)'"
like "and the style" "$policy" "style-src 'sha256-$(digest_of style)'"
like "and allows nothing else" "$policy" "default-src 'none'"

# ---- saved ----

ok "its own text changes nothing" cp "$WALK/clip.html" "$WORK/clip.html"
stamp=$(stat -c '%i %Y' "$SRC/object/e0000/ranger.canm")
ok "saved" cp "$WORK/clip.html" "$WALK/clip.html"
is "the file is as it was" "$(stat -c '%i %Y' "$SRC/object/e0000/ranger.canm")" "$stamp"
sed 's/<title>/<title>x/' "$WORK/clip.html" >"$WORK/edited.html"
is "one that was changed by hand is refused" "$(save_errno close "$WALK/clip.html" "$(<"$WORK/edited.html")")" EBADMSG
like "with the views to edit" "$(<"$WALK/clip.html.error")" "bones/"
rm -f "$WALK"/clip.html.*
ok "an edit of a bone" sed -i '2s/^0,0,[^,]*/0,0,0.5/' "$WALK/bones/hips.csv"
ok "shows in the page" bash -c "! cmp -s '$WALK/clip.html' '$WORK/clip.html'"
ok "the older page is accepted" cp "$WORK/clip.html" "$WALK/clip.html"
ok "and the view shows what is there" cmp "$WALK/clip.html" \
	<("$ANIMFS" cat "$SRC/object/e0000/ranger.canm/walk/clip.html")
like "the page of the file, too" "$(cmp "$MNT/object/e0000/ranger.canm/file.html" \
	<("$ANIMFS" cat "$SRC/object/e0000/ranger.canm/file.html") && echo same)" same

# A skeleton is a part of what is seen.
sum=$(cksum <"$MNT/wiki512.canm/walk/clip.html")
ok "a skeleton" sed -i '/^hip,/s/.*/hip,Bone01,0,1,0,0,0,0,1,1,1/; /^Bone01,/s/.*/Bone01,,0,0,0,0,0,0,1,1,1/' "$MNT/wiki512.canm/skeleton.csv"
ok "is in the page" [ "$(cksum <"$MNT/wiki512.canm/walk/clip.html")" != "$sum" ]
is "with its size" "$(stat -c %s "$MNT/wiki512.canm/walk/clip.html")" "$(wc -c <"$MNT/wiki512.canm/walk/clip.html")"
umount_animfs

mount_animfs --views=csv
is "a page that is not listed" "$(find "$MNT" -name '*.html')" ""
ok "opens by its name" grep -q '^<!DOCTYPE html>' "$WALK/clip.html"

# ---- without a mount ----

export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
page=$("$ANIMFS" view -n "$SRC/object/e0000/ranger.canm/walk")
ok "view: the page of a clip" cmp "$page" <("$ANIMFS" cat "$SRC/object/e0000/ranger.canm/walk/clip.html")
ok "with the tables that it has links to" test -s "${page%/*}/bones/hips.csv"
is "and nothing of other clips" "$(ls "${page%/*/*}")" walk
is "only for the user" "$(stat -c %a "$TMPDIR"/animfs-view.*)" 700
page=$("$ANIMFS" view -n "$WALK/../../ranger.canm")
like "view: the page of a file, by its name in a mount" "$page" '/ranger.canm/file.html$'
ok "with those of its clips" test -s "${page%/*}/run/clip.html"
like "view: a file with one clip is played" "$("$ANIMFS" view -n "$SRC/frames030.anm")" '/frames030/clip.html$'
fails "view: a view" "$ANIMFS" view -n "$SRC/wiki512.canm/walk/clip.svg"
like "view: nothing to play" "$("$ANIMFS" view -n "$SRC/wiki512.canm/empty" 2>&1)" 'no bone of the clip has a key'
mkdir "$WORK/bin"
printf '#!/bin/sh\necho "opened $1" >"%s/opened"\n' "$WORK" >"$WORK/bin/xdg-open"
chmod +x "$WORK/bin/xdg-open"
page=$(PATH=$WORK/bin:$PATH "$ANIMFS" view "$SRC/wiki512.canm/walk")
is "view: opens it" "$(<"$WORK/opened")" "opened $page"
printf '#!/bin/sh\nexit 3\n' >"$WORK/bin/xdg-open"
page=$(PATH=$WORK/bin:$PATH "$ANIMFS" view "$SRC/wiki512.canm/walk" 2>"$WORK/err")
is "view: where nothing opens it" "$?" 2
ok "the page is there" test -s "$page"
like "and that is said" "$(<"$WORK/err")" xdg-open

# ---- a site ----

ok "a site" "$ANIMFS" export --views=html,csv "$SRC" "$WORK/site"
is "its pages share one player" "$(find "$WORK/site" -name '*.html' -exec grep -L 'src="[./]*player.js"' {} +)" ""
is "which each finds" "$(cd "$WORK/site" && find . -name '*.html' | while read -r page; do
	(cd "${page%/*}" && test -s "$(grep -o 'src="[^"]*"' "${page##*/}" | cut -d '"' -f 2)") || echo "$page"
done)" ""
ok "and are small" [ "$(stat -c %s "$WORK/site/object/e0000/ranger.canm/walk/clip.html")" -lt 20000 ]
names() { perl -MMIME::Base64 -ne 'print decode_base64($1) if /id="data">([^<]*)/' "$1" | strings -n 3; }
like "the index has all files" "$(names "$WORK/site/index.html" | tr '\n' ' ')" \
	'frames030.anm.*object/e0000/diver.canm.*object/e0000/ranger.canm.*wiki512.canm'
like "and the names of clips" "$(names "$WORK/site/index.html" | tr '\n' ' ')" 'walk.*run'
cksum "$WORK/site/index.html" >"$WORK/index"
ok "again" "$ANIMFS" export -u --views=html,csv "$SRC" "$WORK/site"
ok "nothing has changed" cmp "$WORK/index" <(cksum "$WORK/site/index.html")
rm -r "$WORK/site"
for part in 1/2 2/2; do
	ok "in parts" "$ANIMFS" export --shard=$part --views=html,csv "$SRC" "$WORK/site"
done
ok "it is the same site" cmp "$WORK/index" <(cksum "$WORK/site/index.html")
like "an import takes it for what it is" "$("$ANIMFS" import -n "$WORK/site" "$SRC" 2>&1)" ' 0 would change, 0 rejected'
fails "other files have no place in it" "$ANIMFS" export --all --views=html "$SRC" "$WORK/other"
ok "an export of all views" "$ANIMFS" export "$SRC" "$WORK/all"
ok "has pages that are whole" cmp "$WORK/all/wiki512.canm/walk/clip.html" \
	<("$ANIMFS" cat "$SRC/wiki512.canm/walk/clip.html")
ok "and no index" test ! -e "$WORK/all/index.html"
umount_animfs
