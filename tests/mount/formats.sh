#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# formats.sh - invented files of every format: the texts have the stored values, saving them back changes
# nothing, and random edits are checked by readers of the formats that share nothing with the program. No
# mount; 'make test-formats' does the same with thousands of files.
. "$(dirname "$0")/lib.sh"
export PYTHONDONTWRITEBYTECODE=1 TMPDIR=$WORK
for format in owanim ff9anim ribbon cas ff9clip; do
	ok "$format" python3 tests/tools/check_formats.py --count 4 --edits 3 --format "$format" "$ANIMFS"
done
