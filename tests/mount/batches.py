#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
batches.py [--seeds N] [--first N] [--jobs N] [--only TEXT] - one program writes several views: what
must come of it, whatever the order, the program and what others do meanwhile. $ANIMFS is the program
under test, $WORK a folder for everything. Prints a line for each case: "ok NAME", "skip REASON", or
"not ok NAME" with the steps that led there, between TABs.

The files are made and read without the program (tests/filesystems/oracle.py): after each step the
bytes in SOURCE must hold exactly the values of a model to which the same edits were made, and then
every bone's CSV and JSON and each clip's curves.csv in the mount must say so, too. Values are such
that the format holds them exactly.

A case is LINE/WAY/SEED: a function with the name of the line below, and the program that copies a
tree of texts back. The seed decides the order of the copies, which text of a bone is edited, with
which value, and how other programs save.
"""
import argparse
import collections
import copy
import csv
import errno
import inspect
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import traceback
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "filesystems"))
import oracle  # noqa: E402

ANIMFS = os.environ.get("ANIMFS", "build/animfs")
WORK = os.environ.get("WORK", "/nowhere")
OPTIONS = tuple(os.environ.get("BATCH_OPTIONS", "").split())  # of every mount
STOPPED = "BATCH_SMB" not in os.environ  # the clock of the rules stands still: see lib.sh, mount_stopped
SETTLE = 60.0  # seconds within which a mount shows what another program did in SOURCE: as wait_for in lib.sh


def base_model():
    return [
        oracle.Clip("walk", {"root": [(0.0, 1.0, 0.0)], "hips": [(1.5, -2.0, 0.25)],
                             "spine": [(3.0, 4.0, 5.0)], "arm_L": [(6.0, 7.0, 8.0)],
                             "arm_R": [(0.0, 0.5, 1.0), (64.0, 0.0, 2.0), (3.5, 32.0, 0.0), (8.0, 8.0, 8.0)]}),
        oracle.Clip("idle", {"root": [(0.0, 2.0, 0.0)], "hips": [(1.5, 9.0, 0.5)], "arm_L": [(0.25, 0.5, 0.75)]}),
    ]


class Edit:
    """x of a bone's position in a frame."""

    def __init__(self, bone, value, clip="walk", frame=0):
        self.bone, self.value, self.clip, self.frame = bone, float(value), clip, frame

    def __str__(self):
        return f"{self.clip}/{self.bone}[{self.frame}].x={self.value:g}"


class Loop:
    def __init__(self, value, clip="walk"):
        self.value, self.clip = value, clip

    def __str__(self):
        return f"{self.clip}.loop={self.value}"


# ---- texts ----

def view_of(edit, kind):
    if isinstance(edit, Loop):
        return f"{edit.clip}/clip.json"
    return {"csv": f"{edit.clip}/bones/{edit.bone}.csv", "json": f"{edit.clip}/bones/{edit.bone}.json",
            "curves": f"{edit.clip}/curves.csv"}[kind]


def edited_rows(text, edit, wide):
    rows = text.split("\n")
    names = rows[0].split(",")
    column = names.index("x" if wide else "tx")
    frame = names.index("frame")
    done = 0
    for i, row in enumerate(rows[1:], 1):
        cells = row.split(",")
        if len(cells) != len(names) or cells[frame] != str(edit.frame):
            continue
        if wide and cells[:2] != [edit.bone, "translation"]:
            continue
        cells[column] = f"{edit.value:g}"
        rows[i] = ",".join(cells)
        done += 1
    assert done == 1, f"{done} rows for {edit}"
    return "\n".join(rows)


def edited_json(text, edit):
    head, tail = text.split('"translation"', 1)
    tail, count = re.subn(r'(\{"frame": %d, [^}]*"value": \[)[^,]*' % edit.frame,
                          lambda match: match.group(1) + f"{edit.value:g}", tail, count=1)
    assert count == 1, f"no key for {edit}"
    return head + '"translation"' + tail


def edited(text, edit, kind):
    if isinstance(edit, Loop):
        text, count = re.subn(r'"loop": (true|false)', '"loop": ' + str(edit.value).lower(), text, count=1)
        assert count == 1
        # The number as stored follows.
        return re.sub(r'"canm": \{"loop": \d+\}', '"canm": {"loop": %d}' % edit.value, text)
    if kind == "json":
        return edited_json(text, edit)
    return edited_rows(text, edit, kind == "curves")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


# ---- programs ----

class Failed(Exception):
    pass


def read_written(path):
    """What another program has just truncated, and not written yet, is empty, as in any file."""
    while not (data := read(path)):
        time.sleep(0.001)
    return data


def save_again(path, edit, kind, save=None):
    """A text that was changed by others while it was open is refused, and is saved once more."""
    for tries in range(2000):
        try:
            (save or save_tee)(path, edited(read_written(path).decode(), edit, kind).encode())
            return
        except OSError as error:
            # vim has moved it to F~, and not written it anew yet.
            if error.errno not in (errno.EBADMSG, errno.ENOENT) or tries == 1999:
                raise
            time.sleep(0.002)


def start(function, *args):
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        function(*args)
        status = 0
    except OSError as error:
        write(complaint(os.getpid()), repr(error).encode())
    except BaseException:
        write(complaint(os.getpid()), traceback.format_exc().encode())
    finally:
        os._exit(status)


def complaint(pid):
    return os.path.join(WORK, f"complaint.{pid}")


def ended(pid, what):
    _, status = os.waitpid(pid, 0)
    if status:
        raise Failed(f"{what}: " + read(complaint(pid)).decode())


def program(function, *args):
    """Runs it as a program of its own."""
    ended(start(function, *args), function.__name__)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    if done.returncode:
        raise Failed(f"{command[0]} ends with {done.returncode}: {(done.stderr or done.stdout).strip()[:500]}")
    return done.stdout


def save_tee(path, data):
    write(path, data)


def save_vscode(path, data):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        os.write(fd, data)
        try:
            os.fdatasync(fd)
        except OSError:
            pass
    finally:
        os.close(fd)


def save_rename(path, data):
    fd = os.open(path + ".new~", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, data)
    os.fchmod(fd, 0o644)
    os.close(fd)
    os.rename(path + ".new~", path)


def save_vim(path, data):
    """As vim does without backupcopy: F to F~, F anew, fsync, F~ away."""
    os.rename(path, path + "~")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    os.ftruncate(fd, 0)
    os.write(fd, data)
    os.fsync(fd)
    os.fchmod(fd, 0o644)
    os.close(fd)
    os.unlink(path + "~")


def save_mapped(path, data):
    import mmap
    fd = os.open(path, os.O_RDWR)
    os.ftruncate(fd, len(data))
    with mmap.mmap(fd, len(data)) as pages:
        pages[:] = data
        pages.flush()
    os.close(fd)


SAVES = {"tee": save_tee, "vscode": save_vscode, "rename": save_rename, "vim": save_vim, "msync": save_mapped}


def texts_in(tree, generated=True, raw=True):
    found = []
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), tree)
            if not generated and (path.endswith(".svg") or path.endswith(".x3d")):
                continue
            if raw or not name.startswith("raw."):
                found.append(path)
    return sorted(found)


def shuffled(rng, tree, **which):
    names = texts_in(tree, **which)
    rng.shuffle(names)
    return names


def relaid(rng, tree):
    """A copy whose files were made in another order, which is that of cp -r and tar."""
    to = tree + f".{rng.randrange(1 << 30)}"
    for name in shuffled(rng, tree):
        os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
        shutil.copy2(os.path.join(tree, name), os.path.join(to, name))
    return to


def back_cp_r(rng, tree, top):
    run("cp", "-r", relaid(rng, tree) + "/.", top)


def back_cp_a(rng, tree, top):
    run("cp", "-a", relaid(rng, tree) + "/.", top)


