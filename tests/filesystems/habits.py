# SPDX-License-Identifier: GPL-3.0-or-later
"""Saves: each by the program that has the habit, or by the calls that it makes."""
import errno
import mmap
import os
import shutil
import stat
import subprocess

import oracle
from bench import Bench, read, write
from mounts import Failure

DATA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "data")
ALL = []


def habit(name):
    def add(function):
        ALL.append((name, function))
        return function
    return add


def run(*command, **named):
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, **named)
    if done.returncode:
        raise Failure(f"{command[0]}: status {done.returncode}: {(done.stderr + done.stdout).decode().strip()}")


# Each gets the view, the edit as old and new piece of its text, and a file with the whole new text.

@habit("cp, in place")
def by_cp(path, _old, _new, whole):
    run("cp", whole, path)


@habit("write and fsync, in place")
def by_fsync(path, _old, _new, whole):
    write(path, read(whole), os.O_WRONLY | os.O_TRUNC, sync=True)


@habit("overwrite and truncate")
def by_truncating(path, _old, _new, whole):
    fd = os.open(path, os.O_RDWR)
    os.write(fd, read(whole))
    os.ftruncate(fd, os.path.getsize(whole))
    os.close(fd)


@habit("append after the first line")
def by_appending(path, _old, _new, whole):
    run("sh", "-c", 'head -n 1 "$1" >"$2" && tail -n +2 "$1" >>"$2"', "sh", whole, path)


def mapped(path, whole, sync):
    text = read(whole)
    fd = os.open(path, os.O_RDWR)
    os.ftruncate(fd, len(text))
    with mmap.mmap(fd, len(text)) as view:
        view[:] = text
        if sync:
            view.flush()
    os.close(fd)


@habit("mmap and msync")
def by_msync(path, _old, _new, whole):
    mapped(path, whole, True)


@habit("mmap and close")
def by_mapping(path, _old, _new, whole):
    mapped(path, whole, False)


@habit("sed -i")
def by_sed(path, old, new, _whole):
    run("sed", "-i", f"s/{old}/{new}/", path)


@habit("perl -pi")
def by_perl(path, old, new, _whole):
    run("perl", "-pi", "-e", f"s/{old}/{new}/", path)


def vim(path, old, new, how):
    run("vim", "-u", "NONE", "-N", "-es", "-c", f"set {how}", "-c", f"%s/{old}/{new}/", "-c", "wq", path)


@habit("vim, renaming away")
def by_vim(path, old, new, _whole):
    vim(path, old, new, "backupcopy=no")


@habit("vim, in place")
def by_vim_in_place(path, old, new, _whole):
    vim(path, old, new, "backupcopy=yes")


@habit("rename away and create")
def by_renaming_away(path, _old, _new, whole):
    os.rename(path, path + "~")
    write(path, read(whole), os.O_WRONLY | os.O_CREAT | os.O_EXCL, sync=True)
    os.unlink(path + "~")


@habit("rename over the open view")
def by_renaming_over(path, _old, _new, whole):
    """As GLib does; who has the old text open keeps it."""
    before = read(path)
    with open(path, "rb", buffering=0) as old:
        temporary = os.path.join(os.path.dirname(path), ".goutputstream-ABC123")
        write(temporary, read(whole), os.O_WRONLY | os.O_CREAT | os.O_EXCL, sync=True)
        os.rename(temporary, path)
        if old.read() != before:
            raise Failure("the open view has another text")


@habit("gio save")
def by_gio(path, _old, _new, whole):
    with open(whole, "rb") as file:
        done = subprocess.run(["gio", "save", path], stdin=file, capture_output=True, check=False)
    if done.returncode:
        raise Failure(f"gio save: {done.stderr.decode().strip()}")


def older(whole):
    """So that no program takes it for the old one."""
    os.utime(whole, (1600000000, 1600000000))


@habit("rsync")
def by_rsync(path, _old, _new, whole):
    older(whole)
    run("rsync", whole, path)


