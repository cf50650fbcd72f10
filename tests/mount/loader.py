# SPDX-License-Identifier: GPL-3.0-or-later
"""What the game Earth Defense Force gets for a path, with EDFModLoader: loader.py GAME PATH...

Prints for each PATH that the game opens ("/cri_bind/OBJECT/X.CAS") the file of Mods that is taken,
or "archive". Windows ignores case, on disk as well: that two files are equal but for that cannot be
there, and ends this with an error.

The rule: a path that begins with "/cri_bind/", exactly, becomes "./Mods/" and the rest if a file is
there that is no directory; else the archive's member is used. "." is the folder of the game's exe.
"""
import os
import sys

PREFIX = "/cri_bind/"
EXES = ("edf41.exe", "edf5.exe", "edf6.exe")


def entries(folder, name):
    """The entries that Windows would take for this name; it can be one at most."""
    found = [entry for entry in os.listdir(folder) if entry.lower() == name.lower()]
    if len(found) > 1:
        sys.exit("%s: both are there: %s" % (folder, " ".join(sorted(found))))
    return found


def windows_path(folder, path):
    """The real path; None: there is none."""
    for part in path.replace("\\", "/").split("/"):
        if part in ("", "."):
            continue
        if not os.path.isdir(folder):
            return None
        found = [".."] if part == ".." else entries(folder, part)
        if not found:
            return None
        folder = os.path.join(folder, found[0])
    return folder


def load(game, path):
    """The loose file that the game gets; None: the archive's member."""
    if not any(exe in EXES for exe in (name.lower() for name in os.listdir(game))):
        sys.exit("%s: there is no game" % game)
    if not path.startswith(PREFIX):
        return None
    real = windows_path(game, "./Mods/" + path[len(PREFIX):])
    return real if real is not None and not os.path.isdir(real) else None


def main(game, *paths):
    for path in paths:
        real = load(game, path)
        print("archive" if real is None else os.path.relpath(real, game))


if __name__ == "__main__":
    main(*sys.argv[1:])
