#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# editors_views.sh - the programs that are installed save in views of other kinds and formats than
# the other tests of editors do. make test-editors has all programs, all views, and faults.
EDIT_VIEWS='canm/clip.json canm/skeleton.csv owanim/curves.csv ribbon/bone.json' \
	exec bash "$(dirname "$0")/../editors/matrix.sh"