@habit("rsync -a --inplace")
def by_rsync_in_place(path, _old, _new, whole):
    older(whole)
    run("rsync", "-a", "--inplace", whole, path)


@habit("mv from elsewhere")
def by_mv(path, _old, _new, whole):
    run("cp", whole, whole + ".copy")
    run("mv", whole + ".copy", path)


@habit("mv inside the mount")
def by_mv_inside(path, _old, _new, whole):
    run("cp", whole, path + ".new")
    run("mv", path + ".new", path)


@habit("rm and write")
def by_removing(path, _old, _new, whole):
    os.unlink(path)
    write(path, read(whole))


@habit("tar -x")
def by_tar(path, _old, _new, whole):
    folder, name = os.path.split(path)
    run("sh", "-c", 'tar -C "$1" -c --transform "s/.*/$3/" "$2" | tar -C "$4" -x', "sh", os.path.dirname(whole),
        os.path.basename(whole), name, folder)


def one_habit(bench: Bench, number, function):
    name = f"save{number}.canm"
    x = 2.5 + number
    clips = oracle.with_x(oracle.sample(), x)
    path = bench.put(name)
    whole = bench.texts(f"{number}.csv")
    write(whole, oracle.bone_csv(clips))
    folder = os.path.dirname(path)
    names = sorted(os.listdir(folder))
    edit = ("1\\.5,-2", f"{x},-2", whole)
    said = None
    try:
        function(path, *edit)
    except Failure as error:
        if bench.facts["chmod"] or "ermission" not in str(error):
            raise
        said = f"without chmod() the program complains: {error}".replace("\n", " | ")
    bench.soon_holds(name, clips)
    bench.shows(name, clips)
    if sorted(os.listdir(folder)) != names:
        raise Failure(f"the folder has {sorted(os.listdir(folder))}")
    return said


# ---- what else there is to save ----

def refusal(path, text, how):
    """The errno with which a bad text is refused."""
    try:
        if how == "rename":
            write(path + ".new", text)
            os.rename(path + ".new", path)
        else:
            write(path, text, sync=how == "fsync")
    except OSError as error:
        return errno.errorcode[error.errno]
    return "no refusal"


def refused(bench):
    for how in ("close", "fsync", "rename"):
        path = bench.put(f"refused-{how}.canm")
        bad = oracle.bone_csv(oracle.sample()).replace(b"1.5,-2", f"{how},-2".encode())
        if (said := refusal(path, bad, how)) != "EBADMSG":
            raise Failure(f"{how}: {said}")
        if read(path + ".rejected") != bad or how.encode() not in read(path + ".error"):
            raise Failure(f"{how}: the refused text is not kept")
        bench.holds(f"refused-{how}.canm", oracle.sample())


def refused_is_kept(bench):
    """After the next mount; a good save then takes it away."""
    path = bench.bone("refused-rename.canm")
    if b"rename,-2" not in read(path + ".rejected"):
        raise Failure("another text is kept")
    clips = oracle.with_x(oracle.sample(), 9.5)
    write(path, oracle.bone_csv(clips))
    bench.holds("refused-rename.canm", clips)
    if os.path.exists(path + ".rejected"):
        raise Failure("it stays after a good save")


def whole_file(bench):
    bench.put("whole.canm")
    clips = oracle.with_x(oracle.sample(), 7.5)
    write(bench.texts("whole"), oracle.write(clips))
    run("cp", bench.texts("whole"), bench.mnt("whole.canm", "raw.canm"))
    bench.holds("whole.canm", clips)
    bench.soon_shows("whole.canm", clips)


def large_file(bench):
    path = bench.put("large.canm", oracle.large())
    clips = oracle.with_x(oracle.large(), 2.5)
    write(path, oracle.bone_csv(clips))
    bench.holds("large.canm", clips)
    if read(bench.mnt("large.canm", "raw.canm")) != oracle.write(clips):
        raise Failure("raw.canm is another")


