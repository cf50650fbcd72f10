#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# batches_slow.sh - a copy by one program is one batch however long it takes, as long as it does not pause
# for 2 s: an old text at its end does not undo the edit at its beginning.
. "$(dirname "$0")/lib.sh"
cp tests/data/canm/wiki512.canm "$SRC/a.canm"
mount_stopped

slow_copy()
{
	python3 - "$MNT" <<'PYTHON'
import glob, os, sys

mount = sys.argv[1]
bones = mount + "/a.canm/walk/bones/"
names = sorted(name for name in os.listdir(bones) if name.endswith((".csv", ".json")))
texts = {name: open(bones + name).read() for name in names}
edited = next(name for name in names if name.endswith(".csv"))
old = edited[:-4] + ".json"
rows = [row.split(",") for row in texts[edited].split("\n")]
rows[1][2] = "9.25"
texts[edited] = "\n".join(map(",".join, rows))
others = [name for name in names if name not in (edited, old)]
assert len(others) >= 6
for name in [edited] + others[:6] + [old]:
    with open(bones + name, "w") as file:
        file.write(texts[name])
    with open(mount + "/.animfs/clock", "w") as clock:
        clock.write("1900")
got = open(bones + edited).read().split("\n")[1].split(",")[2]
assert got == "9.25", got
PYTHON
}

ok "a copy of 15 seconds keeps its edit" slow_copy
like "and the old text is named" "$(<"$MNT/.animfs/errors")" 'bones/[^ ]*\.json: '
umount_animfs
