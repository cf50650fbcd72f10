# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts of a SOURCE of its own whose system calls and allocations fail, or that are killed."""
import ctypes
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time
import traceback

NEVER = 2**64 - 1
MNT_FORCE = 1
CLONE_NEWNS = 0x20000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
LIBC = ctypes.CDLL(None, use_errno=True)
FIELDS = ("calls", "fired", "allocations", "fail_at", "live")
TRACE = 32


class Failure(Exception):
    """Something that must not be."""


class Board:
    """The numbers that fault.so shares (struct board of tests/tools/fault.c)."""

    def __init__(self, path):
        import mmap

        with open(path, "wb") as file:
            file.truncate(4096)
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)

    def __getitem__(self, field):
        return struct.unpack_from("Q", self.map, 8 * FIELDS.index(field))[0]

    def __setitem__(self, field, value):
        struct.pack_into("Q", self.map, 8 * FIELDS.index(field), value)

    def trace(self):
        places = struct.unpack_from(f"{TRACE}Q", self.map, 8 * len(FIELDS))
        return places[:places.index(0)] if 0 in places else places


def write(path, data, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, empty=False, sync=False):
    """Raises the first failure, which may be that of close()."""
    fd = os.open(path, flags, 0o644)
    try:
        if empty:
            os.ftruncate(fd, 0)
        while data:
            data = data[os.write(fd, data):]
        if sync:
            os.fsync(fd)
    except OSError:
        try:
            os.close(fd)
        except OSError:
            pass
        raise
    os.close(fd)


# Limits against hanging, not measurements: a busy machine takes many times as long as a quiet one.
def wait_until(what, seconds=200):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def mounted():
    """{mountpoint: device number in the kernel's words}"""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return {line.split()[4].replace("\\040", " "): line.split()[2] for line in file}


