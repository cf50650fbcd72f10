# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# samba.bash - smbd for one test, after lib.sh:
#
#   . tests/export/samba.bash
#   serve_samba SHARE FOLDER     serves the folder as //127.0.0.1/SHARE at $SMB_PORT, where guests are
#                                root; clients need -s "$SMB_CONF". Skips the test where it cannot be
#                                tried. It ends with the test, or by end_samba.
SMB_PORT=44599
SMB_CONF=$WORK/samba/smb.conf

end_samba()
{
	kill "$SMBD" 2>/dev/null
	wait "$SMBD" 2>/dev/null
}

samba_answers() { smbclient "//127.0.0.1/$1" -p $SMB_PORT -N -U root% -s "$SMB_CONF" -c ls >"$WORK/samba/ls" 2>&1; }

serve_samba()
{
	[ "$(id -u)" -eq 0 ] || skip_all "only root can serve"
	command -v smbd >/dev/null && command -v smbclient >/dev/null || skip_all "samba or smbclient is not installed"
	mkdir "$WORK/samba"
	cat >"$SMB_CONF" <<CONF
[global]
workgroup = TEST
server role = standalone server
interfaces = 127.0.0.1
bind interfaces only = yes
smb ports = $SMB_PORT
map to guest = bad user
guest account = root
disable spoolss = yes
load printers = no
log file = $WORK/samba/log
pid directory = $WORK/samba
lock directory = $WORK/samba
state directory = $WORK/samba
cache directory = $WORK/samba
private dir = $WORK/samba
ncalrpc dir = $WORK/samba/ncalrpc
[$1]
path = $2
read only = no
guest ok = yes
CONF
	setsid smbd --foreground --no-process-group --configfile="$SMB_CONF" --debug-stdout >"$WORK/samba/out" 2>&1 &
	SMBD=$!
	# shellcheck disable=SC2154 # assigned there
	trap 'status=$?; end_samba; (exit $status); finish' EXIT
	wait_for 15 samba_answers "$1" && return
	not_ok "smbd serves the mount" "$(tail -n 5 "$WORK/samba/ls" "$WORK/samba/out")"
	exit 1
}
