#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# matrix.sh - every program saves its edit in every view: the edit is in the binary, nothing else
# changed, the view reads as the binary says, and nothing lies beside it but what the program leaves
# for good. With $TABLES the outcomes are a table there; $EDIT_VIEWS takes some views only.
. "$(dirname "$0")/../mount/lib.sh"
. "$(dirname "$0")/edit.bash"
. "$(dirname "$0")/programs.bash"
. "$(dirname "$0")/office.bash"
[ -z "${EDIT_VIEWS:-}" ] || read -ra VIEWS <<<"$EDIT_VIEWS"
TABLE=${TABLES:-$WORK}/matrix
mount_stopped
if has_office; then start_office; fi

saved_by()
{
	local program=$1 names before=$FAILED
	names=$( (ls -A "${F%/*}" && [ -z "${LEFT[$program]}" ] || echo "${F##*/}${LEFT[$program]}") | sort)
	ok "$2: ends well" saves "$program"
	ok "$2: the binary" wait_for 3 cmp -s "$BINARY" "$EDITED"
	# Now, and as the file says it when nothing is kept of what was written.
	ok "$2: the view" wait_for 1 text_is_new
	is "$2: the folder" "$(ls -A "${F%/*}" | sort)" "$names"
	if [ -n "${LEFT[$program]}" ]; then
		ok "$2: the backup" cmp "$F${LEFT[$program]}" "$OLD"
	fi
	[ "$FAILED" -eq "$before" ]
}
text_is_new() { cmp -s "$F" "$NEW" || cmp -s "$F" "$CANONICAL"; }

declare -A OUTCOME=()
for view in "${VIEWS[@]}"; do
	prepare "$view"
	for program in "${PROGRAMS[@]}"; do
		fresh "$view/$program"
		if ! reason=$(may_try "$program"); then
			[ "$reason" = "no table" ] || skip "$program: $reason"
			OUTCOME[$program,$view]="($reason)"
			continue
		fi
		OUTCOME[$program,$view]=FAILED
		if saved_by "$program" "$view, $program"; then
			OUTCOME[$program,$view]=saved
		fi
	done
done
is "nothing was refused" "$(grep -v ": went back: " "$MNT/.animfs/errors")" ""
umount_animfs

{
	printf '%-16s' program
	printf '%-19s' "${VIEWS[@]}"
	echo
	for program in "${PROGRAMS[@]}"; do
		printf '%-16s' "$program"
		for view in "${VIEWS[@]}"; do
			printf '%-19s' "${OUTCOME[$program,$view]}"
		done
		echo
	done
	echo
	printf '%s\n' "${OUTCOME[@]}" | sort | uniq -c
} | sed 's/ *$//' >"$TABLE"
