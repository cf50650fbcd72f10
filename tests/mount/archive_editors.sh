#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# archive_editors.sh - the programs that are installed save in views of members of archives: each
# edit is in a loose file. make test-editors has all programs and all views.
EDIT_ARCHIVE=1 EDIT_VIEWS='canm/bone.csv ribbon/curves.csv' \
	exec bash "$(dirname "$0")/../editors/matrix.sh"
