#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""crash.py [--count N] [--jobs N] [--seed N] ANIMFS - kills mounts while they save.

Every save of saves.py is done with the daemon killed in the place of its n-th call that changes
something, for every n; then with the n-th write torn; then in the place of the n-th notification of
the kernel, which comes after the change on the disk; then at random moments, until there were N
kills. After each, SOURCE and what the state directory keeps are what they were before or after a
step, and no step that ended well is missing; the next mount says the same and leaves no temporary. Each
binary that was there before is there still or is an old version, and nothing else is one.
"""
import argparse
import os
import random
import re
import sys
import threading
import time

from mounts import (Failure, Ground, Mount, Watch, copy_tree, in_processes, read_history, read_source,
                    read_state, shared_versions, strays, wait_until)
from saves import all_saves, read


def look_at(mount):
    return {"source": read_source(mount.source), "state": read_state(mount.source),
            "history": read_history(mount.source)}


def texts_of(mount, save):
    """What the views say, where they are."""
    texts = {}
    for place in save.looks:
        path = os.path.join(mount.point, place)
        if os.path.exists(path):
            texts[place] = read(path)
    return texts


class Reference:
    """What an undisturbed save leaves: after each step, and when it is killed there."""

    def __init__(self, animfs, top, save):
        self.save = save
        self.template = os.path.join(top, "template")
        self.top = os.path.join(top, "reference")
        os.makedirs(os.path.join(self.template))
        save.make_source(self.template)
        if save.before:
            with_mount(animfs, self.template, self.top, save.before)
            copy_tree(os.path.join(self.top, "src"), self.template)
        self.after, self.found, self.texts = [], [], []
        self.stored = set()  # all that was ever a file or a version
        for steps in range(len(save.steps) + 1):
            self.run(animfs, steps)

    def run(self, animfs, steps):
        mount = fresh_mount(animfs, self.top, self.template)
        mount.begin()
        begin = time.monotonic()
        for step in self.save.steps[:steps]:
            step(mount.point)
        self.seconds = time.monotonic() - begin
        self.after.append(look_at(mount))
        mount.kill()
        mount.begin()
        self.found.append(look_at(mount))
        self.texts.append(texts_of(mount, self.save))
        for state in (self.after[-1], self.found[-1]):
            self.stored.update(*(state[part].values() for part in ("source", "history")))
        mount.end()
        if left := strays(mount.source):
            raise Failure(f"{self.save.name}: left without a fault: {left}")

    def count(self, animfs, call):
        """How many calls of this kind the save makes."""
        mount = fresh_mount(animfs, self.top, self.template)
        mount.begin()
        mount.set_fault(call, 0)
        for step in self.save.steps:
            step(mount.point)
        calls = mount.board["calls"]
        mount.end()
        return calls


def fresh_mount(animfs, top, template):
    mount = Mount(animfs, top)
    copy_tree(template, mount.source)
    mount.end_fault()
    return mount


def with_mount(animfs, template, top, function):
    mount = fresh_mount(animfs, top, template)
    mount.begin()
    function(mount.point)
    mount.end()


def among(value, allowed):
    return any(value == other for other in allowed)


def part(state, area):
    return {path: data for path, data in state.items() if path.startswith(area + "/")}


def differing(found, wanted):
    return [path for path in sorted({*found, *wanted})
            if path not in found or path not in wanted or found[path] != wanted[path]]


BINARY = re.compile(r"^[^/]*\.(canm|cas|006|ff9anim|anm|kanim)$")


def may_be_half(path, data, allowed):
    """What is no animation is written as programs write it, which may be killed in between."""
    return (data is not None and not BINARY.match(path)
            and any(one.get(path, b"").startswith(data) for one in allowed if one.get(path, b"")))


def compare(found, allowed, whole, halves=False):
    """Is it one of those, or each file of it from one of them?"""
    if whole:
        if not among(found, allowed):
            raise Failure(f"neither before nor after: {differing(found, allowed[-1])}")
        return
    for path in {*found, *(path for one in allowed for path in one)}:
        data = found.get(path, "absent")
        if among(data, [one.get(path, "absent") for one in allowed]):
            continue
        if data == "absent" or not halves or not may_be_half(path, data, allowed):
            raise Failure(f"neither before nor after: {path}: {data!r:.200}")


class Crash:
    def __init__(self, animfs, top, save, reference):
        self.mount = fresh_mount(animfs, top, reference.template)
        self.save = save
        self.reference = reference
        self.done = 0

    def save_until_killed(self):
        """
        Returns how many steps ended well and how many were begun. They are done from the mount's own
        folder: by the path, one could go on in the folder below a mount that is gone.
        """
        os.chdir(self.mount.point)
        try:
            for self.done, step in enumerate(self.save.steps):
                try:
                    step(".")
                except OSError as error:
                    if not self.is_dead():
                        raise Failure(f"step {self.done + 1}: {error}") from None
                    return self.done, self.done + 1
        finally:
            os.chdir("/")
        return len(self.save.steps), len(self.save.steps)

    def is_dead(self):
        """One that was killed from outside may still be on its way."""
        return (self.mount.fired() or self.mount.killed
                or wait_until(lambda: not self.mount.is_alive(), 20))

    def run(self, arm):
        self.mount.begin()
        arm(self.mount)
        with Watch(self.mount, kills=True) as watch:
            done, begun = self.save_until_killed()
        if watch.hung:
            raise Failure("the save hangs")
        killed = self.mount.fired()
        if not killed and not self.mount.killed and self.mount.is_alive():
            self.mount.kill()
        else:
            self.mount.bury()
        self.mount.end_fault()
        self.judge(done, begun)
        return killed

    def judge(self, done, begun):
        """What is there now, and what the next mount makes of it."""
        raw = look_at(self.mount)
        states = self.reference.after[done:begun + 1]
        found = self.reference.found[done:begun + 1]
        if not self.save.between:
            compare(raw["source"], [state["source"] for state in states], True)
        self.mount.begin()
        after = look_at(self.mount)
        allowed = [state["source"] for state in states + found]
        half_filled = self.save.fills and begun > done
        if half_filled:
            self.mount.check()
        else:
            compare(after["source"], allowed, not self.save.between, halves=begun > done)
        kept = [state["state"] for state in states + found]
        for area in ("extra",) if half_filled else ("extra", "rejected"):
            compare(part(after["state"], area), [part(one, area) for one in kept], False,
                    halves=begun > done and area == "extra")
        self.look(after, done, begun)
        self.look_back(after)
        self.mount.end()
        if left := strays(self.mount.source):
            raise Failure(f"after the next mount there is still {left}")

    def look_back(self, after):
        """Each binary that was there is there or a version; nothing else is a version."""
        before = self.reference.after[0]["source"]
        there = {*after["history"].values(), *after["source"].values()}
        for path, data in before.items():
            if BINARY.match(os.path.basename(path)) and data not in there:
                raise Failure(f"what {path} was is nowhere")
        if shared := shared_versions(self.mount.source):
            raise Failure(f"a version is a file of SOURCE, too: {shared}")
        if self.save.fills:
            return
        for path, data in after["history"].items():
            if data not in self.reference.stored:
                raise Failure(f"nobody saved the version {path}")

    def look(self, after, done, begun):
        texts = texts_of(self.mount, self.save)
        for i in range(done, begun + 1):
            if after["source"] == self.reference.found[i]["source"]:
                if texts == self.reference.texts[i]:
                    return
        if not self.save.between:
            raise Failure("the views do not say what the binary does")


KINDS = ("call", "torn", "notified", "moment")


class Kills:
    """All those of one save; counts them, and keeps what went wrong."""

    def __init__(self, options, ground, number, save):
        self.options = options
        self.save = save
        self.top = os.path.join(ground.top, str(number))
        self.kills = dict.fromkeys(KINDS, 0)
        self.failures = []
        self.rng = random.Random(f"{options.seed} {save.name}")

    def failed(self, what, error):
        self.failures.append(f"{self.save.name}, {what}: {error}")
        print(f"FAILED {self.failures[-1]}", flush=True)

    def one(self, reference, kind, arm, what):
        crash = Crash(self.options.animfs, os.path.join(self.top, "crash"), self.save, reference)
        try:
            killed = crash.run(arm)
        except (Failure, OSError, ValueError) as error:
            self.failed(what, error)
            if crash.mount.daemon:
                crash.mount.kill()
            return
        if killed or kind == "moment":
            self.kills[kind] += 1

    def every_call(self, reference):
        for call, what, kind in (("change", "kill", "call"), ("write", "tear", "torn"),
                                 ("notify", "kill", "notified")):
            for n in range(1, reference.count(self.options.animfs, call) + 1, self.options.stride):
                self.one(reference, kind, lambda mount, n=n, call=call, what=what:
                         mount.set_fault(call, what, n), f"{what} at {call} {n}")

    def at_some_moment(self, reference):
        delay = self.rng.random() * (reference.seconds * 1.5 + 0.002)

        def arm(mount):
            daemon = mount.daemon
            threading.Timer(delay, lambda: mount.daemon is daemon and mount.shoot()).start()

        self.one(reference, "moment", arm, f"killed after {delay * 1000:.1f} ms")

    def run(self, wanted):
        """So many, or more."""
        try:
            os.makedirs(self.top)
            reference = Reference(self.options.animfs, self.top, self.save)
            self.every_call(reference)
        except (Failure, OSError, ValueError) as error:
            self.failed("undisturbed", error)
            return [self.kills, self.failures]
        for _ in range(max(self.options.moments, wanted - sum(self.kills.values()))):
            self.at_some_moment(reference)
        return [self.kills, self.failures]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("animfs")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--moments", type=int, default=4, help="random kills of each save, at least")
    parser.add_argument("--only", default="", help="saves whose name has this")
    options = parser.parse_args()
    saves = [save for save in all_saves() if options.only in save.name]
    wanted = -(-options.count // max(1, len(saves)))
    begin = time.monotonic()
    with Ground() as ground:
        found = in_processes(options.jobs, [
            lambda i=i, save=save: Kills(options, ground, i, save).run(wanted)
            for i, save in enumerate(saves)])
    kills = {kind: sum(one[0][kind] for one in found if one) for kind in KINDS}
    left = [f"still mounted: {point}" for point in ground.left]
    left += ["a part of the tests ended early"] * found.count(None)
    for failure in left:
        print(f"FAILED {failure}")
    bad = sum(len(one[1]) for one in found if one) + len(left)
    print(f"{len(saves)} saves, {sum(kills.values())} kills: {kills['call']} at a call,"
          f" {kills['torn']} in a write, {kills['notified']} at a notification,"
          f" {kills['moment']} at random moments;"
          f" {bad} bad ({time.monotonic() - begin:.0f} s)")
    return 1 if bad or not sum(kills.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
