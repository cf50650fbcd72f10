# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon is killed while it saves: at its calls that change something, and at any moment."""
import os
import random
import shutil
import threading
import time

import oracle
from bench import Plain, read, write
from kinds import empty
from mounts import Failure, Mount, Watch, read_source, strays, wait_until

NAME = "save.canm"
OLD = oracle.sample()
NEW = oracle.with_x(OLD, 2.5)
TEXT = oracle.bone_csv(NEW)


def in_place(path):
    write(path, TEXT)  # of the large file's first bone, too


def renamed_over(path):
    write(path + ".new", TEXT, sync=True)
    os.rename(path + ".new", path)


def renamed_away(path):
    os.rename(path, path + "~")
    write(path, TEXT, os.O_WRONLY | os.O_CREAT | os.O_EXCL, sync=True)
    os.unlink(path + "~")


def the_whole(path):
    write(os.path.join(path.split(f"/{NAME}/")[0], NAME, "raw.canm"), oracle.write(NEW), os.O_WRONLY | os.O_TRUNC)


def clip_removed(path):
    top = path.split("/walk/")[0]
    shutil.rmtree(os.path.join(top, "walk"))
    fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def clip_renamed(path):
    top = path.split("/walk/")[0]
    os.rename(os.path.join(top, "walk"), os.path.join(top, "run"))


WITHOUT = OLD[1:]
RENAMED = [oracle.Clip("run", OLD[0].bones), OLD[1]]
SAVES = (
    ("in place", in_place, NEW), ("by rename", renamed_over, NEW), ("renamed away first", renamed_away, NEW),
    ("a whole file", the_whole, NEW), ("a large file", in_place, oracle.with_x(oracle.large(), 2.5)),
    ("a clip is removed", clip_removed, WITHOUT), ("a clip is renamed", clip_renamed, RENAMED),
)


class Kills:
    def __init__(self, bench, function, new):
        self.bench = bench
        self.function = function
        self.new = new
        self.old = oracle.large() if len(new[0].bones) > 3 else OLD

    def fresh(self, make):
        empty(self.bench.source)
        write(self.bench.src(NAME), oracle.write(self.old))
        mount = self.bench.mount = self.bench.report.mount = make(self.bench.animfs, self.bench.top)
        if make is Mount:
            mount.end_fault()
        mount.begin()
        self.bench.wait(lambda: os.path.isdir(self.bench.mnt(NAME, "walk")), "it does not become a folder")
        return mount

    def calls(self):
        mount = self.fresh(Mount)
        mount.set_fault("change", 0)
        self.function(self.bench.bone(NAME))
        calls = mount.board["calls"]
        mount.end_fault()
        mount.end()
        if self.state() != "new":
            raise Failure("undisturbed it does not save")
        return calls

    def state(self):
        """Which of both the file is."""
        if self.bench.kind.unsteady:
            wait_until(lambda: read(self.bench.src(NAME)).startswith(b"CANM"), 2)
        clips = oracle.read(read(self.bench.src(NAME)))
        if clips not in (self.old, self.new):
            raise Failure(f"the file is neither: {[clip.name for clip in clips]}")
        return "new" if clips == self.new else "old"

    def saved(self):
        """Did the program believe that it has saved?"""
        try:
            self.function(self.bench.bone(NAME))
        except OSError:
            return False
        return True

    def at_call(self, number):
        mount = self.fresh(Mount)
        mount.set_fault("change", "kill", number)
        with Watch(mount, kills=True) as watch:
            saved = self.saved()
        if watch.hung:
            raise Failure("the save hangs")
        killed = bool(mount.fired())
        if killed:
            mount.bury()
        else:
            mount.kill()
        mount.end_fault()
        self.judge(saved)
        return killed

    def at_moment(self, delay):
        mount = self.fresh(Plain)
        timer = threading.Timer(delay, mount.shoot)
        timer.start()
        with Watch(mount, kills=True) as watch:
            saved = self.saved()
        timer.join()
        if watch.hung:
            raise Failure("the save hangs")
        mount.bury()
        self.judge(saved)

    def judge(self, saved):
        before = self.state()
        if saved and before == "old":
            raise Failure("the save ended well, and the file is the old one")
        self.bench.begin()
        self.bench.wait(lambda: os.path.isdir(self.bench.mnt(NAME)), "it is no folder in the next mount")
        after = self.state()
        if before == "new" and after == "old":
            raise Failure("the next mount has the old file")
        self.look(self.new if after == "new" else self.old)
        self.bench.mount.end()
        if left := strays(self.bench.source):
            raise Failure(f"there is still {left}")
        if names := sorted(set(read_source(self.bench.source)) - {NAME}):
            raise Failure(f"SOURCE has {names}")

    def look(self, clips):
        """The next mount shows it, and saves."""
        for clip in clips:
            if not os.path.isdir(self.bench.mnt(NAME, clip.name)):
                raise Failure(f"{clip.name} is not shown")
        clip = clips[0].name
        path = self.bench.bone(NAME, clip=clip)
        if not wait_until(lambda: os.path.exists(path), 5) or read(path) != oracle.bone_csv(clips):
            raise Failure("its view is another")
        after = oracle.with_x(clips, 77.5)
        write(path, oracle.bone_csv(after))
        if oracle.read(read(self.bench.src(NAME))) != after:
            raise Failure("the next mount does not save")

    def all_calls(self):
        calls = self.calls()
        stride = max(1, calls // self.bench.kind.kills)
        kills = sum(self.at_call(number) for number in range(1, calls + 1, stride))
        if not kills:
            raise Failure("it was never killed")
        return f"{kills} kills at {calls} calls"

    def moments(self, rng):
        mount = self.fresh(Plain)
        begin = time.monotonic()
        self.saved()
        seconds = time.monotonic() - begin
        mount.end()
        for _ in range(self.bench.kind.kills):
            self.at_moment(rng.random() * seconds * 1.2)
        return f"{self.bench.kind.kills} kills"


def kills(bench):
    bench.report.begin("crash recovery")
    rng = random.Random(bench.report.name)
    for name, function, new in SAVES:
        one = Kills(bench, function, new)
        bench.report.check(f"{name}, killed at calls", one.all_calls)
        bench.drop()
        bench.report.check(f"{name}, killed at any moment", one.moments, rng)
        bench.drop()
    empty(bench.source)
