# SPDX-License-Identifier: GPL-3.0-or-later
"""What a filesystem can do, asked of it without animfs."""
import ctypes
import errno
import fcntl
import os
import select
import time

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2
IN_CREATE = 0x100
IN_MODIFY = 0x2
# What times are cut to, in nanoseconds.
STEPS = (1, 100, 1000, 10**6, 10**7, 10**9, 2 * 10**9)
STEP_WORDS = {1: "1ns", 100: "100ns", 1000: "1us", 10**6: "1ms", 10**7: "10ms", 10**9: "1s", 2 * 10**9: "2s"}
# An odd second, and no step of the above but 1 ns divides it.
SOME_TIME = 1700000001_123456789


def write(path, text=b"x"):
    with open(path, "wb") as file:
        file.write(text)


def renameat2(old, new, flags):
    if LIBC.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags):
        raise OSError(ctypes.get_errno(), "renameat2", old)


def can(function, *arguments):
    """Whether a call works, by what it says."""
    try:
        function(*arguments)
    except OSError:
        return False
    return True


class Facts:
    """`behind` is another way to the same files, or None."""

    def __init__(self, folder, behind):
        self.folder = folder
        self.behind = behind
        self.found = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def measure(self):
        self.found["flags"] = self.rename_flags()
        self.found["links"] = self.links()
        self.found["symlinks"] = can(os.symlink, "nowhere", self.path("symlink"))
        self.found["xattrs"] = self.xattrs()
        self.found["owners"] = self.owners()
        self.found["modes"] = self.modes()
        self.found["chmod"] = can(os.chmod, self.path("mode"), os.stat(self.path("mode")).st_mode & 0o777)
        self.found["inotify"] = self.inotify()
        self.found["leases"] = self.leases()
        self.found["names"] = self.names()
        self.found["spellings"] = self.spellings()
        self.found["folders"] = self.folders()
        self.found["ctime"] = self.own_ctime()
        write(self.path("time"))
        os.utime(self.path("time"), ns=(SOME_TIME, SOME_TIME))
        return self.found

    def measure_again(self):
        """After it was mounted again, or at once where that loses all."""
        kept = os.stat(self.path("time")).st_mtime_ns
        self.found["step"] = max(step for step in STEPS if SOME_TIME // step * step == kept) \
            if kept != SOME_TIME else 1
        return self.found

    def rename_flags(self):
        """Both must also do what they say."""
        a, b, c = (self.path(name) for name in ("flags-a", "flags-b", "flags-c"))
        write(a, b"a")
        write(b, b"b")
        found = []
        try:
            renameat2(a, c, RENAME_NOREPLACE)
            found.append("noreplace")
            os.rename(c, a)
        except OSError:
            pass
        try:
            renameat2(a, b, RENAME_EXCHANGE)
            with open(a, "rb") as file:
                if file.read() == b"b":
                    found.append("exchange")
        except OSError:
            pass
        return found

    def links(self):
        write(self.path("link-a"))
        return can(os.link, self.path("link-a"), self.path("link-b"))

    def xattrs(self):
        path = self.path("xattr")
        write(path)
        return can(os.setxattr, path, "user.note", b"1") and os.getxattr(path, "user.note") == b"1"

    def owners(self):
        path = self.path("owner")
        write(path)
        if not can(os.chown, path, 1234, 2345):
            return False
        status = os.stat(path)
        return (status.st_uid, status.st_gid) == (1234, 2345)

    def modes(self):
        path = self.path("mode")
        write(path)
        return can(os.chmod, path, 0o640) and os.stat(path).st_mode & 0o777 == 0o640

    def events(self, folder):
        """Does a watch of the folder notice a file that is made there?"""
        fd = LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if LIBC.inotify_add_watch(fd, os.fsencode(self.folder), IN_CREATE | IN_MODIFY) < 0:
                return False
            write(os.path.join(folder, "event"))
            return bool(select.select([fd], [], [], 1)[0])
        finally:
            os.unlink(os.path.join(folder, "event"))
            os.close(fd)

    def inotify(self):
        if not self.events(self.folder):
            return "no"
        return "yes" if not self.behind or self.events(self.behind) else "changes made here"

    def leases(self):
        write(self.path("lease"))
        with open(self.path("lease"), "rb") as file:
            if not can(fcntl.fcntl, file.fileno(), fcntl.F_SETLEASE, fcntl.F_RDLCK):
                return False
            fcntl.fcntl(file.fileno(), fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True

    def names(self):
        """What of names it does not keep as they are."""
        write(self.path("case"))
        found = ["case"] if os.path.exists(self.path("CASE")) else []
        try:
            write(self.path('a:?*"<>|'))
            if 'a:?*"<>|' not in os.listdir(self.folder):
                found.append("marks")
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EILSEQ, errno.ENOENT, errno.EIO, errno.EPERM):
                raise
            found.append("marks")
        return found

    def spellings(self):
        """Where names in another case are the same file: has it the same bytes by each, once replaced?"""
        write(self.path("spelling"), b"a")
        if not os.path.exists(self.path("SPELLING")):
            return True
        for data in (b"a", b"b"):
            write(self.path("spelling-new"), data)
            os.rename(self.path("spelling-new"), self.path("spelling"))
            with open(self.path("SPELLING"), "rb") as file:
                if file.read() != data:
                    return False
        return True

    def folders(self):
        """Has a folder that is renamed still what was in it?"""
        os.mkdir(self.path("folder-a"))
        write(self.path("folder-a/file"))
        os.rename(self.path("folder-a"), self.path("folder-b"))
        return os.listdir(self.path("folder-b")) == ["file"]

    def own_ctime(self):
        """Does a write show there whose other time is set back?"""
        path = self.path("ctime")
        write(path)
        os.utime(path, ns=(SOME_TIME, SOME_TIME))
        before = os.stat(path).st_ctime_ns
        time.sleep(2.1)  # more than a step of any
        write(path, b"y")
        os.utime(path, ns=(SOME_TIME, SOME_TIME))
        return os.stat(path).st_ctime_ns != before
