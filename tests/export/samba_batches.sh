#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# samba_batches.sh - Samba's server is the program that writes several views: what tests/mount/batches.sh
# checks, with smbclient in front. $BATCH_SEEDS orders (3).
# limit: 3600
# shellcheck source-path=SCRIPTDIR/../..
. tests/mount/lib.sh
. tests/mount/checks.bash
. tests/export/samba.bash
reason=$(can_mount) || skip_all "$reason"
chmod 755 "$WORK"
serve_samba work "$WORK"
export BATCH_SMB=$SMB_PORT:$SMB_CONF BATCH_OPTIONS="-o allow_other"
checks_of python3 tests/mount/batches.py --seeds="${BATCH_SEEDS:-3}" --first="${BATCH_FIRST:-1}" --only="${BATCH_ONLY:-}"
end_samba
