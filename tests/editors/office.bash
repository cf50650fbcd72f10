# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# office.bash - LibreOffice for tests, after lib.sh and edit.bash:
#
#   has_office        is it here, with what scripts it?
#   start_office      one of its own, without windows, which ends with the test
#   calc VIEW STEP... has it edit (calc.py)
#   cell_of           the STEP that makes $NEW of $OLD

has_office()
{
	command -v soffice >/dev/null && /usr/bin/python3 -c 'import uno' 2>/dev/null
}

start_office()
{
	soffice "-env:UserInstallation=file://$WORK/profile" --headless --norestore \
		--accept="pipe,name=animfs$$;urp" >"$WORK/office" 2>&1 &
	OFFICE=$!
	trap stop_office EXIT
}

stop_office()
{
	local ended=$?
	kill "$OFFICE" 2>/dev/null && wait "$OFFICE"
	(exit "$ended")
	finish
}

calc() { timeout 900 /usr/bin/python3 "$HERE/calc.py" "animfs$$" "$@"; }

cell_of()
{
	python3 - "$OLD" "$NEW" <<'PYTHON'
import csv, sys

old, new = ([*csv.reader(open(path, newline=""))] for path in sys.argv[1:])
for y, row in enumerate(new):
    for x, cell in enumerate(row):
        if cell != old[y][x]:
            print(f"{y},{x}={cell}")
PYTHON
}
