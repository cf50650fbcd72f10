#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
soak.py PROGRAM SOURCE MOUNT PID SECONDS [SEED] - reads, edits, changes of structure and changes from
outside, mixed at random, against a model that knows what every file must hold. SOURCE has the
animation files of make_game. Ends with 1 at the first difference, or when the daemon (PID) keeps
growing, or at the end, without requests, still runs; says what it did once a minute.
"""
import collections
import errno
import os
import random
import shutil
import subprocess
import sys
import time

COLUMN = 5  # rx of the first row
NEAR = 0.06  # what the format rounds, and what a new grid moves other keys
WARM = 60  # seconds until the daemon has what it needs
GROWTH_KIB = 8 << 10
IDLE_KIB = 24 << 10  # when nobody asks for anything any more; 20 MiB are aimed at
SETTLES = 5  # seconds after the last request until what was put off is done
IDLE = 10  # seconds without a request in which the daemon must not run


class Model:
    """What every file must hold: (file, clip, bone) -> rx of its first row; notes: path -> text."""

    def __init__(self):
        self.bones = {}
        self.notes = {}

    def clips(self, file):
        return sorted({clip for f, clip, _ in self.bones if f == file})

    def files(self):
        return sorted({file for file, _, _ in self.bones})

    def of_file(self, file):
        return {(c, b): v for (f, c, b), v in self.bones.items() if f == file}

    def replace_file(self, file, bones):
        self.drop_file(file)
        for (clip, bone), value in bones.items():
            self.bones[file, clip, bone] = value

    def drop_file(self, file):
        for key in [key for key in self.bones if key[0] == file]:
            del self.bones[key]


def first_row(text):
    return text.split("\n")[1].split(",")


def value_of(text):
    return float(first_row(text)[COLUMN])


def changed(text, value):
    lines = text.split("\n")
    cells = lines[1].split(",")
    cells[COLUMN] = "%g" % value
    lines[1] = ",".join(cells)
    return "\n".join(lines)


class Soak:
    def __init__(self, program, source, mount, pid, seed):
        self.program, self.source, self.mount, self.pid = program, source, mount, pid
        self.random = random.Random(seed)
        self.model = Model()
        self.done = {}
        self.trail = collections.deque(maxlen=40)
        self.counter = 0
        for folder, _, names in os.walk(source):
            for name in names:
                if name.endswith(".canm"):
                    self.learn(os.path.relpath(os.path.join(folder, name), source))

    # ---- what is asked ----

    def cat(self, path):
        return subprocess.run([self.program, "cat", os.path.join(self.source, path)], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    def read(self, path):
        with open(os.path.join(self.mount, path)) as file:
            return file.read()

    def view(self, file, clip, bone):
        return "%s/%s/bones/%s" % (file, clip, bone)

    def learn(self, file):
        """What the mount says of a new file, which the binary must say too."""
        for clip in self.folders(file):
            for bone in self.names("%s/%s/bones" % (file, clip)):
                if not bone.endswith(".csv"):
                    continue
                text = self.read(self.view(file, clip, bone))
                if text.count("\n") > 1 and first_row(text)[COLUMN]:
                    self.model.bones[file, clip, bone] = value_of(text)

    def names(self, path):
        return sorted(os.listdir(os.path.join(self.mount, path)))

    def folders(self, path):
        return [n for n in self.names(path) if os.path.isdir(os.path.join(self.mount, path, n))]

    def pick(self):
        return self.random.choice(sorted(self.model.bones))

    def fresh(self, prefix):
        self.counter += 1
        return "%s%d" % (prefix, self.counter)

    def expect(self, what, got, want):
        if abs(got - want) > NEAR:
            raise AssertionError("%s: %g in place of %g" % (what, got, want))

    def soon(self, what, condition):
        """Changes from outside are seen within a second; a busy machine may take its time."""
        end = time.monotonic() + 10
        while True:
            try:
                if condition():
                    return
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.EIO):
                    raise
            if time.monotonic() > end:
                raise AssertionError("never seen: " + what)
            time.sleep(0.02)

    def clips(self, file):
        """What was put beside the texts of clips that others took away stays."""
        return [n for n in self.folders(file) if "clip.json" in self.names(file + "/" + n)]

    def says(self, file):
        """Whether the mount says of it what the model does: one bone may be alike by chance."""
        bones = self.model.of_file(file).items()
        return self.clips(file) == self.model.clips(file) and all(
            abs(value_of(self.read(self.view(file, *key))) - want) <= NEAR for key, want in bones)

    # ---- what is done ----

    def do_read(self):
        key = self.pick()
        self.expect(self.view(*key), value_of(self.read(self.view(*key))), self.model.bones[key])

    def do_read_all(self):
        file = self.random.choice(self.model.files())
        for clip in self.model.clips(file):
            for name in ("clip.json", "curves.csv", "clip.gltf", "clip.svg"):
                assert self.read("%s/%s/%s" % (file, clip, name)), name

    def save(self, path, text):
        path = os.path.join(self.mount, path)
        how = self.random.choice(("close", "fsync", "rename"))
        target = path + ".new" if how == "rename" else path
        with open(target, "w") as file:
            file.write(text)
            if how == "fsync":
                file.flush()
                os.fsync(file.fileno())
        if how == "rename":
            os.rename(target, path)

    def do_edit(self):
        key = self.pick()
        value = float(self.random.randrange(-170, 170))
        self.doing(self.view(*key), "%g" % value)
        text = self.read(self.view(*key))
        self.save(self.view(*key), changed(text, value))
        seen = value_of(self.read(self.view(*key)))
        # One process that edits view after view may send what a copy of a folder sends: then what
        # changed nothing has its line.
        if abs(seen - value) > NEAR and abs(seen - value_of(text)) <= NEAR:
            line = self.view(*key) + ": stale: "
            assert line in self.read(".animfs/errors"), "no line for " + self.view(*key)
            value = value_of(text)
        self.model.bones[key] = value
        self.expect("saved " + self.view(*key), seen, value)

    def do_bad_edit(self):
        key = self.pick()
        path = self.view(*key)
        self.doing(path)
        try:
            self.save(path, changed(self.read(path), 1).replace(",1,", ",1..,", 1) + "x,\n")
            raise AssertionError("nonsense was saved: " + path)
        except OSError as error:
            assert error.errno == errno.EBADMSG, error
        for name in os.listdir(os.path.dirname(os.path.join(self.mount, path))):
            if name.endswith((".rejected", ".error", ".new")):
                os.unlink(os.path.join(self.mount, os.path.dirname(path), name))
        self.expect("refused " + path, value_of(self.read(path)), self.model.bones[key])

    def do_copy_clip(self):
        file = self.random.choice(self.model.files())
        clip = self.random.choice(self.model.clips(file))
        if len(self.model.clips(file)) > 4:
            return
        new = self.fresh("clip")
        self.doing(file, clip, "to", new)
        at = os.path.join(self.mount, file)
        subprocess.run(["cp", "-r", os.path.join(at, clip), os.path.join(at, new)], check=True)
        fd = os.open(os.path.join(at, new), os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
        for (c, bone), value in self.model.of_file(file).items():
            if c == clip:
                self.model.bones[file, new, bone] = value

    def do_rename_clip(self):
        file = self.random.choice(self.model.files())
        clip, new = self.random.choice(self.model.clips(file)), self.fresh("clip")
        self.doing(file, clip, "to", new)
        os.rename(os.path.join(self.mount, file, clip), os.path.join(self.mount, file, new))
        for (c, bone), value in self.model.of_file(file).items():
            if c == clip:
                del self.model.bones[file, c, bone]
                self.model.bones[file, new, bone] = value

    def do_remove_clip(self):
        file = self.random.choice(self.model.files())
        clips = self.model.clips(file)
        if len(clips) < 3:
            return
        clip = self.random.choice(clips)
        self.doing(file, clip)
        shutil.rmtree(os.path.join(self.mount, file, clip))
        fd = os.open(os.path.join(self.mount, file), os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
        for c, bone in self.model.of_file(file):
            if c == clip:
                del self.model.bones[file, c, bone]

    def do_rename_file(self):
        file = self.random.choice(self.model.files())
        new = os.path.join(os.path.dirname(file), self.fresh("file") + ".canm")
        self.doing(file, "to", new)
        os.rename(os.path.join(self.mount, file), os.path.join(self.mount, new))
        self.model.replace_file(new, self.model.of_file(file))
        self.model.drop_file(file)

    def do_outside_copy(self):
        """A file that others put beside it, and one that they take away."""
        file = self.random.choice(self.model.files())
        new = os.path.join(os.path.dirname(file), self.fresh("file") + ".canm")
        self.doing(file, "to", new)
        shutil.copy(os.path.join(self.source, file), os.path.join(self.source, new))
        self.model.replace_file(new, self.model.of_file(file))
        self.soon(new, lambda: os.path.isdir(os.path.join(self.mount, new)))
        if len(self.model.files()) > 8:
            old = self.random.choice(self.model.files())
            self.doing("without", old)
            os.unlink(os.path.join(self.source, old))
            self.model.drop_file(old)
            self.soon("no " + old, lambda: not os.path.lexists(os.path.join(self.mount, old)))

    def do_outside_edit(self):
        """By the commands, in SOURCE; or the binary of one file over another's."""
        key = self.pick()
        file = key[0]
        if self.random.random() < 0.5:
            value = float(self.random.randrange(-170, 170))
            self.doing(self.view(*key), "%g" % value)
            path = os.path.join(self.source, self.view(*key))
            subprocess.run([self.program, "put", path], check=True, text=True,
                           input=changed(self.cat(self.view(*key)), value))
            self.model.bones[key] = value
        else:
            other = self.random.choice(self.model.files())
            self.doing(other, "over", file)
            temporary = os.path.join(self.source, file + ".tmp")
            shutil.copy(os.path.join(self.source, other), temporary)
            os.rename(temporary, os.path.join(self.source, file))
            self.model.replace_file(file, self.model.of_file(other))
        self.soon("outside " + self.view(*key), lambda: self.says(file))

    def do_note(self):
        file = self.random.choice(self.model.files())
        clip = self.random.choice(self.model.clips(file))
        folder = os.path.join(self.mount, file, clip)
        name = os.path.join(folder, self.fresh("note") + ".txt")
        self.doing(file, clip)
        with open(name, "w") as out:
            out.write(name)
        assert open(name).read() == name
        os.rename(name, name + "~")
        os.unlink(name + "~")

    # ---- all of it ----

    KINDS = (("read", 40), ("read_all", 3), ("edit", 30), ("bad_edit", 4), ("copy_clip", 1),
             ("rename_clip", 2), ("remove_clip", 1), ("rename_file", 2), ("outside_copy", 2),
             ("outside_edit", 6), ("note", 4))

    def step(self):
        kind = self.random.choices([k for k, _ in self.KINDS], [w for _, w in self.KINDS])[0]
        self.done[kind] = self.done.get(kind, 0) + 1
        self.trail.append(kind)
        try:
            getattr(self, "do_" + kind)()
        except Exception:
            print("the last steps:", *self.trail, sep="\n  ", flush=True)
            raise

    def doing(self, *what):
        """For who reads why it ended."""
        self.trail[-1] += " " + " ".join(what)

    def check_all(self):
        """By the mount and by the binaries themselves: nothing has drifted, nothing is missing."""
        for key, want in sorted(self.model.bones.items()):
            self.soon(self.view(*key),
                      lambda: abs(value_of(self.read(self.view(*key))) - want) <= NEAR)
        for file in self.model.files():
            path = os.path.join(self.source, file)
            subprocess.run([self.program, "check", path], check=True, capture_output=True)
            for clip in self.model.clips(file):
                bones = [(b, v) for (c, b), v in self.model.of_file(file).items() if c == clip]
                bone, want = self.random.choice(bones)
                self.expect("binary " + self.view(file, clip, bone),
                            value_of(self.cat(self.view(file, clip, bone))), want)
            names = self.names(file)
            assert len(names) == len(set(names)), (file, names)
            clips = self.clips(file)
            assert clips == self.model.clips(file), (file, clips, self.model.clips(file))
        left = [n for n in os.listdir(self.source) if n.startswith(".animfs") and n != ".animfs"]
        assert not left, left

    def rss(self):
        with open("/proc/%d/status" % self.pid) as status:
            return int(next(l for l in status if l.startswith("VmRSS")).split()[1])

    def ran(self):
        """Nanoseconds that the daemon's threads have been running."""
        tasks = "/proc/%d/task" % self.pid
        total = 0
        for task in os.listdir(tasks):
            with open(os.path.join(tasks, task, "schedstat")) as stat:
                total += int(stat.read().split()[0])
        return total

    def check_idle(self):
        time.sleep(SETTLES)
        before = self.ran()
        time.sleep(IDLE)
        ran, rss = self.ran() - before, self.rss()
        print("idle: it ran %d ns in %d s, RSS %d KiB" % (ran, IDLE, rss), flush=True)
        if ran:
            raise AssertionError("it ran %d ns without a request" % ran)
        if rss > IDLE_KIB:
            raise AssertionError("it keeps %d KiB without a request" % rss)

    def nodes(self):
        return int(self.read(".animfs/status").split("nodes ")[1].split()[0])

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))


def main():
    program, source, mount, pid, seconds = sys.argv[1:6]
    seed = int(sys.argv[6]) if len(sys.argv) > 6 else int(time.time())
    print("seed", seed, flush=True)
    soak = Soak(program, source, mount, int(pid), seed)
    begin = time.monotonic()
    warm = told = 0
    while time.monotonic() - begin < float(seconds):
        soak.step()
        passed = time.monotonic() - begin
        if passed - told >= 60:
            told = passed
            soak.check_all()
            rss = soak.rss()
            print("%d s: %d steps, RSS %d KiB, %d descriptors, %d nodes" %
                  (passed, sum(soak.done.values()), rss, soak.descriptors(), soak.nodes()),
                  flush=True)
            if not warm and passed >= min(WARM, float(seconds) / 2):
                warm = rss
            elif warm and rss > warm + GROWTH_KIB:
                raise AssertionError("it grew from %d to %d KiB" % (warm, rss))
    soak.check_all()
    soak.check_idle()
    print(" ".join("%s %d" % item for item in sorted(soak.done.items())))


main()
