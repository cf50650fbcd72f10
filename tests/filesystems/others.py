# SPDX-License-Identifier: GPL-3.0-or-later
"""What others change in SOURCE while it is mounted: here, or behind the filesystem where it has a behind."""
import os
import shutil

import oracle
from bench import SECONDS, next_second, read, write
from mounts import Failure

TICKS = 30  # attempts to have a change fall into one tick of the clock


class Others:
    """One round of checks; `folder` is where the changes are made."""

    def __init__(self, bench, folder, where):
        self.bench = bench
        self.folder = folder
        self.where = where
        self.seconds = SECONDS if folder == bench.source else bench.kind.patience + SECONDS

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, clips=None):
        self.bench.put(name, clips, self.folder)

    def soon_shows(self, name, clips, bone="hips"):
        self.bench.soon_shows(name, clips, bone, self.seconds)

    def replaced(self):
        """By rename, several times, of the same size and of another."""
        self.put("replaced.canm")
        for i, clips in enumerate((oracle.sample(2.5), oracle.sample(3.5)[:1], oracle.sample(4.5))):
            self.soon_shows("replaced.canm", oracle.sample() if i == 0 else last)
            write(self.path(".new"), oracle.write(clips))
            os.rename(self.path(".new"), self.path("replaced.canm"))
            self.soon_shows("replaced.canm", clips)
            last = clips

    def written(self):
        """In place."""
        self.put("written.canm")
        for x in (2.5, 3.5, 4.5):
            write(self.path("written.canm"), oracle.write(oracle.sample(x)))
            self.soon_shows("written.canm", oracle.sample(x))

    def replaced_while_open(self):
        """Who has the text open reads it to the end."""
        self.put("open.canm")
        self.soon_shows("open.canm", oracle.sample())
        with open(self.bench.bone("open.canm"), "rb", buffering=0) as view:
            write(self.path(".new"), oracle.write(oracle.sample(6.5)))
            os.rename(self.path(".new"), self.path("open.canm"))
            self.soon_shows("open.canm", oracle.sample(6.5))
            if view.read() != oracle.bone_csv(oracle.sample()):
                raise Failure("the open view says another text")

    def write_there(self, name, clips, back=False):
        """In place and of the same size; whether stat() shows it. With `back` its times are set back."""
        path = self.path(name)
        before = os.stat(path)
        fd = os.open(path, os.O_WRONLY)
        os.pwrite(fd, oracle.write(clips), 0)
        os.close(fd)
        if back:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = os.stat(path)

        def facts(status):
            return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        return facts(before) != facts(after)

    def same_tick(self):
        """A change within the tick of a save is shown, and kept by the next save."""
        self.put("tick.canm")
        clips = oracle.sample()
        unseen = 0
        for i in range(TICKS):
            clips = oracle.with_x(clips, 2.5 + i, "hand")
            if self.bench.facts["step"] >= 10**9:
                next_second()
            self.save("tick.canm", clips, "hand")
            clips = oracle.with_x(clips, 100.5 + i)
            unseen += not self.write_there("tick.canm", clips)
            # By turns: looked at before the next save, or not.
            if i % 2:
                self.soon_shows("tick.canm", clips)
            if unseen == 4:
                break
        clips = oracle.with_x(clips, 99.5, "hand")
        self.save("tick.canm", clips, "hand")
        self.soon_shows("tick.canm", clips)
        return f"{unseen} of {i + 1} not shown by stat()"

    def save(self, name, clips, bone):
        write(self.bench.bone(name, bone), oracle.bone_csv(clips, bone))
        if (data := read(self.path(name))) != oracle.write(clips):
            found = {bone: keys[0][0] for bone, keys in oracle.read(data)[0].bones.items()}
            wanted = {bone: keys[0][0] for bone, keys in clips[0].bones.items()}
            raise Failure(f"after a save it has {found}, not {wanted}")

    def times_set_back(self):
        """A save keeps what no time shows."""
        self.put("back.canm")
        clips = oracle.sample()
        for i in range(5):
            read(self.bench.bone("back.canm", "hand"))
            clips = oracle.with_x(clips, 100.5 + i)
            shown = self.write_there("back.canm", clips, back=True)
            clips = oracle.with_x(clips, 2.5 + i, "hand")
            self.save("back.canm", clips, "hand")
            self.soon_shows("back.canm", clips)
        return "shown by stat()" if shown else "not shown by stat()"

    def removed(self):
        self.put("removed.canm")
        os.unlink(self.path("removed.canm"))
        self.bench.is_gone(self.bench.mnt("removed.canm"), self.seconds)
        if "removed.canm" in os.listdir(self.bench.mount.point):
            raise Failure("it is still listed")

    def renamed(self):
        self.put("before.canm")
        os.rename(self.path("before.canm"), self.path("after.canm"))
        self.soon_shows("after.canm", oracle.sample())
        self.bench.is_gone(self.bench.mnt("before.canm"), self.seconds)

    def folder_renamed(self):
        os.mkdir(self.path("one"))
        write(self.path("one/in.canm"), oracle.write(oracle.sample()))
        self.soon_shows("one/in.canm", oracle.sample())
        os.rename(self.path("one"), self.path("two"))
        self.soon_shows("two/in.canm", oracle.sample())
        self.bench.is_gone(self.bench.mnt("one"), self.seconds)
        shutil.rmtree(self.path("two"))
        self.bench.is_gone(self.bench.mnt("two"), self.seconds)

    def damaged(self):
        """It is a file until it decodes again."""
        self.put("bad.canm")
        write(self.path("bad.canm"), b"no animation")
        self.bench.wait(lambda: os.path.isfile(self.bench.mnt("bad.canm")), "it is still a folder", self.seconds)
        write(self.path("bad.canm"), oracle.write(oracle.sample(2.5)))
        self.soon_shows("bad.canm", oracle.sample(2.5))

    def ordinary(self):
        """A file that is no animation: other bytes of the same size, then more."""
        write(self.path("notes"), b"first")
        file = self.bench.mnt("notes")
        self.says(file, b"first")
        for text in (b"other", b"other and more", b"x"):
            write(self.path("notes"), text)
            self.says(file, text)

    def says(self, file, text):
        def there():
            return os.path.exists(file) and read(file) == text and os.path.getsize(file) == len(text)
        self.bench.wait(there, lambda: f"it says {read(file)!r}, not {text!r}", self.seconds)

    def conflict(self):
        """A save of what others have changed since it was read is refused, and nothing is lost."""
        self.put("conflict.canm")
        path = self.bench.bone("conflict.canm")
        text = oracle.bone_csv(oracle.sample(7.5))
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
        os.write(fd, text)
        write(self.path(".new"), oracle.write(oracle.sample(8.5)))
        os.rename(self.path(".new"), self.path("conflict.canm"))
        said = "saved"
        try:
            os.close(fd)
        except OSError as error:
            said = f"refused ({error.strerror})"
        data = read(self.path("conflict.canm"))
        if said == "saved" or data != oracle.write(oracle.sample(8.5)):
            raise Failure(f"{said}; the file has {oracle.read(data)[0].bones['hips']}")
        self.soon_shows("conflict.canm", oracle.sample(8.5))
        self.bench.wait(lambda: os.path.exists(path + ".rejected"), "the text is not kept", self.seconds)
        if read(path + ".rejected") != text:
            raise Failure("another text is kept")

    def all(self):
        for name, function in (
                ("a file is replaced by rename", self.replaced), ("and while its view is open", self.replaced_while_open),
                ("it is written in place", self.written), ("of the same size in one tick of the clock", self.same_tick),
                ("its times are set back", self.times_set_back), ("it is removed", self.removed),
                ("it is renamed", self.renamed), ("a folder is renamed, and removed", self.folder_renamed),
                ("a file is damaged, and mended", self.damaged), ("an ordinary file is written", self.ordinary),
                ("a save meets another's", self.conflict)):
            self.bench.report.check(f"{self.where}{name}", function)


def others(bench):
    bench.report.begin("outside changes")
    bench.begin()
    Others(bench, bench.source, "").all()
    bench.report.check("the end of the mount", bench.end)
    bench.clear()
    if bench.kind.behind():
        bench.begin()
        Others(bench, bench.kind.behind(), "behind it: ").all()
        bench.report.check("behind it: the end of the mount", bench.end)
        bench.clear()