class Mount:
    """One mount; `top` is a folder with SOURCE in src, and mnt."""

    serial = 0

    def __init__(self, animfs, top, options=()):
        self.animfs = os.path.realpath(animfs)
        self.top = top
        self.source = os.path.join(top, "src")
        self.point = os.path.join(top, "mnt")
        self.state = os.path.join(self.source, ".animfs")
        self.options = list(options)
        self.control = os.path.join(top, "fault")
        self.log = os.path.join(top, "log")
        os.makedirs(self.source, exist_ok=True)
        os.makedirs(self.point, exist_ok=True)
        self.board = Board(os.path.join(top, "board"))
        self.daemon = self.device = None
        self.killed = False

    # Beginning and end

    def environment(self):
        preload = os.path.join(os.path.dirname(self.animfs), "fault.so")
        board = os.path.join(self.top, "board")
        return dict(os.environ, LD_PRELOAD=preload, FAULT=self.control, FAULT_BOARD=board)

    def spawn(self):
        self.killed = False
        self.board["fired"] = self.board["live"] = 0
        with open(self.log, "wb") as log:
            self.daemon = subprocess.Popen(
                [self.animfs, "-f", "-o", "unconfined", *self.options, self.source, self.point],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment(),
            )

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def has_begun(self):
        """Is it mounted now (True), or has the daemon ended instead (False)?"""
        wait_until(lambda: self.point in mounted() or self.daemon.poll() is not None)
        self.device = mounted().get(self.point)
        return self.device is not None and self.is_alive()

    def begin(self):
        self.spawn()
        if not self.has_begun():
            raise Failure(f"it does not mount (status {self.daemon.poll()}): {self.said()}")
        # It answers when it has gone on with what an earlier one left.
        os.listdir(self.point)

    def abort(self):
        """What waits for a daemon that is no more goes on, and the daemon can end."""
        if self.device:
            LIBC.umount2(os.fsencode(self.point), MNT_FORCE)

    def bury(self):
        """After a kill: nothing of it stays."""
        self.abort()
        try:
            self.daemon.wait(100)
        except subprocess.TimeoutExpired:
            raise Failure("the killed daemon does not end") from None
        self.unmount("-f")
        self.device = None
        return self.daemon.returncode

    def unmount(self, *how):
        while self.point in mounted():
            done = subprocess.run(["umount", *how, self.point], capture_output=True, check=False)
            if done.returncode and self.point in mounted():
                how = ("-l",)

    def shoot(self):
        """What is not dead then waits in the kernel for somebody who waits for it."""
        self.killed = True
        self.daemon.send_signal(signal.SIGKILL)

    def kill(self):
        self.shoot()
        self.bury()

    def end(self):
        """Unmounts; a daemon that does not end well is a failure."""
        if self.daemon is None:
            return
        def unmounted():
            done = subprocess.run(["umount", self.point], capture_output=True, check=False)
            return done.returncode == 0 or self.point not in mounted()

        wait_until(unmounted)
        try:
            self.daemon.wait(200)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("the daemon does not end after the unmount") from None
        self.device = None
        if self.daemon.returncode:
            raise Failure(f"the daemon ended with {self.daemon.returncode}: {self.said()}")

    def check(self):
        """Every animation of SOURCE decodes, and is encoded to itself."""
        files = [entry.path for entry in os.scandir(self.source) if entry.is_file()]
        done = subprocess.run([self.animfs, "check", *files], capture_output=True, check=False)
        if done.returncode:
            raise Failure(f"does not decode: {(done.stdout + done.stderr).decode()}")

    def is_alive(self):
        return self.daemon.poll() is None

    # Faults

    def set_fault(self, call, what, nth=0):
        Mount.serial += 1
        self.board["calls"] = 0
        folder = "/dev" if call == "notify" else self.source
        line = f"{call} {what} {folder} {nth} {Mount.serial}\n"
        with open(self.control + ".new", "w", encoding="utf-8") as file:
            file.write(line)
        os.rename(self.control + ".new", self.control)

    def end_fault(self):
        if os.path.exists(self.control):
            os.unlink(self.control)
        self.board["fail_at"] = 0

    def set_allocation(self, nth):
        self.board["allocations"] = 0
        self.board["fail_at"] = nth

    def fired(self):
        return self.board["fired"]

    def where(self):
        """The functions in which what failed last was called, the innermost first."""
        places = [hex(place) for place in self.board.trace() if place]
        done = subprocess.run(["addr2line", "-s", "-f", "-i", "-e", self.animfs, *places],
                              capture_output=True, check=False, text=True) if places else None
        lines = done.stdout.split() if done else []
        return " < ".join(f"{name} {line}" for name, line in zip(lines[::2], lines[1::2]))

    def descriptors(self):
        """How many it holds: of folders, which it keeps for those that the kernel knows; others."""
        folder = f"/proc/{self.daemon.pid}/fd"
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
        folders = sum(os.path.isdir(path) for path in paths)
        # libfuse has two for each thread that answers.
        pipes = sum(stat.S_ISFIFO(os.stat(path).st_mode) for path in paths if os.path.exists(path))
        return folders, len(paths) - folders - pipes


class Watch:
    """While a block runs: frees whoever waits for a daemon that was killed, or hangs."""

    def __init__(self, mount, kills, seconds=300):
        self.mount = mount
        self.kills = kills
        self.seconds = seconds
        self.hung = False
        self.done = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def look(self):
        end = time.monotonic() + self.seconds
        while not self.done.wait(0.02):
            if (self.kills and self.mount.fired()) or self.mount.killed \
                    or not self.mount.is_alive():
                self.mount.abort()
            elif time.monotonic() > end:
                self.hung = True
                self.mount.daemon.kill()
                self.mount.abort()
                return