def skeleton(bench):
    bench.put("rig.canm")
    write(bench.mnt("rig.canm", "skeleton.csv"), b"bone,parent,ty\nhips,root,1\nroot,,\n")
    if b"hips,root" not in read(bench.src("rig.canm.skeleton.csv")):
        raise Failure("it is not beside the file")
    bench.holds("rig.canm", oracle.sample())


def attributes(path):
    status = os.stat(path)
    try:
        names = {name: os.getxattr(path, name) for name in os.listxattr(path) if name.startswith("user.")}
    except OSError:
        names = {}
    return stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, names


def kept_attributes(bench):
    """As far as the filesystem has them."""
    path = bench.put("owned.canm")
    file = bench.src("owned.canm")
    for has, function, arguments in (("modes", os.chmod, (0o640,)), ("xattrs", os.setxattr, ("user.note", b"mine")),
                                     ("owners", os.chown, (1234, 2345))):
        if bench.facts[has]:
            function(file, *arguments)
    before = attributes(file)
    for i, how in enumerate((by_fsync, by_renaming_away, by_sed)):
        clips = oracle.with_x(oracle.sample(), 3.5 + i)
        whole = bench.texts("owned.csv")
        write(whole, oracle.bone_csv(clips))
        how(path, "[0-9.]*,-2", f"{3.5 + i},-2", whole)
        bench.soon_holds("owned.canm", clips)
        if attributes(file) != before:
            raise Failure(f"{attributes(file)}, not {before}")


def other_link(bench):
    """The file is replaced under the name that was saved; its other name keeps the old one."""
    if not bench.facts["links"]:
        return "no hard links"
    path = bench.put("linked.canm")
    os.link(bench.src("linked.canm"), bench.src("link"))
    clips = oracle.with_x(oracle.sample(), 5.5)
    write(path, oracle.bone_csv(clips))
    bench.holds("linked.canm", clips)
    bench.holds("link", oracle.sample())
    os.unlink(bench.src("link"))
    return None


def quick_saves(bench):
    """Within a step of any clock: of one view, and of two by turns."""
    path = bench.put("quick.canm")
    clips = oracle.sample()
    for i in range(20):
        clips = oracle.with_x(clips, 2.5 + i)
        write(path, oracle.bone_csv(clips))
        bench.holds("quick.canm", clips)
        clips = oracle.with_x(clips, 40.5 + i, "hand")
        write(bench.bone("quick.canm", "hand"), oracle.bone_csv(clips, "hand"))
        bench.holds("quick.canm", clips)
    bench.shows("quick.canm", clips)
    bench.shows("quick.canm", clips, "hand")


def ordinary_file(bench):
    """A file that is no animation, through the mount."""
    file, there = bench.mnt("notes.txt"), bench.src("notes.txt")
    text = bytes(range(256)) * 1000
    write(file, text, sync=True)
    write(file, b"more", os.O_WRONLY | os.O_APPEND)
    if read(there) != text + b"more":
        raise Failure("written, or appended: it is another")
    fd = os.open(file, os.O_RDWR)
    with mmap.mmap(fd, 4096) as view:
        view[100:105] = b"hello"
        view.flush()
    os.ftruncate(fd, 1000)
    os.close(fd)
    if read(there) != text[:100] + b"hello" + text[105:1000]:
        raise Failure("mapped and truncated: it is another")
    with open(file, "rb", buffering=0) as still:
        os.unlink(file)
        if os.path.exists(there):
            raise Failure("it is not removed")
        if len(still.read()) != 1000:
            raise Failure("it cannot be read after it was removed")


def beside(bench):
    """A note in a folder that is none, and a backup as editors make it."""
    path = bench.put("note.canm")
    note = bench.mnt("note.canm", "walk", "notes.txt")
    write(note, b"check the knees\n")
    write(path + "~", read(path))
    if read(note) != b"check the knees\n" or read(path + "~") != oracle.bone_csv(oracle.sample()):
        raise Failure("they are others")
    bench.holds("note.canm", oracle.sample())