def back_cp_list(rng, tree, top):
    run("cp", "--parents", *shuffled(rng, tree), os.path.abspath(top), cwd=tree)


def back_install(rng, tree, top):
    run("cp", "--remove-destination", "--parents", *shuffled(rng, tree), os.path.abspath(top), cwd=tree)


def back_tar(rng, tree, top):
    archive = tree + ".tar"
    run("tar", "-C", tree, "-cf", archive, *shuffled(rng, tree))
    run("tar", "-C", top, "-xf", archive)


def back_tar_overwrite(rng, tree, top):
    archive = tree + ".tar"
    run("tar", "-C", tree, "-cf", archive, *shuffled(rng, tree))
    run("tar", "-C", top, "--overwrite", "-xf", archive)


def back_rsync(_, tree, top):
    run("rsync", "-rI", tree + "/", top + "/")


def back_rsync_a(_, tree, top):
    run("rsync", "-aI", tree + "/", top + "/")


def back_rsync_inplace(_, tree, top):
    run("rsync", "-rI", "--inplace", tree + "/", top + "/")


def back_unzip(rng, tree, top):
    archive = tree + ".zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in shuffled(rng, tree):
            file.write(os.path.join(tree, name), name)
    run("unzip", "-qo", archive, "-d", top)


def python_writes(save, names, tree, top):
    for name in names:
        save(os.path.join(top, name), read(os.path.join(tree, name)))


def back_python(rng, tree, top):
    program(python_writes, save_tee, shuffled(rng, tree), tree, top)


def back_python_rename(rng, tree, top):
    program(python_writes, save_rename, shuffled(rng, tree), tree, top)


def back_vscode(rng, tree, top):
    program(python_writes, save_vscode, shuffled(rng, tree), tree, top)