def in_processes(jobs, works):
    """Calls each of the functions, some at a time; what they return. Not in threads: while one saves
    another would fork, and the copy of the open file that its child closes would be a save, too."""
    def attempt(work):
        try:
            return work()
        except Exception:
            traceback.print_exc()
            return None

    readers = []
    for worker in range(jobs):
        reader, writer = os.pipe()
        if os.fork() == 0:
            status = 1
            try:
                results = [attempt(work) for work in works[worker::jobs]]
                with os.fdopen(writer, "w", encoding="utf-8") as file:
                    json.dump(results, file)
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        readers.append(reader)
    results = []
    for reader in readers:
        with os.fdopen(reader, encoding="utf-8") as file:
            results += json.loads(file.read() or "[null]")
        os.wait()
    return results


# What is on the disk

TEMPORARY = re.compile(r"(^|/)\.animfs-[^/]*\.tmp$")
OWN = ("lock", "README")


def read_tree(top, skip=()):
    """{path: bytes, or None for a folder} of all below a folder, but for the names in skip."""
    found = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in skip]
        inside = os.path.relpath(folder, top)
        for name in files + folders:
            path = os.path.normpath(os.path.join(inside, name))
            full = os.path.join(folder, name)
            if os.path.islink(full):
                found[path] = os.readlink(full).encode()
            elif os.path.isdir(full):
                found[path] = None
            else:
                with open(full, "rb") as file:
                    found[path] = file.read()
    return found


def read_source(top):
    """What SOURCE holds, without the state directory and without temporaries."""
    found = read_tree(top, [os.path.join(top, ".animfs")])
    return {path: data for path, data in found.items() if not TEMPORARY.search(path)}


def read_state(top):
    """What the state directory keeps for people, without old versions: extras, refusals."""
    found = read_tree(os.path.join(top, ".animfs"))
    return {
        path: data
        for path, data in found.items()
        if data is not None and path.split("/")[0] in ("extra", "rejected")
        and not TEMPORARY.search(path)
    }


VERSION = re.compile(r"^[0-9a-f]{32}/[0-9]+$")


def read_history(top):
    """The bytes of all old versions."""
    found = read_tree(os.path.join(top, ".animfs", "history"))
    return {path: data for path, data in found.items() if VERSION.match(path)}


def shared_versions(top):
    """Old versions that are a file of SOURCE, too."""
    shared = []
    for path in read_history(top):
        if os.stat(os.path.join(top, ".animfs", "history", path)).st_nlink > 1:
            shared.append(path)
    return shared


def strays(top):
    """Temporaries, and what mounts that are gone have not cleaned, anywhere in SOURCE."""
    found = []
    for path in read_tree(top):
        inside = path[len(".animfs/"):] if path.startswith(".animfs/") else None
        if ".animfs-" in os.path.basename(path):
            found.append(path)
        elif inside and inside.split("/")[0] in ("mounts", "partial") and "/" in inside:
            found.append(path)
    return found


# A folder to work in

def stand_apart():
    """From here on nobody has a copy of the other's mounts, with which these would not end."""
    if os.geteuid() == 0 and LIBC.unshare(CLONE_NEWNS) == 0:
        LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        subprocess.run(["umount", "-a", "-l", "-t", "fuse.animfs"], capture_output=True, check=False)


class Ground:
    """A temporary folder; leaving it says what is still mounted below, and unmounts that."""

    def __enter__(self):
        stand_apart()
        base = os.environ.get("ANIMFS_TEST_DIR", "/var/tmp")
        self.top = tempfile.mkdtemp(prefix="animfs-fault.", dir=base)
        self.left = []
        return self

    def __exit__(self, *_):
        for point in sorted(mounted(), reverse=True):
            if point.startswith(self.top + "/"):
                self.left.append(point)
                subprocess.run(["umount", "-f", point], capture_output=True, check=False)
                subprocess.run(["umount", "-l", point], capture_output=True, check=False)
        shutil.rmtree(self.top, ignore_errors=True)

    def folder(self, name):
        path = os.path.join(self.top, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path


def copy_tree(source, target):
    """A SOURCE as another one was, the times of its files as well."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)


def sync_filesystem(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        LIBC.syncfs(fd)
    finally:
        os.close(fd)