def beside_is_kept(bench):
    if read(bench.mnt("note.canm", "walk", "notes.txt")) != b"check the knees\n":
        raise Failure("it is another")
    if read(bench.bone("note.canm") + "~") != oracle.bone_csv(oracle.sample()):
        raise Failure("the backup is another")


MARKS = 'w?*<|>k'


def marked_names(bench):
    """A note beside texts whose names not every filesystem can store."""
    clips = oracle.sample()
    clips[0] = oracle.Clip(MARKS, clips[0].bones)
    write(bench.src("marks.canm"), oracle.write(clips))
    bench.wait(lambda: os.path.isdir(bench.mnt("marks.canm", MARKS)), "it does not become a folder")
    write(bench.mnt("marks.canm", MARKS, "notes.txt"), b"a note\n")
    path = bench.bone("marks.canm", clip=MARKS)
    if (said := refusal(path, b"frame,tx\n0,x\n", "close")) != "EBADMSG":
        raise Failure(f"a bad text: {said}")
    clips = oracle.with_x(clips, 4.5)
    write(path + ".new", oracle.bone_csv(clips))
    os.rename(path + ".new", path)
    bench.holds("marks.canm", clips)


def marked_names_are_kept(bench):
    if read(bench.mnt("marks.canm", MARKS, "notes.txt")) != b"a note\n":
        raise Failure("the note is another")


def no_stray_lines(bench):
    """Every file that was saved is in SOURCE as the mount says."""
    for name in sorted(os.listdir(bench.source)):
        if name.endswith(".canm"):
            raw = bench.mnt(name, "raw.canm")
            if read(raw) != read(bench.src(name)):
                raise Failure(f"{name} is another")


def samples(bench):
    """Files of every format, byte for byte."""
    for folder, suffix in (("canm", "canm"), ("cas", "cas"), ("owanim", "006"), ("ff9anim", "ff9anim"),
                           ("ribbon", "anm"), ("kanim", "kanim")):
        for name in sorted(os.listdir(os.path.join(DATA, folder))):
            if not name.endswith("." + suffix):
                continue
            text = read(os.path.join(DATA, folder, name))
            write(bench.mnt(name), text)
            if read(bench.src(name)) != text:
                raise Failure(f"{name} is another")
            inside = bench.mnt(name + ".d" if suffix == "kanim" else name, f"raw.{suffix}")
            if os.path.exists(inside) and read(inside) != text:
                raise Failure(f"{inside} is another")
            if os.path.isdir(bench.mnt(name)):
                shutil.rmtree(bench.mnt(name))
            else:
                os.unlink(bench.mnt(name))
            bench.is_gone(bench.src(name))


def saves(bench):
    check = bench.report.check
    bench.report.begin("saves")
    bench.begin()
    for number, (name, function) in enumerate(ALL):
        check(name, one_habit, bench, number, function)
    check("a bad text is refused and kept", refused, bench)
    check("a whole file, by raw.canm", whole_file, bench)
    check("a large file", large_file, bench)
    check("a skeleton", skeleton, bench)
    check("mode, owner and xattrs stay", kept_attributes, bench)
    check("another link keeps the old file", other_link, bench)
    check("forty saves in a row", quick_saves, bench)
    check("an ordinary file", ordinary_file, bench)
    check("a note and a backup beside views", beside, bench)
    check("a note beside views named with ?*<|>", marked_names, bench)
    check("samples of every format", samples, bench)
    check("the end of the mount", bench.end)
    bench.begin()
    check("the next mount has the same files", no_stray_lines, bench)
    check("the refused text", refused_is_kept, bench)
    check("the note and the backup", beside_is_kept, bench)
    check("the note beside views named with ?*<|>", marked_names_are_kept, bench)
    check("the end of that mount", bench.end)
    bench.clear()
