#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""power.py [--subsets N] [--seed N] ANIMFS - what a power cut leaves.

SOURCE lies on an ext4 of its own, on a loop device whose writes are recorded (image_recorder.c).
Files of every format are saved there. Then the image is made as it was at every barrier, and some
more with a random part of the writes that came after it. On each of them the filesystem must mount;
every file of SOURCE must be as it was after a step that ended by then or the one that was going on,
and no step that ended well may be lost: what later ones replaced must be there as an old version.
"""
import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import time

from mounts import (Failure, Ground, Mount, mounted, read_source, read_tree, strays, sync_filesystem,
                    wait_until)
from saves import DATA, EDITS, HOWS, folder_of, read, remove_tree, replaced, sync_folder

SIZE = 12 << 20


def run(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(command)}: {(done.stdout + done.stderr).decode()}")
    return done.stdout.decode()


def can_loop():
    """Whether there are loop devices here, or why not."""
    if os.geteuid() != 0:
        return "only root can"
    done = subprocess.run(["losetup", "-f"], capture_output=True, check=False)
    if done.returncode:
        return done.stderr.decode().strip()
    for tool in ("mkfs.ext4", "losetup"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return None


class Recorded:
    """A folder `source` on an ext4 whose writes are in `log`."""

    def __init__(self, recorder, top):
        self.place = os.path.join(top, "recorder")
        self.log = os.path.join(top, "writes")
        self.source = os.path.join(top, "src")
        os.makedirs(self.place)
        os.makedirs(self.source)
        self.daemon = subprocess.Popen([recorder, str(SIZE), self.log, self.place])
        self.device = None
        if not wait_until(lambda: self.place in mounted()):
            raise Failure("the recorder does not mount")

    def begin(self):
        self.device = run("losetup", "-f", "--show", os.path.join(self.place, "image")).strip()
        run("mkfs.ext4", "-q", "-F", "-b", "1024", "-J", "size=1", "-E", "lazy_itable_init=0",
            self.device)
        run("mount", self.device, self.source)

    def at(self):
        return os.path.getsize(self.log)

    def end(self):
        if self.source in mounted():
            run("umount", self.source)
        if self.device:
            run("losetup", "-d", self.device)
        if self.place in mounted():
            run("umount", self.place)
        self.daemon.wait(10)


class Step:
    """What was there after one of them, and how far the log was."""

    def __init__(self, name, at, files, begins=True):
        self.name = name
        self.at = at
        self.files = files
        self.begins = begins  # a batch: what it replaces is kept


def save_all(mount, recorded):
    """Every edit in three ways, and back; then a clip is removed. The states that they leave."""
    steps = []

    def note(name, begins=True):
        files = {path: data for path, data in read_source(mount.source).items() if data is not None}
        steps.append(Step(name, recorded.at(), files, begins))

    note("nothing")
    for sample, view, old, new in EDITS:
        place = os.path.join(mount.point, folder_of(os.path.basename(sample)), view)
        before = read(place)
        after = replaced(old, new)(before)
        for i, how in enumerate(("fsync", "close", "rename", "fsync")):
            for step in HOWS[how](place, before if i % 2 else after):
                step()
            note(f"{view}, {how}", begins=i > 0)
    folder = os.path.join(mount.point, "wiki512.canm")
    remove_tree(os.path.join(folder, "Idle"))
    sync_folder(folder)
    note("rm -r of a clip")
    return steps


def read_log(path):
    """[(where it ends in the log, offset or None for a barrier, bytes)]"""
    records = []
    with open(path, "rb") as log:
        while kind := log.read(1):
            if kind == b"B":
                records.append((log.tell(), None, b""))
                continue
            offset, size = struct.unpack("QQ", log.read(16))
            data = log.read(size)
            records.append((log.tell(), offset, data))
    return records


class Images:
    """Those that a power cut could have left, one after the other."""

    def __init__(self, options, top, steps):
        self.options = options
        self.steps = steps
        self.file = os.path.join(top, "image")
        self.mount = Mount(options.animfs, os.path.join(top, "cut"))
        self.rng = random.Random(options.seed)
        self.count = 0
        self.failures = []

    def allowed(self, path, at):
        """What a file may be after a cut when the log was so long."""
        ended = max((i for i, step in enumerate(self.steps) if step.at <= at), default=0)
        return [step.files.get(path) for step in self.steps[ended:ended + 2]]

    def look(self, image, at, what):
        with open(self.file, "wb") as file:
            file.write(image)
        self.count += 1
        try:
            run("mount", "-o", "loop", self.file, self.mount.source)
            try:
                self.compare(at)
                if self.count % 16 == 0:
                    self.mount.begin()
                    self.compare(at)
                    self.mount.end()
                    if left := strays(self.mount.source):
                        raise Failure(f"after the next mount there is still {left}")
            finally:
                run("umount", self.mount.source)
        except (Failure, OSError) as error:
            self.failures.append(f"{what}: {error}")
            print(f"FAILED power cut at {what}: {error}", flush=True)

    def compare(self, at):
        found = {path: data for path, data in read_source(self.mount.source).items()
                 if data is not None}
        for path in {*found, *self.steps[-1].files, *self.steps[0].files}:
            allowed = self.allowed(path, at)
            if found.get(path) not in allowed:
                now = max((step for step in self.steps if step.at <= at), key=lambda s: s.at)
                raise Failure(f"{path} is neither before nor after, when \"{now.name}\" had ended: "
                              f"{found.get(path, b'absent')!r:.80}")
        self.compare_old(at)

    def compare_old(self, at):
        """One program saves all: the first save of another view belongs to the batch before."""
        there = set(read_tree(self.mount.source).values())
        for step, after in zip(self.steps, self.steps[1:]):
            if step.at > at:
                break
            for path, data in step.files.items():
                if (after.begins or step is self.steps[0]) and data not in there:
                    raise Failure(f"{path} as \"{step.name}\" left it is nowhere")

    def all(self, records):
        image = bytearray(SIZE)
        first = self.steps[0].at
        for i, (at, offset, data) in enumerate(records):
            if offset is not None:
                image[offset:offset + len(data)] = data
            elif at >= first:
                self.look(image, at, f"barrier {i}")
                self.some_after(image, records, i)

    def some_after(self, image, records, i):
        """Of the writes up to the next barrier some were not there yet."""
        after = []
        while i + 1 < len(records) and records[i + 1][1] is not None:
            i += 1
            after.append(records[i])
        for number in range(self.options.subsets if after else 0):
            kept = [record for record in after if self.rng.random() < 0.5]
            cut = bytearray(image)
            for _, offset, data in kept:
                cut[offset:offset + len(data)] = data
            # What the last of them says had ended when all before it was written.
            self.look(cut, records[i - len(after)][0], f"barrier {i - len(after)}, part {number}")


def record(options, ground):
    top = ground.folder("recorded")
    recorded = Recorded(os.path.join(os.path.dirname(options.animfs), "image_recorder"), top)
    try:
        recorded.begin()
        for sample in sorted({edit[0] for edit in EDITS}):
            shutil.copyfile(os.path.join(DATA, sample),
                            os.path.join(recorded.source, os.path.basename(sample)))
        sync_filesystem(recorded.source)
        mount = Mount(options.animfs, top)
        mount.begin()
        steps = save_all(mount, recorded)
        mount.end()
    finally:
        recorded.end()
    return steps, read_log(recorded.log)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("animfs")
    parser.add_argument("--subsets", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.animfs = os.path.realpath(options.animfs)
    if reason := can_loop():
        print(f"power cuts: skipped, no loop devices: {reason}")
        return 0
    begin = time.monotonic()
    with Ground() as ground:
        steps, records = record(options, ground)
        images = Images(options, ground.top, steps)
        images.all(records)
    for point in ground.left:
        print(f"FAILED still mounted: {point}")
    barriers = sum(offset is None for _, offset, _ in records)
    bad = len(images.failures) + len(ground.left)
    print(f"power cuts: {len(steps) - 1} steps, {len(records) - barriers} writes, {barriers}"
          f" barriers, {images.count} images; {bad} bad ({time.monotonic() - begin:.0f} s)")
    return 1 if bad or not images.count else 0


if __name__ == "__main__":
    sys.exit(main())
