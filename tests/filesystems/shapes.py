# SPDX-License-Identifier: GPL-3.0-or-later
"""Structure: clips and files that are renamed, copied, moved and removed, and folders that are filled."""
import os
import shutil
import subprocess

import oracle
from bench import read, write
from habits import run
from mounts import Failure

WALK, IDLE = oracle.sample()


def named(clip, name):
    return oracle.Clip(name, clip.bones)


def fails(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == 0:
        raise Failure(f"{command} ends well")


def clip_renamed(bench):
    bench.put("clip.canm")
    run("mv", bench.mnt("clip.canm", "walk"), bench.mnt("clip.canm", "run"))
    bench.soon_says("clip.canm", [named(WALK, "run"), IDLE])
    if os.path.exists(bench.mnt("clip.canm", "walk")):
        raise Failure("the old name is still there")
    shows_clip(bench, "clip.canm", "run", WALK)


def clip_copied(bench):
    run("cp", "-r", bench.mnt("clip.canm", "run"), bench.mnt("clip.canm", "strut"))
    bench.soon_says("clip.canm", [named(WALK, "run"), IDLE, named(WALK, "strut")])


def clip_filled(bench):
    """By mkdir and texts that no animation had."""
    new = named(oracle.with_x([WALK], 99.5)[0], "new")
    bench.put("fill.canm")
    os.makedirs(bench.mnt("fill.canm", "new", "bones"))
    for bone in new.bones:
        write(bench.bone("fill.canm", bone, "new"), oracle.bone_csv([new], bone))
    bench.soon_says("fill.canm", [WALK, IDLE, new])


def clip_moved(bench):
    bench.put("from.canm")
    bench.put("to.canm", [named(WALK, "other"), IDLE], clip="other")
    write(bench.mnt("from.canm", "walk", "notes.txt"), b"with it\n")
    run("mv", bench.mnt("from.canm", "walk"), bench.mnt("to.canm", "walk"))
    bench.soon_says("to.canm", [named(WALK, "other"), IDLE, WALK])
    bench.soon_says("from.canm", [IDLE])
    if read(bench.mnt("to.canm", "walk", "notes.txt")) != b"with it\n":
        raise Failure("the note is not with it")


def clip_removed(bench):
    bench.put("less.canm")
    run("rm", "-r", bench.mnt("less.canm", "walk"))
    bench.soon_says("less.canm", [IDLE])


def removal_undone(bench):
    run(bench.animfs, "undo", bench.src("less.canm"))
    bench.holds("less.canm", [WALK, IDLE])
    bench.soon_shows("less.canm", [WALK, IDLE])


def file_renamed(bench):
    """With what belongs to it."""
    bench.put("old.canm")
    write(bench.mnt("old.canm", "skeleton.csv"), b"bone,parent,ty\nhips,root,1\nroot,,\n")
    write(bench.mnt("old.canm", "walk", "notes.txt"), b"with it\n")
    run("mv", bench.mnt("old.canm"), bench.mnt("new.canm"))
    bench.holds("new.canm", oracle.sample())
    if os.path.lexists(bench.src("old.canm")) or os.path.lexists(bench.src("old.canm.skeleton.csv")):
        raise Failure("the old name is still there")
    if b"hips,root" not in read(bench.src("new.canm.skeleton.csv")):
        raise Failure("the skeleton is not with it")
    if read(bench.mnt("new.canm", "walk", "notes.txt")) != b"with it\n":
        raise Failure("the note is not with it")


def file_into_folder(bench):
    os.mkdir(bench.mnt("folder"))
    run("mv", bench.mnt("new.canm"), bench.mnt("folder"))
    bench.holds("folder/new.canm", oracle.sample())
    run("mv", bench.mnt("folder"), bench.mnt("moved"))
    bench.holds("moved/new.canm", oracle.sample())
    clips = oracle.with_x(oracle.sample(), 12.5)
    write(bench.bone("moved/new.canm"), oracle.bone_csv(clips))
    bench.holds("moved/new.canm", clips)
    if read(bench.mnt("moved", "new.canm", "walk", "notes.txt")) != b"with it\n":
        raise Failure("the note is not with it")
    if b"hips,root" not in read(bench.src("moved", "new.canm.skeleton.csv")):
        raise Failure("the skeleton is not with it")


def file_copied(bench):
    bench.put("source.canm")
    write(bench.mnt("source.canm", "walk", "notes.txt"), b"with it\n")
    run("cp", "-r", bench.mnt("source.canm"), bench.mnt("copy.canm"))
    bench.soon_holds("copy.canm", oracle.sample())
    bench.wait(lambda: os.path.exists(bench.mnt("copy.canm", "walk", "notes.txt")), "the note is not with it")
    bench.holds("source.canm", oracle.sample())


def file_edited_elsewhere(bench):
    """Copied out of the mount, one text edited, and back."""
    bench.put("back.canm")
    away = bench.texts("back")
    run("cp", "-r", bench.mnt("back.canm"), away)
    clips = oracle.with_x(oracle.sample(), 6.5)
    write(os.path.join(away, "walk", "bones", "hips.csv"), oracle.bone_csv(clips))
    run("cp", "-r", os.path.join(away, "."), bench.mnt("back.canm"))
    bench.soon_holds("back.canm", clips)
    shutil.rmtree(away)


def file_filled(bench):
    """By mkdir, with a raw.canm, and with a clip that this lacks."""
    os.mkdir(bench.mnt("raw.canm"))
    write(bench.mnt("raw.canm", "raw.canm"), oracle.write(oracle.sample()))
    os.makedirs(bench.mnt("more.canm", "walk", "bones"))
    write(bench.mnt("more.canm", "raw.canm"), oracle.write([IDLE]))
    for bone in WALK.bones:
        write(bench.bone("more.canm", bone), oracle.bone_csv([WALK], bone))
    bench.soon_holds("raw.canm", oracle.sample())
    bench.soon_says("more.canm", [IDLE, WALK])


def file_filled_and_unmounted(bench):
    """It becomes a file at the unmount, or in the next mount."""
    os.mkdir(bench.mnt("late.canm"))
    write(bench.mnt("late.canm", "raw.canm"), oracle.write(oracle.sample()))
    bench.mount.end()
    bench.begin()
    bench.soon_holds("late.canm", oracle.sample())


def file_not_replaced(bench):
    """mv -n, with which the name stays another's; then over it."""
    first, second = oracle.sample(20.5), oracle.sample(21.5)
    for name, clips in (("first", first), ("second", second)):
        write(bench.mnt(f"{name}.bin"), oracle.write(clips))
    run("mv", "-n", bench.mnt("first.bin"), bench.mnt("second.bin"))
    bench.holds("second.bin", second)
    bench.holds("first.bin", first)
    run("mv", "-n", bench.mnt("first.bin"), bench.mnt("third.bin"))
    bench.holds("third.bin", first)
    run("mv", bench.mnt("third.bin"), bench.mnt("second.bin"))
    bench.holds("second.bin", first)
    if os.path.exists(bench.src("third.bin")) or os.path.exists(bench.src("first.bin")):
        raise Failure("an old name is still there")


def file_removed(bench):
    bench.put("gone.canm")
    run("rm", "-r", bench.mnt("gone.canm"))
    bench.is_gone(bench.src("gone.canm"))
    bench.is_gone(bench.mnt("gone.canm"))


def folder_removed(bench):
    bench.put("there.canm")
    os.makedirs(bench.mnt("tree", "deep"))
    run("mv", bench.mnt("there.canm"), bench.mnt("tree", "deep"))
    write(bench.mnt("tree", "deep", "notes.txt"), b"x")
    fails("rmdir", bench.mnt("tree", "deep"))
    run("rm", "-r", bench.mnt("tree"))
    bench.is_gone(bench.src("tree"))


def other_case(bench):
    """Names that differ by case only are one name where the filesystem says so."""
    path = bench.put("case.canm")
    one = "case" in bench.facts["names"]
    if os.path.exists(bench.mnt("CASE.canm")) != one:
        raise Failure(f"CASE.canm is {'not ' if one else ''}there")
    os.rename(bench.mnt("case.canm"), bench.mnt("Case.canm"))
    if "Case.canm" not in os.listdir(bench.source) or "Case.canm" not in os.listdir(bench.mount.point):
        raise Failure(f"it has not the new name: {os.listdir(bench.source)}")
    bench.holds("Case.canm", oracle.sample())
    if one:
        clips = oracle.with_x(oracle.sample(), 8.5)
        write(path, oracle.bone_csv(clips))
        # The filesystem itself may show an old file by another spelling than the one that was replaced.
        seen = "Case.canm" if bench.facts["spellings"] else "case.canm"
        bench.holds(seen, clips)
        bench.soon_shows(seen, clips)


def linked_names(bench):
    """A symbolic link in SOURCE, to a file and as a name of a new one."""
    if not bench.facts["symlinks"]:
        return "no symbolic links"
    bench.put("target.canm")
    os.symlink("target.canm", bench.mnt("pointer.canm"))
    if os.readlink(bench.src("pointer.canm")) != "target.canm":
        raise Failure("it leads elsewhere")
    clips = oracle.with_x(oracle.sample(), 5.5)
    write(bench.bone("pointer.canm"), oracle.bone_csv(clips))
    bench.holds("target.canm", clips)
    os.unlink(bench.mnt("pointer.canm"))
    bench.holds("target.canm", clips)
    return None


def shows_clip(bench, name, clip, wanted):
    text = read(bench.bone(name, clip=clip))
    if text != oracle.bone_csv([wanted]):
        raise Failure(f"{clip} says {text!r}")


ALL = [
    ("a clip is renamed", clip_renamed),
    ("a clip is copied", clip_copied),
    ("a clip is made of texts", clip_filled),
    ("a clip is moved into another file", clip_moved),
    ("a clip is removed", clip_removed),
    ("the removal is undone", removal_undone),
    ("a file is renamed", file_renamed),
    ("a file is moved into a folder, the folder renamed", file_into_folder),
    ("a file is copied", file_copied),
    ("a file is copied out, edited and copied back", file_edited_elsewhere),
    ("files are made of folders", file_filled),
    ("one that is being filled at the unmount", file_filled_and_unmounted),
    ("mv -n, and mv over a file", file_not_replaced),
    ("a file is removed", file_removed),
    ("a folder of files is removed", folder_removed),
    ("a name in another case", other_case),
    ("a symbolic link", linked_names),
]


def shapes(bench):
    bench.report.begin("structure")
    bench.begin()
    for name, function in ALL:
        bench.report.check(name, function, bench)
    bench.report.check("the end of the mount", bench.end)
    bench.clear()
