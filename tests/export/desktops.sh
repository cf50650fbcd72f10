#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# desktops.sh - the Samba share of docs/desktops.md: its mount and its lines of smb.conf, for a user who logs in
# with a password, and what Windows and macOS do there.
# shellcheck source-path=SCRIPTDIR/../..
. tests/mount/lib.sh
. tests/mount/editing.bash
. tests/export/samba.bash
user=games # of every Debian

page=$(<docs/desktops.md)
options=$(sed -n 's/^    animfs \(-o [a-z_,]*\) \/home\/ann\/game \/home\/ann\/anim$/\1/p' <<<"$page")
share=$(sed -n '/^    \[anim\]$/,/^$/s/^    //p' <<<"$page")
is "the page has the mount's options" "$options" "-o allow_other"
like "and a share" "$share" '^\[anim\]
path = /home/ann/anim
valid users = ann
read only = no
veto files = [^
]*$'
id "$user" >/dev/null 2>&1 || skip_all "there is no user $user"

cp "$SAMPLE" "$SRC/walk.canm"
chown -R "$user" "$SRC"
chmod 755 "$WORK" "$SRC"
# shellcheck disable=SC2086 # options
mount_animfs $options
mkdir "$WORK/other"
serve_samba other "$WORK/other"
sed "s|/home/ann/anim|$MNT|; s/\bann\b/$user/" <<<"$share" >>"$SMB_CONF"
ok "smbd takes the lines" testparm -s "$SMB_CONF"
printf 'secret\nsecret\n' | smbpasswd -c "$SMB_CONF" -s -a "$user" >/dev/null 2>&1
ok "and reads them" smbcontrol -s "$SMB_CONF" smbd reload-config

# client COMMANDS: as that user
client() { smbclient //127.0.0.1/anim -p $SMB_PORT -U "$user%secret" -s "$SMB_CONF" -c "$1" 2>&1; }
listed() { client ls | grep -q 'walk\.canm'; }
ok "the share is there for the user" wait_for 10 listed
like "and for nobody else" "$(smbclient //127.0.0.1/anim -p $SMB_PORT -N -U root% -s "$SMB_CONF" -c ls 2>&1)" \
	'NT_STATUS_(ACCESS_DENIED|LOGON_FAILURE)'
client "get walk.canm/$BONE $WORK/got.csv" >/dev/null
ok "a table is read" cmp "$WORK/got.csv" "$OLD"
client "put $NEW walk.canm/walk/bones/~new.tmp; rename walk.canm/walk/bones/~new.tmp walk.canm/$BONE -f" >/dev/null
ok "saved as Office does" wait_for 5 cmp -s "$SRC/walk.canm" "$EDITED"
is "the file is still that user's" "$(stat -c %U "$SRC/walk.canm")" "$user"
cp "$SRC/walk.canm" "$WORK/before.canm"
echo '0,0,1..5' >"$WORK/bad.csv"
client "put $WORK/bad.csv walk.canm/$BONE" >/dev/null
shows_error() { client "cd walk.canm/walk/bones; ls" | grep -q 'Bone01\.csv\.error'; }
ok "a refused text has its reason beside it" wait_for 5 shows_error
client "get walk.canm/$BONE.error $WORK/error" >/dev/null
like "which the desk can read" "$(<"$WORK/error")" 'Bone01\.csv:1:'
is "and belongs to that user" "$(stat -c %U "$MNT/walk.canm/$BONE.error")" "$user"
ok "the binary stays" cmp "$SRC/walk.canm" "$WORK/before.canm"
for name in .DS_Store ._Bone01.csv Thumbs.db; do
	client "put $WORK/bad.csv $name; put $WORK/bad.csv walk.canm/walk/bones/$name" >/dev/null
	fails "$name is nowhere" test -e "$MNT/$name" -o -e "$MNT/walk.canm/walk/bones/$name"
done
"$ANIMFS" bone add "$SRC/walk.canm/walk" 'a?b'
short() { client "cd walk.canm/walk/bones; ls" | grep -oE '[A-Z0-9_]+~[A-Z0-9]+\.CSV'; }
ok "a name that Windows forbids has a short form" wait_for 10 test -n "$(short)"
printf 'frame,tx,ty,tz\n0,1,2,3\n' >"$WORK/odd.csv"
client "put $WORK/odd.csv walk.canm/walk/bones/$(short)" >/dev/null
odd_is_saved() { "$ANIMFS" cat "$SRC/walk.canm/walk/bones/a?b.csv" | grep -q '^0,0,1,2,3,'; }
ok "by which it is saved" wait_for 5 odd_is_saved
is "all that is in the game's folder" "$(ls "$SRC")" "walk.canm"
end_samba
umount_animfs
