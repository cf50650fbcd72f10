# SPDX-License-Identifier: GPL-3.0-or-later
"""What people save, in steps: every format, and every way in which programs save.

A step is a function of the mountpoint that returns when what it promises is kept. Between two
steps SOURCE is as it was, or as it is after.
"""
import errno
import os
import re
import shutil

from mounts import write

DATA = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "data"))


class Save:
    """files: {name in SOURCE: sample}; looks: views whose texts are to be what the binary says.

    between: the steps touch several files of SOURCE one after the other, so that each by itself is
    old or new. fills: from half of a text that comes the next mount may make what that says.
    """

    def __init__(self, name, files, steps, looks=(), before=None, between=False, fills=False):
        self.name = name
        self.files = files
        self.steps = steps
        self.looks = looks
        self.before = before
        self.between = between
        self.fills = fills

    def make_source(self, source):
        for name, sample in self.files.items():
            shutil.copyfile(os.path.join(DATA, sample), os.path.join(source, name))


# ---- how ----

def read(path):
    with open(path, "rb") as file:
        return file.read()


def by_close(path, text):
    return [lambda: write(path, text)]


def by_fsync(path, text):
    return [lambda: write(path, text, sync=True)]


def by_rename(path, text):
    new = os.path.join(os.path.dirname(path), ".new~")
    return [lambda: write(new, text), lambda: os.rename(new, path)]


def by_ftruncate(path, text):
    return [lambda: write(path, text, os.O_WRONLY | os.O_CREAT, empty=True)]


def by_moving_away(path, text):
    return [
        lambda: os.rename(path, path + "~"),
        lambda: write(path, text, sync=True),
        lambda: os.unlink(path + "~"),
    ]


def by_removing(path, text):
    return [lambda: os.unlink(path), lambda: write(path, text)]


HOWS = {
    "close": by_close,
    "fsync": by_fsync,
    "rename": by_rename,
    "ftruncate": by_ftruncate,
    "moved away": by_moving_away,
    "removed": by_removing,
}

# ---- texts ----

# SAMPLE VIEW OLD NEW: a regular expression and what stands there instead.
EDITS = [
    ("canm/wiki512.canm", "walk/bones/Bone01.csv", r"1\.5,-2", "2.5,-2"),
    ("canm/wiki512.canm", "walk/bones/Bone01.json", r"\[1\.5, -2", "[2.5, -2"),
    ("canm/wiki512.canm", "walk/clip.json", '"loop": true', '"loop": false'),
    ("canm/wiki512.canm", "walk/curves.csv", r"(?m)^Bone01,translation,0,0,1\.5",
     "Bone01,translation,0,0,2.5"),
    ("canm/wiki512.canm", "skeleton.csv", "(?m)^Bone01,,,", "Bone01,,1.5,"),
    ("cas/v203.cas", "walk/bones/Bone01.csv", r"1\.5,-2", "2.5,-2"),
    ("owanim/walk.006", "walk/curves.csv", r",2,0\.066667,0\.8535156", ",2,0.066667,0.8544922"),
    ("ff9anim/frames007_low.ff9anim", "frames007_low/bones/bone_000.csv", ",24591,9605",
     ",24592,9605"),
    ("ribbon/frames030.anm", "frames030/bones/object_000.json", r"\[11949,", "[11950,"),
    ("ribbon/frames030.anm", "frames030/curves.csv", ",11949,418", ",11950,418"),
    ("kanim/stick.kanim", "frames.csv", "%,1,1,", "%,1,1.5,"),
    ("kanim/stick.kanim", "file.json", '"loop": true', '"loop": false'),
]


class LazySteps:
    """Steps of a text that is made of what the view says when the first of them is done first."""

    def __init__(self, how, place, change):
        self.how = how
        self.place = place
        self.change = change
        self.count = len(how("/x", b""))

    def steps(self):
        texts = []

        def step(i):
            def run(point):
                path = os.path.join(point, self.place)
                if not texts:
                    texts.append(self.change(read(path)))
                self.how(path, texts[0])[i]()
            return run

        return [step(i) for i in range(self.count)]


def folder_of(name):
    return name + ".d" if name.endswith(".kanim") else name


def replaced(old, new):
    def change(text):
        changed = re.sub(old, new, text.decode(), count=1)
        if changed.encode() == text:
            raise ValueError(f"{old} is not in the text: {text[:400]}")
        return changed.encode()
    return change


def edit_saves():
    saves = []
    for sample, view, old, new in EDITS:
        name = os.path.basename(sample)
        place = f"{folder_of(name)}/{view}"
        for how, function in HOWS.items():
            lazy = LazySteps(function, place, replaced(old, new))
            saves.append(Save(f"{place}, {how}", {name: sample}, lazy.steps(), [place]))
    return saves


WRONG = replaced(r",\d", ",0..1/2")


def refused(function, place, change):
    """A step that must be refused with EBADMSG and leave the text."""
    def run(point):
        path = os.path.join(point, place)
        steps = function(path, change(read(path)))
        for step in steps[:-1]:
            step()
        try:
            steps[-1]()
        except OSError as error:
            if error.errno != errno.EBADMSG:
                raise
            return
        raise ValueError(f"{place}: not refused")
    return run