def thread_writes(names, tree, top):
    failed = []

    def work(part):
        try:
            python_writes(save_tee, part, tree, top)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(names[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def back_threads(rng, tree, top):
    program(thread_writes, shuffled(rng, tree), tree, top)


def refused_by_vim(tree):
    return tree + ".vim.refused"


def back_vim(rng, tree, top):
    """All texts that can be edited in one vim, each written by :write; one that was refused, once more."""
    script = tree + ".vim"
    lines = ["set nomore", "function Write(name)", "  for tries in range(5)", "    try",
             f"      execute 'edit! {top}/' .. a:name", "      silent %delete _",
             f"      call setline(1, readfile('{tree}/' .. a:name))", "      silent write!", "      return", "    catch",
             f"      call writefile([v:exception], '{refused_by_vim(tree)}', 'a')", "    endtry", "  endfor", "  cquit", "endfunction"]
    lines += [f"call Write('{name}')" for name in shuffled(rng, tree, generated=False, raw=False)]
    with open(script, "w") as file:
        file.write("\n".join(lines + ["qall!", ""]))
    # To "The file has been changed since reading it. Do you really want to write to it?"
    run("vim", "-u", "NONE", "-N", "-i", "NONE", "-es", "-S", script, input="y\n" * 1000)


def back_namespace(rng, tree, top):
    """From another PID namespace."""
    run("unshare", "-p", "-f", "cp", "-r", relaid(rng, tree) + "/.", top)


def back_groups(rng, tree, top):
    """{ a; b; } > F by one shell."""
    script = tree + ".sh"
    with open(script, "w") as file:
        for name in shuffled(rng, tree):
            file.write(f'{{ head -n 2 "$1/{name}"; tail -n +3 "$1/{name}"; }} > "$2/{name}" || exit 1\n')
    run("bash", script, tree, top)


def back_bash_c(rng, tree, top):
    """The last command of bash -c is run in the place of the shell."""
    run("bash", "-c", 'test -d "$1"; cp -r . "$1"', "bash", top, cwd=relaid(rng, tree))


def mapped_writes(names, tree, top):
    import mmap
    for name in names:
        data = read(os.path.join(tree, name))
        fd = os.open(os.path.join(top, name), os.O_RDWR)
        os.ftruncate(fd, len(data))
        pages = mmap.mmap(fd, len(data))
        try:
            os.close(fd)
        except OSError as error:
            # It may be told that a text which was cut, and is not written yet, is none.
            assert error.errno == errno.EBADMSG, error
        pages[:] = data
        pages.close()


def back_mapped(rng, tree, top):
    """Through mappings that are written after close."""
    program(mapped_writes, shuffled(rng, tree), tree, top)


def back_smb(_, tree, top):
    smbclient([tree], top)


def smbclient(trees, top):
    """Puts the trees one after the other, through one connection."""
    port, conf = os.environ["BATCH_SMB"].split(":")
    commands = [f"cd {os.path.relpath(top, WORK)}", "recurse", "prompt"]
    for tree in trees:
        commands += [f"lcd {tree}", "mput *"]
    said = run("smbclient", "//127.0.0.1/work", "-p", port, "-N", "-U", "root%", "-s", conf, "-c", "; ".join(commands))
    if "NT_STATUS" in said:
        raise Failed(said[-500:])


def back_import(rng, tree, top, source):
    root = tree + f".import{rng.randrange(1 << 30)}"
    os.makedirs(root)
    shutil.copytree(tree, os.path.join(root, os.path.basename(top)))
    run(ANIMFS, "import", root, source)


BACK = {
    "cp-r": back_cp_r, "cp-a": back_cp_a, "cp": back_cp_list, "cp--remove-destination": back_install,
    "tar": back_tar, "tar--overwrite": back_tar_overwrite, "rsync-r": back_rsync, "rsync-a": back_rsync_a,
    "rsync--inplace": back_rsync_inplace, "unzip": back_unzip, "python": back_python,
    "python-rename": back_python_rename, "python-threads": back_threads, "vscode": back_vscode, "vim": back_vim,
    "namespace": back_namespace, "groups": back_groups, "bash-c": back_bash_c, "mapped": back_mapped,
    "import": back_import,
}
if "BATCH_SMB" in os.environ:
    BACK = {"smb": back_smb}
# How the programs save that stop between two texts, where another one is to do something there.
STEPPED = {"python": save_tee, "python-rename": save_rename, "vscode": save_vscode}
# Nothing tells such a program that its text is saved.
EVENTUAL = ("mapped",)
NEEDS = {"rsync-r": "rsync", "rsync-a": "rsync", "rsync--inplace": "rsync", "unzip": "unzip", "vim": "vim",
         "namespace": "unshare"}
# One for each kind of saving, for what need not be tried with all.
SOME = ["cp-r", "cp", "tar", "rsync-a", "unzip", "python", "python-rename", "vim", "import"]


# ---- mounts ----

class Mount:
    def __init__(self, source, point, options):
        self.source, self.point, self.options = source, point, options
        os.makedirs(point, exist_ok=True)
        self.log = point + ".log"
        self.up()

    def is_up(self):
        with open("/proc/self/mounts") as mounts:
            return f" {self.point} fuse" in mounts.read()

    def up(self):
        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen([ANIMFS, "-f", *self.options, *(["-o", "stopped_clock"] if STOPPED else []),
                                            self.source, self.point],
                                           stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        with open(os.path.join(WORK, "daemons"), "a") as file:
            file.write(f"{self.daemon.pid}\n")
        end = time.monotonic() + 80
        while not self.is_up():
            if self.daemon.poll() is not None or time.monotonic() > end:
                raise Failed("mount: " + read(self.log).decode(errors="replace")[-500:])
            time.sleep(0.01)

    def advance(self, ms):
        write(self.point + "/.animfs/clock", str(ms).encode())

    def kill(self):
        """Without a word to the daemon, and up again."""
        self.daemon.kill()
        self.daemon.wait(120)
        subprocess.run(["fusermount3", "-uz", self.point], capture_output=True)
        self.up()

    def down(self):
        end = time.monotonic() + 80
        while self.is_up():
            done = subprocess.run(["fusermount3", "-u", self.point], capture_output=True, text=True)
            if done.returncode and time.monotonic() > end:
                raise Failed("unmount: " + done.stderr)
            time.sleep(0.01 if done.returncode == 0 else 0.1)
        status = self.daemon.wait(120)
        text = read(self.log).decode(errors="replace")
        if status or "Sanitizer" in text or "runtime error:" in text:
            raise Failed(f"the daemon ends with {status}: {text[-3000:]}")


class Mounts:
    """One or two mounts of a SOURCE."""

    def __init__(self, folder, count, options):
        self.source = os.path.join(folder, "src")
        os.makedirs(self.source)
        self.list = [Mount(self.source, os.path.join(folder, f"mnt{i}"), options) for i in range(count)]

    def advance(self, ms):
        """So much time passes."""
        if not STOPPED:
            time.sleep(ms / 1000)
        for mount in self.list if STOPPED else ():
            mount.advance(ms)

    def poll(self):
        """A moment passes, for a change to come that others have made."""
        self.advance(50)
        time.sleep(0.02)

    def down(self):
        for mount in self.list:
            mount.down()


def loops(data):
    """Of each clip, which the reader of positions leaves out."""
    _, _, count, animations = oracle.struct.unpack_from("<4sIIi", data, 0)
    return [oracle.ANIMATION.unpack_from(data, animations + oracle.ANIMATION.size * i)[0] for i in range(count)]


class World:
    """One animation file, and what must be in it."""

    def __init__(self, mounts, name, rng, way, folder):
        self.mounts, self.name, self.rng, self.way, self.folder = mounts, name + ".canm", rng, way, folder
        self.model, self.loop = copy.deepcopy(base_model()), [1, 1]
        self.steps = []
        self.count = 0
        os.makedirs(folder)
        write(self.src, oracle.write(self.model))
        # Older than all that is saved, also to the second.
        os.utime(self.src, (time.time() - 3600,) * 2)

    @property
    def src(self):
        return os.path.join(self.mounts.source, self.name)

    def top(self, mount=0):
        return os.path.join(self.mounts.list[mount].point, self.name)

    def step(self, text):
        self.steps.append(text)

    def bytes(self):
        return read(self.src)

    # ---- what must be there ----

    def expect(self, *edits):
        for edit in edits:
            i = next(i for i, clip in enumerate(self.model) if clip.name == edit.clip)
            if isinstance(edit, Loop):
                self.loop[i] = int(edit.value)
                continue
            keys = list(self.model[i].bones[edit.bone])
            keys[edit.frame] = (edit.value, *keys[edit.frame][1:])
            self.model[i] = oracle.Clip(edit.clip, {**self.model[i].bones, edit.bone: keys})

    def remember(self):
        return copy.deepcopy(self.model), list(self.loop)

    def restore(self, state):
        self.model, self.loop = copy.deepcopy(state[0]), list(state[1])

    def wrong(self):
        """What the binary has that it should not, or None."""
        try:
            data = self.bytes()
            clips = oracle.read(data)
        except (OSError, ValueError, oracle.struct.error) as error:
            return f"{self.name} cannot be read: {error}"
        found = []
        if [clip.name for clip in clips] != [clip.name for clip in self.model]:
            return f"clips are {[clip.name for clip in clips]}"
        for got, want in zip(clips, self.model):
            if list(got.bones) != list(want.bones):
                found.append(f"{got.name} has the bones {list(got.bones)}")
                continue
            for bone, keys in want.bones.items():
                if got.bones[bone] != [tuple(key) for key in keys]:
                    found.append(f"{got.name}/{bone} is {got.bones[bone]} in place of {keys}")
        if loops(data) != self.loop:
            found.append(f"loops are {loops(data)} in place of {self.loop}")
        return "; ".join(found) or None

    def wrong_views(self, mount):
        """The same of every view that says positions."""
        for clip in self.model:
            folder = os.path.join(self.top(mount), clip.name)
            rows = list(csv.DictReader(read(f"{folder}/curves.csv").decode().splitlines()))
            for bone, keys in clip.bones.items():
                wide = [tuple(float(row[c]) for c in "xyz") for row in rows
                        if row["bone"] == bone and row["channel"] == "translation"]
                own = [tuple(float(row["t" + c]) for c in "xyz")
                       for row in csv.DictReader(read(f"{folder}/bones/{bone}.csv").decode().splitlines())
                       if row["tx"]]
                tree = json.loads(read(f"{folder}/bones/{bone}.json"))
                deep = [tuple(map(float, key["value"])) for key in tree["channels"]["translation"]["keys"]]
                for view, got in (("curves.csv", wide), (f"{bone}.csv", own), (f"{bone}.json", deep)):
                    if got != [tuple(key) for key in keys]:
                        return f"{clip.name}: {view} says {got} of {bone} in place of {keys}"
        for folder, _, names in os.walk(os.path.join(self.mounts.source, ".animfs", "rejected")):
            refused = [name for name in names if self.name in os.path.join(folder, name)]
            if refused:
                return f"refused: {refused}"
        return None

    def check(self, exact=None, settle=None, views=True):
        """`settle`: not at once, since another program, or another mount, did it."""
        if settle is None:
            settle = self.way == "import" or len(self.mounts.list) > 1
        end = time.monotonic() + SETTLE
        while (wrong := self.wrong()) and self.way in EVENTUAL and time.monotonic() < end:
            self.mounts.poll()
        if not wrong and exact is not None and self.bytes() != exact:
            wrong = "the values are right, the bytes are not"
        end = time.monotonic() + (SETTLE if settle else 0)
        for mount in range(len(self.mounts.list)) if views and not wrong else ():
            while (wrong := self.look(mount)) and time.monotonic() < end:
                self.mounts.poll()
            if wrong:
                break
        if wrong:
            raise Failed(wrong)
        self.step("(right)")

    def look(self, mount):
        try:
            return self.wrong_views(mount)
        except (OSError, ValueError, KeyError) as error:
            return f"a view in mount {mount}: {error!r}"

    # ---- what is done ----

    def out(self, mount=0, way="cp -r"):
        """A copy of the folder as it is."""
        self.count += 1
        to = os.path.join(self.folder, f"out{self.count}")
        if way == "cp -r":
            run("cp", "-r", self.top(mount), to)
        elif way == "rsync":
            run("rsync", "-a", self.top(mount) + "/", to + "/")
        elif way == "cp -a":
            run("cp", "-a", self.top(mount), to)
        else:
            run(ANIMFS, "export", self.mounts.source, to + ".export")
            to = os.path.join(to + ".export", self.name)
        self.step(f"{way} out {self.count}")
        return to

    def change(self, tree, edit, kind, later=0):
        """In the copy; `later` seconds than now, for those who compare seconds."""
        path = os.path.join(tree, view_of(edit, kind))
        write(path, edited(read(path).decode(), edit, kind).encode())
        os.utime(path, (time.time() + later,) * 2)
        self.step(f"in out: {view_of(edit, kind)}: {edit}")

    def back(self, tree, mount=0, way=None):
        way = way or self.way
        self.step(f"back by {way}" + (f" to mount {mount}" if mount else ""))
        if way == "import":
            back_import(self.rng, tree, self.top(mount), self.mounts.source)
        else:
            BACK[way](self.rng, tree, self.top(mount))

    def back_meanwhile(self, tree, what, function, *args):
        """Between two texts of the copy another program calls the function; with a program that cannot be
        stopped there, after some milliseconds, so that chance decides what it meets."""
        if self.way in STEPPED:
            names = shuffled(self.rng, tree)
            at = self.rng.randrange(len(names) + 1)
            self.step(f"back by {self.way}; after {at} texts {what}")

            def copies():
                python_writes(STEPPED[self.way], names[:at], tree, self.top())
                program(function, *args)
                python_writes(STEPPED[self.way], names[at:], tree, self.top())

            program(copies)
            return
        delay = self.rng.uniform(0, 0.08)
        self.step(f"after {delay:.3f} s {what}, beside")

        def later():
            time.sleep(delay)
            function(*args)

        pid = start(later)
        self.back(tree)
        ended(pid, what)

    def bring(self, tree, edit, kind):
        """An edit in the copy, and its way back."""
        self.change(tree, edit, kind)
        self.back(tree)
        self.expect(edit)
        self.check()

    def save_what_went_back(self, tree, edit, before):
        """Where vim was refused, it put its backup back: what another program had saved since then is named, and gone."""
        if not os.path.exists(refused_by_vim(tree)):
            return
        os.unlink(refused_by_vim(tree))
        self.step("vim was refused")
        if self.wrong():
            self.named("went back", before)
            self.save(edit)

    def save(self, edit, kind="csv", how=None, mount=0):
        """As another program."""
        how = how or self.rng.choice(list(SAVES))
        path = os.path.join(self.top(mount), view_of(edit, kind))
        self.step(f"another program saves {view_of(edit, kind)} by {how}: {edit}" + (f" in mount {mount}" if mount else ""))
        program(SAVES[how], path, edited(read(path).decode(), edit, kind).encode())
        self.expect(edit)

    def shows(self, edit, mount=0):
        """Waits until that mount has it."""
        path = os.path.join(self.top(mount), view_of(edit, "csv"))
        end = time.monotonic() + SETTLE
        while time.monotonic() < end:
            text = read(path).decode()
            if text == edited(text, edit, "csv"):
                return
            self.mounts.poll()
        raise Failed(f"mount {mount} does not show {edit}")

    def animfs(self, *args):
        self.step("animfs " + " ".join(os.path.basename(arg) if "/" in arg else arg for arg in args))
        return run(ANIMFS, *args)

    def errors(self):
        return collections.Counter(read(self.mounts.list[0].point + "/.animfs/errors").decode().splitlines())

    def named(self, words, before):
        """A line about this file with these words has come since."""
        lines = [text for text in self.errors() - before if self.name in text]
        if not any(words in text for text in lines):
            raise Failed(f"no line in .animfs/errors names {words}; new are {lines}")

    def remount(self):
        self.step("remount")
        for mount in self.mounts.list:
            mount.down()
            mount.up()

    def pause(self):
        self.step("2.3 s")
        self.mounts.advance(2300)


def one_program(*saves):
    """(path, text, how)..."""
    for path, data, how in saves:
        SAVES[how](path, data)


# ---- the lines ----
# A line's function has the ways it is tried with in `ways`, and `mounts`, `options` of its world. Where
# another program does something meanwhile, chance decides with most ways: those are a search.

LINES = {}


def line(ways=SOME, mounts=1, options=(), meanwhile=False):
    def add(function):
        if "BATCH_SMB" in os.environ:
            mine = ("smb",) if {"smb", "cp-r"} & set(ways) else ()
        else:
            mine = tuple(way for way in ways if way != "smb")
        LINES[function.__name__] = (function, mine, mounts, OPTIONS + tuple(options), meanwhile)
        return function
    return add


ALL = list(BACK)
THROUGH_A_MOUNT = [way for way in SOME if way != "import"]


def kind_by(rng):
    return rng.choice(["csv", "csv", "json", "curves"])


@line(ALL)
def another_value(w):
    """Copy out, edit, copy back, another value of it, copy back, and the same copy again."""
    kind = kind_by(w.rng)
    tree = w.out()
    for value in (2.5, 3.5):
        edit = Edit("hips", value)
        w.bring(tree, edit, kind)
    w.back(tree)
    w.check()


@line(ALL)
def another_bone(w):
    """Copy out, edit, copy back, edit another bone, copy back, and the same copy again."""
    kind = w.rng.choice(["csv", "json"])
    tree = w.out()
    edits = [Edit("hips", 2.5), w.rng.choice([Edit("arm_L", 9.5), Edit("arm_R", 12.5, frame=2),
                                              Edit("hips", 4.5, clip="idle")])]
    for edit in edits:
        w.bring(tree, edit, kind)
    w.back(tree)
    w.check()


@line()
def another_text(w):
    """The second edit is made in a text of another kind, which says the first bone as it was."""
    tree = w.out()
    for edit, kind in ((Edit("hips", 2.5), "csv"), (Edit("arm_L", 9.5), "curves")):
        w.bring(tree, edit, kind)
    w.back(tree)
    w.check()


@line(ALL)
def third_bone_stays(w):
    """Another program's edit of a third bone came between the copies: it stays."""
    kind = kind_by(w.rng)
    tree = w.out()
    w.bring(tree, Edit("hips", 2.5), kind)
    w.save(Edit("spine", 7.5), w.rng.choice(["csv", "json"]))
    w.check(settle=True)
    w.back(tree)
    w.check()
    w.change(tree, Edit("hips", 3.5), kind)
    w.save(Edit("arm_R", 20.5, frame=1), "csv")
    w.back(tree)
    w.expect(Edit("hips", 3.5))
    w.check()


@line(THROUGH_A_MOUNT, options=["--views=csv,json,curves"])
def third_bone_in_three_views(w):
    """With two, a copy in which one was edited is also one of the new version with the other set back."""
    kind = w.rng.choice(["csv", "json"])
    tree = w.out()
    w.bring(tree, Edit("hips", 2.5), kind)
    w.save(Edit("spine", 7.5), kind)
    w.back(tree)
    w.check()


@line(THROUGH_A_MOUNT, meanwhile=True)
def third_bone_meanwhile(w):
    """Another program saves while the copy is under way."""
    tree = w.out()
    for value in (2.5, 3.5):
        w.change(tree, Edit("hips", value), "csv")
        bone = w.rng.choice(["csv", "json"])
        path = os.path.join(w.top(), view_of(Edit("spine", 0), bone))
        before = w.errors()
        # What is written into a file that vim has moved to F~ goes with it, on any filesystem.
        w.back_meanwhile(tree, f"another program saves {Edit('spine', value + 4)}", save_again, path,
                         Edit("spine", value + 4), bone, save_rename if w.way == "vim" else save_tee)
        w.expect(Edit("hips", value), Edit("spine", value + 4))
        w.save_what_went_back(tree, Edit("spine", value + 4), before)
        w.check(settle=True)


WIDE = {"raw": "raw.canm", "curves": "walk/curves.csv"}


def overtaken(w, tree, names, slow, edit):
    """One program brings the texts; while it has `slow` open another one saves."""
    w.step("one program writes " + ", ".join(names) + f"; while {slow} is open, another saves {edit}")

    def brings():
        for name in names:
            path, data = os.path.join(w.top(), name), read(os.path.join(tree, name))
            if name != slow:
                save_tee(path, data)
                continue
            own = read(os.path.join(w.top(), view_of(edit, "csv")))
            fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
            program(save_tee, os.path.join(w.top(), view_of(edit, "csv")), edited(own.decode(), edit, "csv").encode())
            os.write(fd, data)
            os.close(fd)

    program(brings)


@line(["raw", "curves"])
def tree_overtaken(w):
    """Another program saves while one text of a tree is open, which says the value as it was long ago."""
    view = WIDE[w.way]
    tree = w.out()
    w.save(Edit("spine", 5.5), "csv")
    w.change(tree, Edit("hips", 2.5), "csv")
    others = [name for name in shuffled(w.rng, tree) if name != view]
    overtaken(w, tree, [view, *others], view, Edit("spine", 7.5))
    w.expect(Edit("hips", 2.5), Edit("spine", 7.5))
    w.check()


@line(["raw", "curves", "json"])
def old_text_overtaken(w):
    """An old text counts as if it had been saved just before what another saved while it was open, and says so."""
    view = WIDE.get(w.way, f"walk/bones/spine.{w.way}")
    tree = w.out()
    w.save(Edit("spine", 5.5), "csv")
    w.save(Edit("hips", 5.5), "csv")
    w.pause()
    before = w.errors()
    overtaken(w, tree, [view], view, Edit("spine", 7.5))
    w.expect(Edit("spine", 7.5), *([Edit("hips", 1.5)] if w.way in ("raw", "curves") else []))
    w.check()
    w.named("what that changed stays", before)


@line(["raw", "curves"])
def new_text_overtaken(w):
    """A new one keeps what others saved of other curves, and is refused where it has another value of the same."""
    view = WIDE[w.way]

    def tree_with(value):
        tree = w.out()
        model = copy.deepcopy(w.model)
        model[0].bones["hips"] = [(value, -2.0, 0.25)]
        if w.way == "raw":
            write(os.path.join(tree, view), oracle.write(model))
        else:
            w.change(tree, Edit("hips", value), "curves")
        return tree

    tree = tree_with(2.5)
    overtaken(w, tree, [view], view, Edit("spine", 7.5))
    w.expect(Edit("hips", 2.5), Edit("spine", 7.5))
    w.check()
    tree = tree_with(3.5)
    try:
        overtaken(w, tree, [view], view, Edit("hips", 9.5))
    except Failed as error:
        if "Bad message" not in str(error):
            raise
    else:
        raise Failed("a new value of what others saved meanwhile is not refused")


@line(["daemon", "program"])
def killed(w):
    """A copy that is killed half-way, or whose mount is: that is said, and can be undone, and the copy made again."""
    tree = w.out()
    w.save(Edit("spine", 5.5), "csv")
    w.pause()
    w.change(tree, Edit("hips", 2.5), "csv")
    daemon = w.mounts.list[0].daemon.pid
    names = ["walk/curves.csv", "raw.canm", "walk/bones/arm_L.csv"]

    def brings():
        python_writes(save_tee, names, tree, w.top())
        os.kill(daemon if w.way == "daemon" else os.getpid(), 9)

    w.step(f"one program writes {', '.join(names)}; then the {w.way} is killed")
    pid = start(brings)
    os.waitpid(pid, 0)
    if w.way == "daemon":
        w.mounts.list[0].kill()
    else:
        w.pause()
    if "(unfinished)" not in w.animfs("log", w.top()).splitlines()[0]:
        raise Failed("the log does not say that the copy is unfinished")
    w.animfs("undo", w.top())
    w.check(settle=True)
    w.back(tree, way="cp-r")
    w.expect(Edit("hips", 2.5))
    w.check()
    w.pause()
    if "(unfinished)" in w.animfs("log", w.top()).splitlines()[0]:
        raise Failed("the whole copy is said to be unfinished")


@line(["alone", "tree", "hips"])
def old_curves_of_what_moves_now(w):
    """An old curves.csv has one row for a bone that moves by now: that is what it was, and no rows are missing."""
    tree = w.out()
    state = w.remember()
    moving = [(6.0 + i % 2, 7.0, 8.0) for i in range(4)]
    rows = "".join(f"{i},{x:g},{y:g},{z:g}\n" for i, (x, y, z) in enumerate(moving))
    w.step("another program has walk/arm_L move")
    program(save_tee, w.top() + "/walk/bones/arm_L.csv", ("frame,tx,ty,tz\n" + rows).encode())
    w.model[0].bones["arm_L"] = oracle.read(w.bytes())[0].bones["arm_L"]  # on the format's grid
    assert len(w.model[0].bones["arm_L"]) == len(moving)
    names = ["walk/curves.csv"]
    if w.way == "alone":
        w.restore(state)
    else:
        w.change(tree, Edit("hips", 2.5), "csv")
        w.expect(Edit("hips", 2.5))
        names += ["walk/bones/hips.csv", "walk/bones/hips.json", "walk/clip.json"]
        if w.way == "tree":
            names += [name for name in shuffled(w.rng, tree) if name not in names]
    w.step("one program writes " + ", ".join(names))
    program(python_writes, save_tee, names, tree, w.top())
    w.check(views=False)


@line(["raw", "curves"])
def rewritten_beside_overtaken(w):
    """What others saved while a wide text was open stays when a later text makes the batch be read anew."""
    view = WIDE[w.way]
    tree = w.out()
    w.save(Edit("arm_L", 7.5), "csv")
    w.change(tree, Edit("hips", 2.5), "csv")
    w.change(tree, Edit("hips", 3.5), "json")
    overtaken(w, tree, [view, "walk/bones/hips.csv", "walk/bones/hips.json"], view, Edit("spine", 7.5))
    w.expect(Edit("hips", 3.5), Edit("spine", 7.5), Edit("arm_L", 6))
    w.check()


@line(THROUGH_A_MOUNT)
def unchanged_text_beside_others(w):
    """A text that was opened before others saved, and written as it was, is one of the version it was of."""
    tree = w.out()
    path = w.top() + "/walk/clip.bvh"
    text = read(path)
    fd = os.open(path, os.O_WRONLY)
    w.save(Edit("spine", 6.5))
    os.write(fd, text)
    os.close(fd)
    w.step("walk/clip.bvh is written as it was before")
    w.check(settle=True)
    w.save(Edit("spine", 7.5))
    w.change(tree, Edit("hips", 2.5), "csv")
    w.back(tree)
    w.expect(Edit("hips", 2.5))
    w.check(settle=True)


@line(THROUGH_A_MOUNT, meanwhile=True)
def undo_meanwhile(w):
    """animfs undo of one bone while a copy of the tree comes back: it stays undone."""
    w.save(Edit("spine", 7.5), "csv")
    tree = w.out()
    w.change(tree, Edit("hips", 2.5), "csv")
    w.back_meanwhile(tree, "animfs undo spine.csv", run, ANIMFS, "undo", w.top() + "/walk/bones/spine.csv")
    w.expect(Edit("hips", 2.5), Edit("spine", 3))
    w.check(settle=True)


@line(THROUGH_A_MOUNT)
def undo_between(w):
    """animfs undo between two copies of the same tree: what it took back of another bone stays so."""
    w.save(Edit("spine", 7.5), "csv")
    tree = w.out()
    w.bring(tree, Edit("hips", 2.5), "csv")
    w.animfs("undo", w.top() + "/walk/bones/spine.csv")
    w.expect(Edit("spine", 3))
    w.check(settle=True)
    w.back(tree)
    w.check(settle=True)


@line(SOME)
def a_copy_is_one_entry(w):
    """undo takes the whole copy back, redo brings it again."""
    before = w.bytes()
    state = w.remember()
    tree = w.out()
    edits = [Edit("hips", 2.5), Edit("arm_L", 9.5, clip="idle")]
    for edit in edits:
        w.change(tree, edit, w.rng.choice(["csv", "json"]))
    w.back(tree)
    w.expect(*edits)
    w.check()
    after, edited_state = w.bytes(), w.remember()
    count = len(w.animfs("log", w.src).splitlines())
    if count != 2:
        raise Failed(f"{count} versions in place of 2")
    w.animfs("undo", w.top())
    w.restore(state)
    w.check(exact=before, settle=True)
    w.animfs("redo", w.top())
    w.restore(edited_state)
    w.check(exact=after, settle=True)
    w.animfs("undo", w.top())
    w.restore(state)
    w.check(exact=before, settle=True)
    w.back(tree)
    w.restore(edited_state)
    w.check(settle=True)


@line(SOME)
def every_state_is_kept(w):
    """Whatever saves, copies and undo left is one of the versions."""
    states = [w.bytes()]
    tree = w.out()
    w.change(tree, Edit("arm_L", 9.5), "csv")

    def save(edit):
        w.save(edit, kind_by(w.rng))

    def back():
        w.back(tree)
        w.expect(Edit("arm_L", 9.5))
        w.check(settle=True)

    def undo():
        w.animfs("undo", w.src)

    for what in (lambda: save(Edit("hips", 2.5)), back, lambda: save(Edit("spine", 7.5)), lambda: save(Edit("hips", 3.5)),
                 back, undo, back, lambda: save(Edit("arm_R", 12.5, frame=1))):
        what()
        states.append(w.bytes())
        if what is undo:
            # What an undo leaves is known: the version before.
            at = states.index(states[-1])
            if at >= len(states) - 2:
                raise Failed("undo did nothing")
            w.model = oracle.read(states[-1])
            w.check(settle=True)
    numbers = re.findall(r"^\*? +(\d+) ", w.animfs("log", w.src), re.M)
    kept = [subprocess.run([ANIMFS, "cat", f"--version={number}", w.src + "/raw.canm"], capture_output=True).stdout
            for number in numbers]
    lost = [i for i, data in enumerate(states) if data not in kept]
    if lost:
        raise Failed(f"the states {lost} of {len(states)} are none of the versions {numbers}")


@line(ALL)
def saved_before_the_copy(w):
    """A save in the mount, a copy out at once, an edit there, and back: both."""
    w.save(Edit("hips", 2.5), kind_by(w.rng))
    tree = w.out()
    w.bring(tree, Edit("arm_L", 9.5), kind_by(w.rng))


@line(SOME)
def older_tree(w):
    """A backup of an older version over it: that version, to the byte; and a newer one again."""
    kept = []
    for edit in (None, Edit("hips", 2.5), Loop(False), Edit("arm_R", 30.5, frame=3)):
        if edit:
            w.save(edit, "csv")
        kept.append((w.out(), w.remember(), w.bytes()))
    order = [1, 3, 0, 2]
    w.rng.shuffle(order)
    for i in order:
        tree, state, data = kept[i]
        w.step(f"the tree of version {i}")
        w.back(tree)
        w.restore(state)
        # vim brings no binaries.
        w.check(exact=None if w.way == "vim" else data)


@line(THROUGH_A_MOUNT, options=["--views=csv,json"])
def older_tree_without_raw(w):
    kept = []
    for edit in (None, Edit("hips", 2.5), Loop(False), Edit("arm_R", 30.5, frame=3)):
        if edit:
            w.save(edit, "csv")
        kept.append((w.out(), w.remember()))
    for i in w.rng.sample(range(4), 4):
        w.step(f"the tree of version {i}")
        w.back(kept[i][0])
        w.restore(kept[i][1])
        w.check()


@line(SOME)
def older_tree_forgotten(w):
    """History has dropped that version."""
    w.save(Edit("hips", 2.5), "csv")
    tree, state, data = w.out(), w.remember(), w.bytes()
    w.save(Edit("arm_L", 9.5), "json")
    w.save(Edit("spine", 10.5), "csv")
    w.animfs("forget", w.src)
    w.back(tree)
    w.restore(state)
    w.check(exact=None if w.way == "vim" else data)


@line(THROUGH_A_MOUNT, options=["--history=0"])
def older_tree_without_history(w):
    w.save(Edit("hips", 2.5), "csv")
    tree, state, data = w.out(), w.remember(), w.bytes()
    w.save(Edit("arm_L", 9.5), "json")
    w.back(tree)
    w.restore(state)
    w.check(exact=None if w.way == "vim" else data)
    w.bring(tree, Edit("spine", 11.5), "csv")


@line(SOME)
def tree_never_seen(w):
    """A tree of a version that was made elsewhere."""
    other = World(w.mounts, w.name.removesuffix(".canm") + "-other", w.rng, "cp", w.folder + "/other")
    other.save(Edit("hips", 5.5), "csv", "tee")
    other.save(Edit("spine", 6.5), "csv", "tee")
    tree = other.out()
    for name in texts_in(tree):
        path = os.path.join(tree, name)
        if name.endswith(".json"):
            write(path, read(path).replace(other.name.encode(), w.name.encode()))
    w.step("a tree in which " + "hips and spine are others")
    w.save(Edit("arm_L", 9.5), "csv")
    w.back(tree)
    w.restore(other.remember())
    w.check(exact=None if w.way == "vim" else other.bytes())


@line(THROUGH_A_MOUNT, options=["--views=csv"])
def merged_texts(w):
    """A merge: hips.csv new, arm_L.csv and idle's hips.csv as they once were."""
    w.save(Edit("arm_L", 9.5), "csv")
    w.save(Edit("hips", 4.5, clip="idle"), "csv")
    tree = w.out()
    for edit in (Edit("hips", 2.5), Edit("arm_L", 6), Edit("hips", 1.5, clip="idle")):
        w.change(tree, edit, "csv")
        w.expect(edit)
    for name in texts_in(tree):
        if name not in ("walk/bones/hips.csv", "walk/bones/arm_L.csv", "idle/bones/hips.csv"):
            os.unlink(os.path.join(tree, name))
    w.back(tree)
    w.check()


@line(["vscode", "python", "vim", "python-rename", "cp"])
def save_all(w):
    """hips.csv new, the loop of clip.json set back, another buffer undone: all of them."""
    w.save(Loop(False))
    w.save(Edit("arm_L", 9.5), "csv")
    tree = w.out()
    buffers = w.rng.choice([[Loop(True)], [Edit("arm_L", 6)], [Loop(True), Edit("arm_L", 6)]])
    edits = [Edit("hips", 2.5), *buffers]
    keep = {view_of(edit, "csv") for edit in edits}
    for edit in edits:
        w.change(tree, edit, "csv")
        w.expect(edit)
    for name in texts_in(tree):
        if name not in keep:
            os.unlink(os.path.join(tree, name))
    w.back(tree)
    w.check()


@line(ALL)
def copy_with_loop_set_back(w):
    """A working copy with the loop set back and hips new: both."""
    w.save(Loop(False))
    tree = w.out()
    w.change(tree, Loop(True), None)
    w.change(tree, Edit("hips", 2.5), kind_by(w.rng))
    w.back(tree)
    w.expect(Loop(True), Edit("hips", 2.5))
    w.check()


@line(ALL)
def copy_with_one_text_set_back(w):
    """A working copy of the present version with one text as it once was: that one."""
    old = w.out()
    edit = w.rng.choice([Edit("hips", 2.5), Edit("arm_R", 40.5, frame=1)])
    kind = w.rng.choice(["csv", "json"])
    w.save(edit, "csv")
    w.save(Edit("spine", 7.5), "csv")
    tree = w.out()
    view = view_of(edit, kind)
    shutil.copy2(os.path.join(old, view), os.path.join(tree, view))
    w.step(f"in out: {view} as in out 1")
    w.back(tree)
    w.expect(Edit(edit.bone, 64 if edit.frame else 1.5, frame=edit.frame))
    w.check()


@line(["tee", "vscode", "rename", "vim", "msync"])
def csv_new_and_json_old(w):
    """hips.csv new and hips.json old, in either order: hips.csv."""
    old = read(w.top() + "/walk/bones/hips.json")
    if w.rng.random() < 0.5:
        w.save(Edit("hips", 8.5), "csv")
        w.save(Edit("spine", 8.5), "csv")
    new = edited(read(w.top() + "/walk/bones/hips.csv").decode(), Edit("hips", 2.5), "csv").encode()
    saves = [(w.top() + "/walk/bones/hips.csv", new, w.way), (w.top() + "/walk/bones/hips.json", old, w.way)]
    w.rng.shuffle(saves)
    w.step(f"one program saves by {w.way}: " + ", ".join(os.path.basename(save[0]) for save in saves))
    before = w.errors()
    program(one_program, *saves)
    w.expect(Edit("hips", 2.5))
    if saves[1][0].endswith(".json"):
        w.named("walk/bones/hips.json", before)
    w.check()


@line(list(SAVES))
def csv_new_and_json_old_by_two(w):
    """The same by two programs: the second counts, a line says what went back, and undo returns it."""
    old = read(w.top() + "/walk/bones/hips.json")
    w.save(Edit("hips", 2.5), "csv")
    data, state, before = w.bytes(), w.remember(), w.errors()
    w.step(f"another program saves the first hips.json by {w.way}")
    program(SAVES[w.way], w.top() + "/walk/bones/hips.json", old)
    w.expect(Edit("hips", 1.5))
    w.named("animfs undo", before)
    w.check()
    w.animfs("undo", w.top())
    w.restore(state)
    w.check(exact=data, settle=True)


@line(["exec"])
def exec_is_another_program(w):
    """A shell saves, and the program that takes its place means what it says."""
    write(w.folder + "/old.json", read(w.top() + "/walk/bones/hips.json"))
    text = edited(read(w.top() + "/walk/bones/hips.csv").decode(), Edit("hips", 2.5), "csv")
    w.step(f"bash saves hips.csv with {Edit('hips', 2.5)}, and by exec cp the first hips.json")
    run("bash", "-c", 'printf %s "$1" >"$2/walk/bones/hips.csv" && exec cp "$3" "$2/walk/bones/hips.json"', "bash",
        text, w.top(), w.folder + "/old.json")
    w.expect(Edit("hips", 1.5))
    w.check()


@line(["tee", "rename"])
def one_program_later(w):
    """After 2 s without a save a program is taken at its word."""
    old = read(w.top() + "/walk/bones/hips.json")
    new = edited(read(w.top() + "/walk/bones/hips.csv").decode(), Edit("hips", 2.5), "csv").encode()

    def later():
        SAVES[w.way](w.top() + "/walk/bones/hips.csv", new)
        w.mounts.advance(2500)
        SAVES[w.way](w.top() + "/walk/bones/hips.json", old)

    w.step(f"one program saves by {w.way} hips.csv with 2.5, and 2.5 s later the first hips.json")
    program(later)
    w.expect(Edit("hips", 1.5))
    w.check()


@line(["one", "several"])
def script_with_a_rollback(w):
    """A script that edits hips.csv and then copies raw.bak or an old curves.csv back: the older state."""
    state, data = w.remember(), w.bytes()
    view = w.rng.choice(["raw.canm", "walk/curves.csv"])
    old = read(f"{w.top()}/{view}")
    w.save(Edit("hips", 8.5), "csv")
    if w.rng.random() < 0.5:
        w.save(Edit("spine", 8.5), "csv")
    path = w.top() + "/walk/bones/hips.csv"
    new = edited(read(path).decode(), Edit("hips", 2.5), "csv").encode()
    saves = [(path, new, "tee"), (f"{w.top()}/{view}", old, "tee")]
    w.step(f"{w.way} program(s): hips.csv with {Edit('hips', 2.5)}, then {view} of the first version")
    if w.way == "one":
        program(one_program, *saves)
    else:
        for save in saves:
            program(one_program, save)
    w.restore(state)
    w.check(exact=data if view == "raw.canm" else None)


@line(["one", "several"])
def rollback_then_edit(w):
    """The same the other way round: raw.bak, then hips.csv new."""
    state, old = w.remember(), w.bytes()
    w.save(Edit("spine", 8.5), "csv")
    path = w.top() + "/walk/bones/hips.csv"
    new = edited(read(path).decode(), Edit("hips", 2.5), "csv").encode()
    saves = [(w.top() + "/raw.canm", old, "tee"), (path, new, "tee")]
    w.step(f"{w.way} program(s): raw.canm of the first version, then hips.csv with {Edit('hips', 2.5)}")
    if w.way == "one":
        program(one_program, *saves)
    else:
        for save in saves:
            program(one_program, save)
    w.restore(state)
    w.expect(Edit("hips", 2.5))
    w.check()


@line([*SAVES, "smb"])
def twice_by_one_program(w):
    """One program, or one connection of a server, brings one tree after the other."""
    trees = []
    for edit in (Edit("hips", 2.5), Edit("hips", 3.5), Edit("hips", 4.5)):
        trees.append(w.out())
        w.change(trees[-1], edit, "csv")
    orders = [shuffled(w.rng, tree) for tree in trees]
    w.save(Edit("spine", 7.5), "csv")
    w.step(f"one program brings out 1, 2 and 3 by {w.way}")
    if w.way == "smb":
        smbclient(trees, w.top())
    else:
        def brings():
            for names, tree in zip(orders, trees):
                python_writes(SAVES[w.way], names, tree, w.top())
        program(brings)
    w.expect(Edit("hips", 4.5))
    w.check()


@line(list(SAVES))
def undone_in_an_editor(w):
    """A save, its undoing, a save again, within a second, by one program: the last one."""
    kind = w.rng.choice(["csv", "json", "curves"])
    path = os.path.join(w.top(), view_of(Edit("hips", 0), kind))
    old = read(path)
    texts = {value: edited(old.decode(), Edit("hips", value), kind).encode() for value in (2.5, 3.5)}
    texts[1.5] = old
    values = w.rng.choice([[2.5, 1.5], [2.5, 1.5, 2.5], [2.5, 1.5, 3.5], [2.5, 3.5, 2.5], [2.5, 3.5, 1.5, 2.5]])
    w.step(f"one program saves {os.path.basename(path)} by {w.way}: x = {values}")
    program(one_program, *((path, texts[value], w.way) for value in values))
    w.expect(Edit("hips", values[-1]))
    w.check()


@line(list(SAVES))
def undone_by_animfs(w):
    """A save, animfs undo, a save of the same program, within a second: the last one."""
    path = w.top() + "/walk/bones/hips.csv"
    old = read(path).decode()
    first = edited(old, Edit("hips", 2.5), "csv").encode()
    last = first if w.rng.random() < 0.5 else edited(old, Edit("hips", 3.5), "csv").encode()
    how = SAVES[w.way]

    def edits():
        how(path, first)
        run(ANIMFS, "undo", w.top())
        how(path, last)

    w.step(f"one program saves 2.5 by {w.way}, calls animfs undo, saves " + ("2.5" if last == first else "3.5"))
    program(edits)
    w.expect(Edit("hips", 2.5 if last == first else 3.5))
    w.check(settle=True)


def again_by(w, out, *command):
    """What is equal is not sent."""
    tree = w.out(way=out)
    for i, edit in enumerate((Edit("hips", 2.5), Edit("hips", 3.5), Edit("arm_L", 9.5))):
        w.change(tree, edit, "csv", later=2 * i if "-a" in command else 0)
        w.expect(edit)
        for _ in range(2):
            w.step(" ".join(command))
            run(*command, tree + "/.", w.top() + "/")
            w.check()


@line(["rsync"])
def equal_texts_not_sent_by_rsync(w):
    again_by(w, "rsync", "rsync", "-a")


@line(["cp -u"])
def equal_texts_not_sent_by_cp(w):
    again_by(w, "cp -a", "cp", "-ru")


@line(["cp -u"])
def equal_texts_not_sent_by_cp_a(w):
    again_by(w, "cp -a", "cp", "-au")


@line(["rsync", "cp -u"])
def equal_texts_and_a_third_bone(w):
    command = ["rsync", "-a"] if w.way == "rsync" else ["cp", "-au"]
    tree = w.out(way="rsync" if w.way == "rsync" else "cp -a")
    w.change(tree, Edit("hips", 2.5), "csv")
    w.expect(Edit("hips", 2.5))
    run(*command, tree + "/.", w.top() + "/")
    w.check()
    w.save(Edit("spine", 7.5), "csv")
    for _ in range(2):
        w.step(" ".join(command))
        run(*command, tree + "/.", w.top() + "/")
        w.check()


@line(SOME)
def remounted(w):
    """The first line with a remount in between: what was known is still known."""
    kind = kind_by(w.rng)
    tree = w.out()
    w.bring(tree, Edit("hips", 2.5), kind)
    w.save(Edit("spine", 7.5), "csv")
    w.remount()
    w.back(tree)
    w.check()
    w.change(tree, Edit("hips", 3.5), kind)
    w.remount()
    w.back(tree)
    w.expect(Edit("hips", 3.5))
    w.check()


@line(["cp-r", "tar", "python"])
def remounted_set_back(w):
    """A copy of the present version with one text set back, known only from before a remount."""
    old = w.out()
    w.save(Edit("hips", 2.5), "csv")
    w.save(Edit("spine", 7.5), "csv")
    w.remount()
    tree = w.out()
    shutil.copy2(old + "/walk/bones/hips.json", tree + "/walk/bones/hips.json")
    w.step("in out: walk/bones/hips.json as in out 1")
    w.back(tree)
    w.expect(Edit("hips", 1.5))
    w.check()


@line(["cp-r", "python", "rsync-a"])
def paused(w):
    """The same with pauses in which batches end."""
    tree = w.out()
    w.change(tree, Edit("hips", 2.5), "csv")
    w.back(tree)
    w.expect(Edit("hips", 2.5))
    w.save(Edit("spine", 7.5), "csv")
    w.pause()
    w.back(tree)
    w.check()
    w.change(tree, Edit("arm_L", 9.5), "json")
    w.pause()
    w.back(tree)
    w.expect(Edit("arm_L", 9.5))
    w.check()


@line(["tee", "rename"])
def slowly(w):
    """One program with pauses of half a second: still one batch."""
    tree = w.out()
    w.change(tree, Edit("hips", 2.5), "csv")
    names = w.rng.sample(["walk/bones/hips.csv", "walk/bones/hips.json", "walk/curves.csv", "idle/curves.csv",
                          "walk/bones/spine.csv", "walk/bones/spine.json", "raw.canm", "walk/clip.svg"], 8)

    def slow():
        for name in names:
            SAVES[w.way](os.path.join(w.top(), name), read(os.path.join(tree, name)))
            w.mounts.advance(500)

    w.step(f"one program saves by {w.way} every 0.5 s: " + ", ".join(names))
    program(slow)
    w.expect(Edit("hips", 2.5))
    w.check()


@line(THROUGH_A_MOUNT, mounts=2)
def two_mounts(w):
    """Copies go to two mounts of one SOURCE in turn."""
    kind = w.rng.choice(["csv", "json"])
    tree = w.out(0)
    w.change(tree, Edit("hips", 2.5), kind)
    w.back(tree, 0)
    w.expect(Edit("hips", 2.5))
    w.check()
    w.save(Edit("spine", 7.5), "csv", mount=1)
    w.back(tree, 1)
    w.check()
    w.change(tree, Edit("arm_L", 9.5), kind)
    w.back(tree, 1)
    w.expect(Edit("arm_L", 9.5))
    w.check()
    w.change(tree, Edit("hips", 3.5), kind)
    w.save(Edit("arm_R", 10.5, frame=2), "csv", mount=0)
    w.back(tree, 0)
    w.expect(Edit("hips", 3.5))
    w.check()


@line(THROUGH_A_MOUNT, mounts=2, meanwhile=True)
def two_mounts_meanwhile(w):
    """Another program saves in the second mount while a copy comes back to the first."""
    tree = w.out()
    w.change(tree, Edit("hips", 2.5), "csv")
    w.shows(Edit("spine", 3), 1)
    w.back_meanwhile(tree, f"another program saves {Edit('spine', 7.5)} in mount 1", save_again,
                     w.top(1) + "/walk/bones/spine.csv", Edit("spine", 7.5), "csv")
    w.expect(Edit("hips", 2.5), Edit("spine", 7.5))
    w.check()


@line(["export"])
def import_of_an_export(w):
    """import, edit on, import again, without another export; another program's edit stays."""
    w.way = "import"
    tree = w.out(way="export")
    root = os.path.dirname(tree)

    def imported():
        w.step("animfs import")
        run(ANIMFS, "import", root, w.mounts.source)

    for edit, kind in ((Edit("hips", 2.5), "csv"), (Edit("hips", 3.5), "csv"), (Edit("arm_L", 9.5), "json")):
        w.change(tree, edit, kind)
        imported()
        w.expect(edit)
        w.check()
        w.save(Edit("spine", edit.value + 10), "csv")
        imported()
        w.check()


# ---- all of them ----

def cases(options):
    for seed in range(options.first, options.first + options.seeds):
        for name, (_, ways, _, _, meanwhile) in LINES.items():
            for i, way in enumerate(ways):
                if options.share > 1 and meanwhile:
                    if way not in STEPPED:
                        continue
                # One seed alone: each line with some ways, each way with some lines.
                elif options.share > 1 and (i + seed + sum(map(ord, name))) % options.share:
                    continue
                case = f"{name}/{way}/{seed}"
                if not options.only or options.only in case:
                    yield case


def missing(way):
    tool = NEEDS.get(way, "sh")
    if way == "namespace" and (os.geteuid() or subprocess.run(["unshare", "-p", "-f", "true"],
                                                              capture_output=True).returncode):
        return "no PID namespaces can be made here"
    return None if shutil.which(tool) else f"{tool} is not installed"


class NoMount(Exception):
    """There is nothing to test."""


class Worker:
    def __init__(self, number):
        self.folder = os.path.join(WORK, f"worker{number}")
        os.makedirs(self.folder)
        self.mounts = {}
        self.done = 0

    def mounts_for(self, count, options):
        key = (count, options)
        if key not in self.mounts:
            try:
                self.mounts[key] = Mounts(os.path.join(self.folder, f"set{len(self.mounts)}"), count, options)
            except (Failed, OSError) as error:
                raise NoMount(str(error)) from error
        return self.mounts[key]

    def case(self, case):
        name, way, seed = case.split("/")
        function, _, count, options, _ = LINES[name]
        reason = missing(way)
        if reason:
            return f"skip {reason}"
        self.done += 1
        world = None
        try:
            world = World(self.mounts_for(count, options), f"f{self.done}", random.Random(case), way,
                          os.path.join(self.folder, f"trees{self.done}"))
            function(world)
            return f"ok {case}"
        except NoMount:
            raise
        except Exception as error:
            text = str(error) if isinstance(error, Failed) else traceback.format_exc()
            return "\t".join([f"not ok {case}", *(world.steps if world else []), *text.splitlines()])
        finally:
            if world:
                shutil.rmtree(world.folder, ignore_errors=True)

    def end(self):
        lines = []
        for mounts in self.mounts.values():
            try:
                mounts.down()
            except Failed as error:
                lines.append("\t".join(["not ok the mount ends well", *str(error).splitlines()]))
        return lines


def work(number, names, output):
    worker = Worker(number)
    with open(output, "w") as file:
        try:
            for name in names:
                print(worker.case(name), file=file, flush=True)
        except NoMount as error:
            print("\t".join(["not ok mount", *str(error).splitlines()]), file=file)
        for text in worker.end():
            print(text, file=file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = list(cases(options))
    if options.list:
        for name in names:
            print(name, "-", inspect.getdoc(LINES[name.split("/")[0]][0]))
        return
    sys.stdout.flush()
    pids = []
    for i in range(options.jobs):
        pids.append(start(work, i, names[i::options.jobs], os.path.join(WORK, f"output{i}")))
    for pid in pids:
        _, status = os.waitpid(pid, 0)
        if status:
            print("not ok a worker ended early")
    for i in range(options.jobs):
        sys.stdout.write(read(os.path.join(WORK, f"output{i}")).decode())


if __name__ == "__main__":
    main()
