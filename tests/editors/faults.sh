#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# faults.sh - every program saves while something fails. Whatever it is, the edit is saved, or it is
# not, and then the program says so, or, where it does not look, .error does, and all is as it was.
#
# The faults are those that a mount meets by itself, and system calls that fail under it (fault.so).
# A cell of the tables is
#
#   saved     the edit is in the binary
#   saved!    it is, but the program has complained, of something else that it wanted
#   refused   it is not, and the program has said so
#   warned    it is not, and the program has said so, though it ends as if all were well
#   told      it is not, the program has not looked, and .error or .animfs/errors says so
#
# and anything else fails the test: SILENT (nobody says that it is not saved), TORN (the binary is
# neither the old nor the new one), VIEW (the view does not say what the binary does), LITTER (next to
# the binary something is left). $FAULTS takes some faults only.
. "$(dirname "$0")/../mount/lib.sh"
. "$(dirname "$0")/edit.bash"
. "$(dirname "$0")/programs.bash"
. "$(dirname "$0")/office.bash"
[ "$(id -u)" -eq 0 ] || skip_all "only root can fill and freeze filesystems"
TABLE=${TABLES:-$WORK}/faults
FAULT_SO=$(dirname "$ANIMFS")/fault.so
[ -f "$FAULT_SO" ] || skip_all "fault.so is not built"
export FAULT=$WORK/fault
reason=$(can_mount) || skip_all "$reason"
chmod 755 "$WORK"

# ---- what fails ----
#
# NAME VIEW: before_NAME prepares the empty folders SRC and STATE and sets OPTIONS of the mount;
# begin_NAME has it begin to fail, when the mount and the files are there; end_NAME ends that.
# WHERE-CALL-ERRNO is a system call that fails below SRC (source) or STATE (state).
ALL_FAULTS='
wrong-text owanim/curves.csv	wrong-text canm/bone.csv	wrong-text canm/clip.json
read-only-mount canm/bone.csv	read-only-file cas/bone.csv	frozen-source canm/bone.csv
foreign-file canm/bone.csv	busy-file canm/bone.csv		large-text canm/clip.json
full-source canm/bone.csv	full-state canm/bone.csv	full-source ff9anim/bone.csv
source-create-EACCES canm/bone.csv	source-create-EMFILE canm/bone.csv
source-create-ENOSPC canm/bone.csv	source-write-ENOSPC canm/bone.csv
source-write-EDQUOT canm/bone.csv	source-write-EIO canm/bone.csv
source-fsync-EIO canm/bone.csv		source-syncdir-EIO canm/bone.csv
source-rename-EIO canm/bone.csv		source-rename-EPERM canm/bone.csv
source-rename-EXDEV canm/bone.csv	source-rename-EINVAL canm/bone.csv
source-unlink-EIO canm/bone.csv		source-write-EIO owanim/curves.csv
state-create-EACCES canm/bone.csv	state-create-ENOSPC canm/bone.csv
state-write-ENOSPC canm/bone.csv	state-write-EIO canm/bone.csv
state-fsync-EIO canm/bone.csv		state-rename-EIO canm/bone.csv
state-unlink-EIO canm/bone.csv		state-mkdir-ENOSPC canm/bone.csv
'

small() { mount -t tmpfs -o size=4m none "$1"; }
# To the last byte.
fill() { dd if=/dev/zero of="$1/filler" bs=4096 status=none 2>/dev/null; cat /dev/zero >>"$1/filler" 2>/dev/null; true; }

before_wrong-text() { TO=${TO/[0-9]/x} && TO=${TO/false/falls} && sed "s/$RE/$TO/" "$OLD" >"$NEW"; }
begin_read-only-mount() { mount -o remount,ro "$MNT" 2>/dev/null || { umount_animfs && faulty_mount -o ro; }; }
before_frozen-source() { small "$SRC"; }
begin_frozen-source() { mount -o remount,ro "$SRC"; }
end_frozen-source() { mount -o remount,rw "$SRC"; }
before_full-source() { small "$SRC"; }
begin_full-source() { fill "$SRC"; }
end_full-source() { rm "$SRC/filler"; }
before_full-state() { small "$STATE"; }
begin_full-state() { fill "$STATE"; }
end_full-state() { rm "$STATE/filler"; }
before_large-text() { OPTIONS+=(--max-text="$(stat -c %s "$OLD")"); }
before_foreign-file() { OPTIONS+=(-o allow_other); }

# Of the padding before the animations, a byte that nobody knows.
before_read-only-file()
{
	python3 - "$SAMPLE" "$WORK/odd.cas" <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
data[struct.unpack_from("<I", data, 8)[0] - 1] = 1
open(sys.argv[2], "wb").write(data)
PYTHON
	SAMPLE=$WORK/odd.cas
}

begin_busy-file()
{
	python3 -c 'import sys, time
held = [open(path, "r+b") for path in sys.argv[1:]]
print(flush=True)
time.sleep(1000)' "$SRC"/*/*.canm >"$WORK/held" &
	HOLDER=$!
	wait_for 10 test -s "$WORK/held"
}
end_busy-file() { kill "$HOLDER" && wait "$HOLDER"; }

# The calls that fail under it.
fault_of()
{
	local where call name
	IFS=- read -r where call name <<<"$1"
	if [ "$where" = source ]; then where=$SRC; else where=$STATE; fi
	echo "$call $(python3 -c "import errno; print(errno.$name)") $where"
}
call_fault() { if declare -F "$1_$2" >/dev/null; then "$1_$2"; fi; }
begin_fault() { if [[ $1 == s*-*-E* ]]; then fault_of "$1" >"$FAULT"; else call_fault begin "$1"; fi; }
end_fault() { rm -f "$FAULT" && call_fault end "$1"; }

