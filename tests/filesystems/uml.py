# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command under a User-mode Linux, whose kernel has filesystems that this one may lack."""
import glob
import os
import shlex
import shutil

HERE = os.path.dirname(os.path.realpath(__file__))


def modules():
    return next(iter(sorted(glob.glob("/usr/lib/uml/modules/*"))), None)


def why_not():
    if not shutil.which("linux.uml") or not modules():
        return "there is no linux.uml"
    return None


def command(words, script):
    """What to run; `script` is a file that it reads. Its /dev/shm is its own."""
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"cd {shlex.quote(os.getcwd())}\nexport PYTHONDONTWRITEBYTECODE=1 ANIMFS_TEST_DIR=/dev/shm\n")
        file.write(f"export PATH={shlex.quote(os.environ['PATH'])}\n{shlex.join(words)}\n")
    return ["linux.uml", "mem=1G", "root=none", "rootfstype=hostfs", "rootflags=/", "rw", "quiet", "con=null",
            "con0=null,fd:1", f"init={HERE}/uml.sh", f"UML_RUN={script}", f"UML_MODULES={modules()}"]