def refusal_saves():
    place = "wiki512.canm/walk/bones/Bone01.csv"
    files = {"wiki512.canm": "canm/wiki512.canm"}
    other = replaced(",[0-9]", ",oops")
    saves = []
    for how in ("close", "fsync", "rename"):
        saves.append(Save(
            f"refused text, {how}", files,
            [refused(HOWS[how], place, WRONG), refused(HOWS[how], place, other)], [place],
        ))
    right = LazySteps(by_close, place, replaced(r"1\.5,-2", "2.5,-2")).steps()
    saves.append(Save(
        "refused text, then a right one", files,
        [refused(by_close, place, WRONG), *right], [place],
    ))
    return saves


# ---- folders ----

def sync_folder(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove_tree(path):
    """As rm -r does: what is there, each name once."""
    for entry in list(os.scandir(path)):
        if entry.is_dir(follow_symlinks=False):
            remove_tree(entry.path)
        else:
            os.unlink(entry.path)
    os.rmdir(path)


def at(function, *places, **named):
    return lambda point: function(*(os.path.join(point, place) for place in places), **named)


def copy_text(source, target):
    write(target, read(source))


def copies(target):
    """A clip's folder, made and filled."""
    walk = "wiki512.canm/walk"
    return [at(os.mkdir, target),
            at(copy_text, f"{walk}/clip.json", f"{target}/clip.json"),
            at(copy_text, f"{walk}/curves.csv", f"{target}/curves.csv")]


def new_file_of_raw(sample):
    name = os.path.basename(sample)
    suffix = name.split(".")[1]
    new = f"new.{suffix}"
    return [at(os.mkdir, new), at(copy_text, f"{name}/raw.{suffix}", f"{new}/raw.{suffix}"),
            lambda point: write_note(point, f"{new}/notes.txt"), at(sync_folder, new)]


KEYS = "walk.006/walk/bones/bone_0F30.csv"
NOTE = "wiki512.canm/walk/notes.txt"
CANM = {"wiki512.canm": "canm/wiki512.canm"}
BONE = "wiki512.canm/walk/bones/Bone01.csv"


def write_note(point, place=NOTE, text=b"a note\n", **how):
    write(os.path.join(point, place), text, **how)


def folder_saves():
    saves = [
        Save("rm -r of a clip", CANM,
             [at(remove_tree, "wiki512.canm/Idle"), at(sync_folder, "wiki512.canm")], [BONE],
             before=write_note),
        Save("mv of a clip with a note and a refused text", CANM,
             [at(os.rename, "wiki512.canm/walk", "wiki512.canm/strut")], [],
             before=lambda point: (write_note(point), refused(by_close, BONE, WRONG)(point)),
             between=True),
        Save("mv of a clip into another file",
             {"wiki512.canm": "canm/wiki512.canm", "edf6_768.canm": "canm/edf6_768.canm"},
             [at(os.rename, "wiki512.canm/walk", "edf6_768.canm/strut")],
             ["edf6_768.canm/turn/curves.csv"], between=True),
        Save("mkdir of a clip", CANM,
             [*copies("wiki512.canm/run"), at(sync_folder, "wiki512.canm/run")],
             [BONE], between=True, fills=True),
        Save("mkdir of a file, with a clip", CANM,
             [at(os.mkdir, "new.canm"), at(copy_text, "wiki512.canm/raw.canm", "new.canm/raw.canm"),
              *copies("new.canm/walk"), at(sync_folder, "new.canm")],
             [BONE], between=True, fills=True),
        Save("rm -r of a file", CANM, [at(remove_tree, "wiki512.canm")]),
        Save("keys removed", {"walk.006": "owanim/walk.006"},
             LazySteps(by_fsync, KEYS, lambda text: b"".join(
                 text.splitlines(True)[:2])).steps(), [KEYS]),
        Save("a view moved to a note, and a note onto a view", CANM,
             [at(os.rename, BONE, "wiki512.canm/walk/was.csv"),
              at(os.rename, "wiki512.canm/walk/was.csv", BONE)], [BONE]),
        Save("a view moved out of the file, and back", CANM,
             [at(os.rename, BONE, "was.csv"), at(os.rename, "was.csv", BONE)], [BONE],
             between=True),
        Save("notes", CANM,
             [write_note, lambda point: write_note(point, NOTE + "2", b"more\n", sync=True),
              at(os.rename, NOTE + "2", NOTE), at(os.unlink, NOTE)], [BONE],
             between=True),
        Save("ordinary files", CANM,
             [lambda point: write_note(point, "notes.txt"),
              lambda point: write_note(point, "notes.new", b"more\n", sync=True),
              at(os.rename, "notes.new", "notes.txt"), at(os.unlink, "notes.txt")], [BONE],
             between=True),
    ]
    for sample in sorted({edit[0] for edit in EDITS} - {"kanim/stick.kanim"}):
        name = os.path.basename(sample)
        suffix = name.split(".")[1]
        saves.append(Save(f"mv of a file, {name}", {name: sample},
                          [at(os.rename, name, f"moved.{suffix}")], before=lambda point, n=name:
                          write_note(point, f"{n}/notes.txt"), between=True))
        saves.append(Save(f"mkdir of a file with raw.{suffix}", {name: sample},
                          new_file_of_raw(sample), between=True, fills=True))
    return saves


def all_saves():
    return edit_saves() + refusal_saves() + folder_saves()
