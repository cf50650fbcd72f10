#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# editors_write.sh - programs that open a view, write into it and close it save exactly their edit.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/editing.bash"
mount_stopped

by_redirection() { cat "$NEW" >"$F"; }
by_echo() { echo "$(<"$NEW")" >"$F"; }
edits redirection by_redirection
edits echo by_echo

# Each child flushes what the table has so far: a header, whole rows, half a row.
by_two_commands() { { head -n 1 "$NEW"; tail -n +2 "$NEW"; } >"$F"; }
by_rows() { { head -n 2 "$NEW"; tail -n +3 "$NEW"; } >"$F"; }
by_half_rows() { { head -c 70 "$NEW"; tail -c +71 "$NEW"; } >"$F"; }
edits two-commands by_two_commands
edits whole-rows by_rows
edits half-rows by_half_rows

by_truncating_first() { : >"$F"; cat "$NEW" >>"$F"; }
by_appending() { cp "$NEW" "$F" && printf '\n' >>"$F" && head -c -1 "$F" >"$WORK/t" && cat "$WORK/t" >"$F"; }
edits truncated-first by_truncating_first
edits appending by_appending

by_tee() { tee "$F" <"$NEW"; }
by_cp() { cp "$NEW" "$F"; }
by_dd() { dd if="$NEW" of="$F" conv=notrunc status=none; }
by_dd_bytes() { dd if="$NEW" of="$F" conv=notrunc bs=1 status=none; }
by_rsync() { rsync -I --inplace "$NEW" "$F"; }
by_ed() { printf '%s\n' '2s/1\.5/2.5/' w q | ed -s "$F"; }
edits tee by_tee
edits cp by_cp
edits dd by_dd
edits dd-bytes by_dd_bytes
edits rsync-inplace by_rsync
edits ed by_ed

by_python()
{
	python3 -c 'import sys; f = open(sys.argv[1], "w"); f.write(open(sys.argv[2]).read()); f.close()' \
		"$F" "$NEW"
}
by_python_in_place()
{
	python3 - "$F" <<'PYTHON'
import os, sys
with open(sys.argv[1], "r+") as f:
    text = f.read().replace("1.5,-2", "2.5,-2")
    f.seek(0)
    f.write(text)
    f.truncate()
    f.flush()
    os.fdatasync(f.fileno())
PYTHON
}
edits python by_python
edits python-in-place by_python_in_place

by_nano() { python3 tests/editors/nano.py "$F" "$OLD" "$NEW"; }
if ! command -v nano >/dev/null; then
	skip "nano is not installed"
elif has_terminals; then
	edits nano by_nano
fi

by_vim_in_place() { vim -u NONE -N -es -c 'set backupcopy=yes' -c '%s/1\.5,-2/2.5,-2/' -c wq "$F"; }
edits vim-in-place by_vim_in_place
