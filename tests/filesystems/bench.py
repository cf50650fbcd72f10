# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks of one filesystem work with."""
import os
import subprocess
import threading
import time

import oracle
from kinds import empty
from mounts import Failure, Mount, Watch, read_source, strays, wait_until, write

LIMIT = 100  # seconds for a check, against hanging
RESULTS = ("ok  ", "FAIL", "lost")
SECONDS = 5  # until a change shows that is not there at once, and a folder has become a file


class Plain(Mount):
    """A mount as people have it, without the library that makes calls fail."""

    def spawn(self):
        self.killed = False
        with open(self.log, "wb") as log:
            self.daemon = subprocess.Popen(
                [self.animfs, "-f", *self.options, self.source, self.point],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )


class Idle:
    """Where there is no mount."""

    killed = False
    daemon = device = None

    def is_alive(self):
        return True

    def abort(self):
        pass


class Report:
    """A line for each check, and their sums."""

    def __init__(self, name, kind):
        self.name = name
        self.kind = kind
        self.section = None
        self.sums = {}
        self.mount = Idle()
        self.rescue = None

    def begin(self, section):
        self.section = section
        self.sums.setdefault(section, [0] * len(RESULTS))

    def line(self, result, name, said=""):
        self.sums[self.section][RESULTS.index(result)] += 1
        said = f": {said}" if said else ""
        print(f"{result} {self.name}: {self.section}: {name}{said}", flush=True)

    def failed(self, name, said):
        """What the filesystem has lost of itself, as it does without animfs, is not animfs's fault."""
        damage = self.kind.damage() if self.kind.loses else ""
        self.line("lost" if damage else "FAIL", name, f"{said}{damage}".replace("\n", " | "))

    def check(self, name, function, *arguments):
        """It fails by what it raises; what it returns is said."""
        self.rearm()
        try:
            with Watch(self.mount, kills=False, seconds=LIMIT * 0.8) as watch:
                said = function(*arguments)
            if watch.hung:
                raise Failure("the mount hangs")
        except (Failure, OSError, ValueError, IndexError) as error:
            self.failed(name, f"{type(error).__name__}: {error}")
        else:
            self.line("ok  ", name, said)
        self.rearm()

    def rearm(self):
        """From here on a filesystem that hangs is ended in time."""
        self.end()
        self.rescue = threading.Timer(LIMIT, self.kind.abort)
        self.rescue.daemon = True
        self.rescue.start()

    def end(self):
        if self.rescue:
            self.rescue.cancel()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def said_of(data):
    """A file's bytes in short, for messages."""
    try:
        return ", ".join(f"{clip.name} {[(bone, keys[0]) for bone, keys in clip.bones.items()]}"
                         for clip in oracle.read(data))[:300]
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        return f"{len(data)} bytes ({error})"


class Bench:
    def __init__(self, animfs, top, kind, facts, report):
        self.animfs = animfs
        self.top = top
        self.kind = kind
        self.facts = facts
        self.report = report
        self.source = kind.folder
        self.mount = None

    # Mounts

    def begin(self, make=Plain):
        self.mount = self.report.mount = make(self.animfs, self.top)
        self.mount.begin()
        return self.mount

    def end(self):
        """Nothing may stay but what people put there."""
        if self.mount.daemon and self.mount.device:
            self.mount.end()
        self.nothing_left()

    def nothing_left(self):
        left = strays(self.source) + [path for path in read_source(self.source) if ".fuse_hidden" in path]
        if left:
            raise Failure(f"there is still {left}")

    def drop(self):
        """Ends what a check that failed has left mounted."""
        if self.mount and self.mount.daemon and self.mount.device:
            self.mount.kill()
        self.report.mount = Idle()

    def clear(self):
        empty(self.source)

    # Places

    def src(self, *names):
        return os.path.join(self.source, *names)

    def mnt(self, *names):
        return os.path.join(self.mount.point, *names)

    def bone(self, name, bone="hips", clip="walk"):
        return self.mnt(name, clip, "bones", f"{bone}.csv")

    def texts(self, name):
        """A text beside the real ones, on another filesystem."""
        folder = os.path.join(self.top, "texts")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    # Files

    def wait(self, what, why, seconds=SECONDS):
        if not wait_until(what, seconds):
            raise Failure(why() if callable(why) else why)

    def put(self, name, clips=None, folder=None, clip="walk"):
        """A new file, made without the mount, once the mount shows it as a folder."""
        write(os.path.join(folder or self.source, name), oracle.write(clips or oracle.sample()))
        self.wait(lambda: os.path.isdir(self.mnt(name, clip)), f"{name} does not become a folder", self.kind.patience
                  if folder else SECONDS)
        return self.bone(name)

    def holds(self, name, clips):
        """Exactly these bytes, in SOURCE."""
        wanted = oracle.write(clips)
        if self.kind.unsteady:
            wait_until(lambda: read(self.src(name)) == wanted, 2)
        data = read(self.src(name))
        if data != wanted:
            raise Failure(f"{name} holds {said_of(data)}, not {said_of(wanted)}")

    def soon_holds(self, name, clips):
        wanted = oracle.write(clips)
        self.wait(lambda: os.path.isfile(self.src(name)) and read(self.src(name)) == wanted,
                  lambda: f"{name} holds {self.said(name)}, not {said_of(wanted)}")

    def said(self, name):
        path = self.src(name)
        return said_of(read(path)) if os.path.isfile(path) else "a folder" if os.path.isdir(path) else "nothing"

    def soon_says(self, name, clips):
        """The same clips, in whatever order its parts are."""
        def says():
            try:
                return os.path.isfile(self.src(name)) and oracle.read(read(self.src(name))) == clips
            except ValueError:
                if not self.kind.unsteady:
                    raise
                return False
        self.wait(says, lambda: f"{name} holds {self.said(name)}")

    def shows(self, name, clips, bone="hips"):
        text, wanted = read(self.bone(name, bone)), oracle.bone_csv(clips, bone)
        if text != wanted:
            raise Failure(f"the view of {name} says {text!r}, not {wanted!r}")

    def soon_shows(self, name, clips, bone="hips", seconds=SECONDS):
        def shows():
            try:
                return read(self.bone(name, bone)) == oracle.bone_csv(clips, bone)
            except OSError:
                return False
        if not wait_until(shows, seconds):
            self.shows(name, clips, bone)

    def is_gone(self, path, seconds=SECONDS):
        self.wait(lambda: not os.path.lexists(path), f"{path} is still there", seconds)


def next_second():
    """So that what follows lies in one."""
    time.sleep(1.01 - time.time() % 1)
