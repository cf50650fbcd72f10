#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""faults.py [--calls N] [--allocations N] [--jobs N] ANIMFS - calls and allocations that fail.

The n-th system call below SOURCE, and the n-th allocation, fails: of every save of saves.py, of
reading all that a mount shows, of mounting, of the commands; for every small n, and then for every
few. Also on filesystems that are full. Each time:

  - what was done ends well, or fails with an errno that says what it was;
  - SOURCE is as it was before or after the step;
  - when nothing fails any more, the rest of the save can be done, and then all is as it should be;
  - the daemon lives, ends well, and holds no descriptors and no memory that it would not hold;
  - no temporary stays.
"""
import argparse
import errno
import os
import subprocess
import sys
import time

from crash import Reference, compare, differing, fresh_mount, look_at, texts_of
from mounts import NEVER, Failure, Ground, Mount, Watch, in_processes, strays, wait_until
from saves import EDITS, Save, all_saves, folder_of, read, replaced

ERRNOS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EACCES, errno.ENOMEM)
# A text that was refused is no fault; and EIO stands for two that programs misread.
CLEAR = {*ERRNOS}
OTHER = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR}


# ---- what is done ----

def read_all(top):
    """Every text that a mount shows below a folder."""
    texts = {}
    for entry in sorted(os.scandir(top), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            texts.update(read_all(entry.path))
        else:
            texts[entry.path] = read(entry.path)
    return texts


class Reading(Save):
    """All texts of a file: what is read is what it should be, or reading fails."""

    def __init__(self, sample):
        name = os.path.basename(sample)
        super().__init__(f"reading {name}", {name: sample}, [self.look])
        self.folder = folder_of(name)
        self.right = None

    def look(self, point):
        texts = {os.path.relpath(path, point): text
                 for path, text in read_all(os.path.join(point, self.folder)).items()}
        self.right = self.right or texts
        if texts != self.right:
            raise Failure(f"reads otherwise: {differing(texts, self.right)[:5]}")


def all_readings():
    return [Reading(sample) for sample in sorted({edit[0] for edit in EDITS})]


# ---- one of them ----

class Trial:
    def __init__(self, animfs, top, reference):
        self.mount = fresh_mount(animfs, top, reference.template)
        self.save = reference.save
        self.reference = reference
        self.error = None

    def steps(self, first):
        """Until one fails: how many ended well."""
        for done in range(first, len(self.save.steps)):
            try:
                self.save.steps[done](self.mount.point)
            except OSError as error:
                self.error = error.errno
                return done
        return len(self.save.steps)

    def finish(self):
        """All of it again. What was done cannot be done twice."""
        if self.save.fills or look_at(self.mount)["source"] == self.reference.after[-1]["source"]:
            return
        for step in self.save.steps:
            try:
                step(self.mount.point)
            except (FileNotFoundError, FileExistsError, ValueError):
                pass
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise

    def run(self, arm, disarm):
        """Returns whether anything failed."""
        self.mount.begin()
        with Watch(self.mount, kills=False) as watch:
            arm(self.mount)
            done = self.steps(0)
            if self.error in (errno.ENOTCONN, errno.ECONNABORTED):
                wait_until(lambda: not self.mount.is_alive())
                raise Failure(self.death())
            fired = self.mount.fired()
            disarm(self.mount)
            if self.mount.is_alive():
                self.judge(done)
                self.finish()
                texts_of(self.mount, self.save)
        if watch.hung:
            raise Failure("it hangs")
        self.end()
        return fired

    def judge(self, done):
        if self.error is not None and self.error not in CLEAR:
            raise Failure(f"an errno that says nothing: {errno.errorcode[self.error]}")
        if self.save.fills:
            # Of what could not be written or read the next attempt makes what is there.
            self.mount.check()
            return
        # Of a rename that copies and removes the second half may fail.
        first = max(0, done - 1) if self.save.between else done
        states = [state["source"] for state in self.reference.after[first:done + 2]]
        compare(look_at(self.mount)["source"], states, not self.save.between, halves=True)

    def death(self):
        return f"the daemon died: {self.mount.daemon.returncode} {self.mount.said()}"

    def holds_no_more(self):
        folders, others = self.mount.descriptors()
        return folders <= self.reference.descriptors[0] + 8 and \
            others <= self.reference.descriptors[1]

    def end(self):
        if not self.mount.is_alive():
            self.mount.bury()
            raise Failure(self.death())
        if not wait_until(self.holds_no_more):
            raise Failure(f"{self.mount.descriptors()} descriptors,"
                          f" not {self.reference.descriptors}")
        self.mount.end()
        live = self.mount.board["live"]
        if live > self.reference.live + 64:
            raise Failure(f"{live} blocks of memory at the end, not {self.reference.live}")
        now = look_at(self.mount)["source"]
        wanted = self.reference.after[-1]["source"]
        if now != wanted and not self.save.fills and not self.save.between:
            raise Failure(f"done again it is not there: {differing(now, wanted)}")
        if strays(self.mount.source):
            self.mount.begin()
            self.mount.end()
        if left := strays(self.mount.source):
            raise Failure(f"after the next mount there is still {left}")


class FaultReference(Reference):
    """Also how many calls and allocations there are, and what the daemon holds then."""

    def __init__(self, animfs, top, save):
        super().__init__(animfs, top, save)
        mount = fresh_mount(animfs, self.top, self.template)
        mount.begin()
        arm_nothing(mount)
        for step in save.steps:
            step(mount.point)
        self.calls = mount.board["calls"]
        self.allocations = mount.board["allocations"]
        mount.end_fault()
        self.descriptors = mount.descriptors()
        mount.end()
        self.live = mount.board["live"]


def sample(count, most):
    """All small numbers, then every few."""
    small = min(count, most // 2)
    numbers = list(range(1, small + 1))
    if count > small:
        step = max(1, (count - small) // max(1, most - small))
        numbers += range(small + 1, count + 1, step)
    return numbers


def arm_nothing(mount):
    """Only counts."""
    mount.set_fault("any", 0)
    mount.set_allocation(NEVER)


def errno_of(n):
    return ERRNOS[n % len(ERRNOS)]


def arm_call(mount, n, shift=0):
    mount.set_fault("any", errno_of(n + shift), n)


class Tests:
    def __init__(self, options):
        self.options = options
        self.failures = []
        self.counts = {}

    def count(self, kind, number=1):
        self.counts[kind] = self.counts.get(kind, 0) + number

    def failed(self, what):
        self.failures.append(what)
        print(f"FAILED {what}", flush=True)

    def trial(self, ground, reference, kind, what, arm, disarm=Mount.end_fault):
        trial = Trial(self.options.animfs, ground, reference)
        try:
            if trial.run(arm, disarm):
                self.count(kind)
        except (Failure, OSError, ValueError) as error:
            self.failed(f"{reference.save.name}, {what}: {error}\n  in {trial.mount.where()}")
            self.clean(trial.mount)

    def clean(self, mount):
        mount.end_fault()
        if mount.daemon:
            if mount.is_alive():
                mount.daemon.kill()
            mount.bury()

    def save(self, ground, number, save, allocations):
        top = ground.folder(str(number))
        try:
            reference = FaultReference(self.options.animfs, top, save)
        except (Failure, OSError, ValueError) as error:
            self.failed(f"{save.name}, undisturbed: {error}")
            return
        place = os.path.join(top, "fault")
        for n in sample(reference.calls, self.options.calls):
            self.trial(place, reference, "call",
                       f"call {n} {errno.errorcode[errno_of(n + number)]}",
                       lambda mount, n=n: arm_call(mount, n, number))
        for n in sample(reference.allocations, allocations):
            self.trial(place, reference, "allocation", f"allocation {n}",
                       lambda mount, n=n: mount.set_allocation(n))

    # Mounting

    def place(self, ground, kind):
        return os.path.join(ground.top, f"mounting_{kind}")

    def mounting(self, ground, kind, arm, what):
        """It begins, or ends with a word of why and a status."""
        mount = fresh_mount(self.options.animfs, self.place(ground, kind), self.game)
        try:
            arm(mount)
            mount.spawn()
            begun = mount.has_begun() and self.can_be_read(mount, what)
            fired = mount.fired()
            mount.end_fault()
            if begun:
                self.read_shown(mount)
                mount.end()
            elif mount.daemon.wait(10) <= 0 or not mount.said().strip():
                raise Failure(f"status {mount.daemon.returncode} and {mount.said()!r}")
            if mount.source and look_at(mount)["source"] != self.game_state:
                raise Failure("SOURCE is not as it was")
            self.count(f"mounting, {kind}", fired)
        except (Failure, OSError, ValueError, subprocess.TimeoutExpired) as error:
            self.failed(f"mounting, {what}: {error}\n  in {mount.where()}")
            self.clean(mount)

    def can_be_read(self, mount, what):
        """Now the files are decoded; what is told of a fault must be what it was."""
        # What may not be read is shown as the file that it is, for a while.
        other = OTHER if "EACCES" in what else {}
        try:
            read_all(mount.point)
        except OSError as error:
            if error.errno not in CLEAR and error.errno not in other:
                raise
        return True

    def read_shown(self, mount):
        """All is there again; what was shown as an ordinary file, after a moment."""
        def shown():
            try:
                texts = {os.path.relpath(path, mount.point): text
                         for path, text in read_all(mount.point).items()}
            except OSError as error:
                if error.errno not in OTHER:
                    raise
                return False
            self.right = self.right or texts
            return texts == self.right

        if not wait_until(shown):
            raise Failure("it shows something else")

    def all_mountings(self, ground, kind, most, arm):
        """The n-th call or allocation of mounting and of reading all for the first time."""
        self.game = ground.folder(f"game_{kind}")
        for one in all_readings():
            one.make_source(self.game)
        mount = fresh_mount(self.options.animfs, self.place(ground, kind), self.game)
        self.game_state = look_at(mount)["source"]
        self.right = None
        self.mounting(ground, kind, arm_nothing, "undisturbed")
        for n in sample(mount.board[f"{kind}s"], most):
            name = f" {errno.errorcode[errno_of(n)]}" if kind == "call" else ""
            self.mounting(ground, kind, lambda mount, n=n: arm(mount, n), f"{kind} {n}{name}")

    # Commands

    def command(self, ground, sample_, view, old, new):
        """animfs put: it saves, or says that it has not."""
        name = os.path.basename(sample_)
        mount = Mount(self.options.animfs, ground.folder(f"put_{name}_{view}".replace("/", "_")))
        save = Save(name, {name: sample_}, [])
        path = os.path.join(mount.source, name)
        place = f"{name}/{view}"
        save.make_source(mount.source)
        before = read(path)
        done = self.animfs(mount, "cat", place)
        text = replaced(old, new)(done.stdout)
        arm_nothing(mount)
        self.animfs(mount, "put", place, text)
        after, total = read(path), (mount.board["calls"], mount.board["allocations"])
        for kind, count in (("call", total[0]), ("allocation", total[1])):
            for n in sample(count, self.options.calls):
                with open(path, "wb") as file:
                    file.write(before)
                mount.board["fired"] = 0
                mount.end_fault()
                if kind == "call":
                    arm_call(mount, n)
                else:
                    mount.set_allocation(n)
                done = self.animfs(mount, "put", place, text)
                self.count(f"command, {kind}", mount.board["fired"])
                mount.end_fault()
                what = f"put {place}, {kind} {n}"
                now = read(path)
                self.judge_command(what, done, now, (before, after))
                # Its own text, where it is there: one of a clip may say the edit in one member only.
                again = text if now == before else self.animfs(mount, "cat", place).stdout
                self.animfs(mount, "put", place, again)
                if read(path) != after or strays(mount.source):
                    self.failed(f"{what}: done again it is not there, or leaves"
                                f" {strays(mount.source)}")

    def animfs(self, mount, command, place, text=b""):
        return subprocess.run([mount.animfs, command, place], cwd=mount.source, input=text,
                              capture_output=True, check=False, env=mount.environment())

    def judge_command(self, what, done, now, states):
        said = done.stderr.decode(errors="replace")
        if done.returncode < 0 or done.returncode > 2:
            self.failed(f"{what}: status {done.returncode}: {said}")
        elif now not in states or (done.returncode == 0 and now != states[1]):
            self.failed(f"{what}: status {done.returncode}, and the file is otherwise: {said}")
        elif done.returncode and not said.strip():
            self.failed(f"{what}: status {done.returncode} without a word")

    # Full filesystems

    def full(self, ground, number, save):
        """A filesystem with only so many pages left, until a save has room."""
        top = ground.folder(f"full {number}")
        place = os.path.join(top, "fault")
        os.makedirs(place)
        try:
            reference = FaultReference(self.options.animfs, top, save)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], check=True)
            for pages in range(0, 12):
                before = self.counts.get("full", 0)
                self.trial(place, reference, "full", f"{pages} pages left",
                           lambda mount, p=pages: fill(mount.source, p), free)
                self.counts["full"] = before + 1
            subprocess.run(["umount", place], check=True)
        except (Failure, OSError, ValueError, subprocess.CalledProcessError) as error:
            self.failed(f"{save.name}, full: {error}")


FILLER = ".filler"


def fill(source, pages):
    """To the last byte, and then so many pages less."""
    path = os.path.join(os.path.dirname(source), FILLER)
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
        file.truncate(max(0, file.tell() - 4096 * pages))


def free(mount):
    path = os.path.join(mount.top, FILLER)
    if os.path.exists(path):
        os.unlink(path)


def all_works(options, ground):
    """Each by itself; what it counted and what failed."""
    saves = [save for save in all_saves() if options.only in save.name]
    # Of each edit some ways to save it: the calls are mostly the same.
    saves = saves[::options.every] + [one for one in all_readings() if options.only in one.name]

    def alone(function):
        tests = Tests(options)
        function(tests)
        return [tests.counts, tests.failures]

    works = [lambda i=i, save=save: alone(lambda tests: tests.save(
        ground, i, save, options.allocations // (1 if i % 6 == 0 else 3)))
        for i, save in enumerate(saves)]
    if not options.only:
        works.append(lambda: alone(lambda tests: tests.all_mountings(
            ground, "call", options.calls, arm_call)))
        works.append(lambda: alone(lambda tests: tests.all_mountings(
            ground, "allocation", options.allocations, Mount.set_allocation)))
        works += [lambda edit=edit: alone(lambda tests: tests.command(ground, *edit))
                  for edit in EDITS]
        works += [lambda i=i: alone(lambda tests: tests.full(ground, i, saves[3 * i]))
                  for i in range(5)]
    return works


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("animfs")
    parser.add_argument("--calls", type=int, default=60, help="of each save, at most")
    parser.add_argument("--allocations", type=int, default=150)
    parser.add_argument("--every", type=int, default=2, help="only every so many saves")
    # Mostly they wait.
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count())
    parser.add_argument("--only", default="", help="saves whose name has this")
    options = parser.parse_args()
    begin = time.monotonic()
    with Ground() as ground:
        works = all_works(options, ground)
        found = in_processes(options.jobs, works)
    left = [f"still mounted: {point}" for point in ground.left]
    left += ["a part of the tests ended early"] * found.count(None)
    for failure in left:
        print(f"FAILED {failure}")
    counts = {}
    for one in filter(None, found):
        for kind, number in one[0].items():
            counts[kind] = counts.get(kind, 0) + number
    bad = sum(len(one[1]) for one in found if one) + len(left)
    said = "; ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    print(f"{len(works)} things done under faults: {said}; {bad} bad"
          f" ({time.monotonic() - begin:.0f} s)")
    return 1 if bad or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