# ---- what programs do then ----

faulty_mount() { LD_PRELOAD=$FAULT_SO mount_animfs -o unconfined --state="$STATE" "${OPTIONS[@]}" "$@"; }

# As somebody who may not write these files.
saves_as_nobody()
{
	mkdir -p "$WORK/nobody" && chown nobody "$WORK/nobody" &&
		env HOME="$WORK/nobody" WORK="$WORK/nobody" MNT="$MNT" HERE="$HERE" F="$F" \
			OLD="$OLD" NEW="$NEW" RE="$RE" TO="$TO" setpriv --reuid=nobody \
			--clear-groups bash -c '. "$HERE/programs.bash"; saves "$1"' - "$1"
}

# Is what the view says what the binary says?
view_is() { cmp -s "$F" "$1" || cmp -s "$F" "$2"; }

# Where a program did not look, somebody may read it.
is_told() { grep -q . "$F.error" 2>/dev/null || grep -qF "$1/${SAMPLE##*/}/$INSIDE" "$MNT/.animfs/errors"; }

# While it still fails: for what a program did, what can be read.
declare -A STATUS=() TOLD=() READS=()
look()
{
	place_of "$1"
	if is_told "$1"; then TOLD[$1]=1; else TOLD[$1]=0; fi
	READS[$1]=neither
	if view_is "$OLD" "$OLD"; then
		READS[$1]=old
	elif view_is "$NEW" "$CANONICAL"; then
		READS[$1]=new
	fi
}

# Saved and taken back, it need not have the very bytes.
says_the_old() { diff <(curves_of "$BINARY") <(curves_of "$SAMPLE") >/dev/null; }

verdict()
{
	place_of "$1"
	if [ "$(ls -A "$SRC/$1")" != "${SAMPLE##*/}" ]; then
		echo LITTER
	elif cmp -s "$BINARY" "$EDITED"; then
		if [ "${READS[$1]}" != new ]; then echo VIEW; return; fi
		if [ "${STATUS[$1]}" = 0 ]; then echo saved; else echo saved!; fi
	elif ! cmp -s "$BINARY" "$SAMPLE" && ! says_the_old; then
		echo TORN
	elif [ "${READS[$1]}" != old ]; then
		echo VIEW
	elif [ "${STATUS[$1]}" != 0 ]; then
		echo refused
	elif [ "${TOLD[$1]}" = 1 ]; then
		echo told
	elif [ -s "$2" ]; then
		echo warned
	else
		echo SILENT
	fi
}

declare -A OUTCOME=()
COLUMNS_SHOWN=()
under()
{
	local fault=$1 view=$2 program tried=() bad=() at=$WORK/under/$1/$2
	prepare "$view"
	mkdir -p "$at/src" "$at/mnt" "$at/state"
	SRC=$at/src MNT=$at/mnt STATE=$at/state OPTIONS=()
	call_fault before "$fault"
	faulty_mount
	for program in "${PROGRAMS[@]}"; do
		fresh "$program"
		OUTCOME[$program,$fault,$view]=-
		may_try "$program" >/dev/null && tried+=("$program")
		cat "$F" >"$WORK/read"
	done
	begin_fault "$fault"
	for program in "${tried[@]}"; do
		place_of "$program"
		if [ "$fault" = foreign-file ]; then
			[ "$program" != calc ] || continue
			saves_as_nobody "$program"
		else
			saves "$program"
		fi >"$at/$program.said" 2>&1 </dev/null
		STATUS[$program]=$?
	done
	# What was removed or is unfinished is waited for.
	sleep 3
	for program in "${tried[@]}"; do look "$program"; done
	end_fault "$fault"
	umount_animfs
	# What could not be removed then is removed by the next mount.
	faulty_mount && umount_animfs
	for program in "${tried[@]}"; do
		[ -n "${STATUS[$program]:-}" ] || continue
		OUTCOME[$program,$fault,$view]=$(verdict "$program" "$at/$program.said")
		case ${OUTCOME[$program,$fault,$view]} in
		[A-Z]*) bad+=("$program: ${OUTCOME[$program,$fault,$view]}, status ${STATUS[$program]}: $(head -n 3 "$at/$program.said" | tr '\n' ' ')") ;;
		esac
	done
	is "$fault, $view: saved, or not and said so" "$(printf '%s\n' "${bad[@]}")" ""
	umount "$SRC" "$STATE" 2>/dev/null
	STATUS=()
	COLUMNS_SHOWN+=("$fault,$view")
}

place_of() { BINARY=$SRC/$1/${SAMPLE##*/} F=$MNT/$1/${SAMPLE##*/}/$INSIDE; }

if has_office; then start_office; fi
read -ra faults <<<"${FAULTS:-$(tr '\n\t' '  ' <<<"$ALL_FAULTS")}"
for ((i = 0; i < ${#faults[@]}; i += 2)); do
	under "${faults[i]}" "${faults[i + 1]}"
done

# For each fault the programs that fared alike.
{
	for column in "${COLUMNS_SHOWN[@]}"; do
		printf '%s, %s\n' "${column%,*}" "${column#*,}"
		for outcome in $(for p in "${PROGRAMS[@]}"; do echo "${OUTCOME[$p,$column]}"; done | sort -u); do
			for p in "${PROGRAMS[@]}"; do
				[ "${OUTCOME[$p,$column]}" != "$outcome" ] || printf ' %s' "$p"
			done | fold -s -w 84 | sed "s/^/             /; 1s/^ \{13\}/$(printf '    %-9s' "$outcome")/"
			echo
		done
	done
	echo
	printf '%s\n' "${OUTCOME[@]}" | sort | uniq -c
} >"$TABLE"
