# SPDX-License-Identifier: GPL-3.0-or-later
"""The filesystems that SOURCE is put on: how each is made and mounted."""
import glob
import os
import shutil
import subprocess

from mounts import LIBC, MNT_FORCE, Failure, mounted, wait_until


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)
    if done.returncode:
        said = (done.stderr + done.stdout).strip().splitlines()
        raise Failure(f"{' '.join(command)}: status {done.returncode}: {said[-1] if said else ''}")
    return done.stdout


class Kind:
    """A filesystem; `needed` ones must be had on every machine."""

    kernel = None  # its name in /proc/filesystems
    needed = True
    kills = 8  # of each save at a call, at least; as many at any moment
    unsteady = False  # reads may be wrong for a moment; fsck finds it damaged, also without animfs
    loses = ""  # what it was seen to lose without animfs
    uml = False  # User-mode Linux has it
    server = None  # its process, where it would not end with its mount
    patience = 5  # seconds until it shows itself what happened behind()

    def __init__(self, top, folder):
        self.top = top
        self.folder = folder
        self.hung = False

    @classmethod
    def why_not(cls):
        """Why a filesystem of the kernel cannot be had, or None."""
        if cls.kernel is None:
            return None
        subprocess.run(["modprobe", "-q", cls.kernel], capture_output=True, check=False)
        with open("/proc/filesystems", encoding="ascii") as file:
            known = {line.split()[-1] for line in file}
        return None if cls.kernel in known else f"this kernel has no {cls.kernel}"

    @classmethod
    def in_uml(cls):
        """Must it be asked of another kernel?"""
        return cls.uml and cls.why_not() is not None

    def path(self, name):
        return os.path.join(self.top, name)

    def make(self):
        """What is done once, before it is mounted."""

    def mount(self):
        raise NotImplementedError

    def attach(self):
        self.hung = False
        self.mount()
        if not wait_until(lambda: self.folder in mounted(), 10):
            raise Failure("it is not mounted")

    def detach(self):
        for _ in range(100):
            done = subprocess.run(["umount", self.folder], capture_output=True, check=False, text=True)
            if self.folder not in mounted():
                return
            wait_until(lambda: False, 0.1)
        raise Failure(f"it cannot be unmounted: {done.stderr.strip()}")

    def renew(self):
        """Mounts it again, a new one if it is damaged."""
        self.detach()
        if self.damage():
            self.make()
        self.attach()

    def abort(self):
        """Frees whoever waits for it, when it hangs."""
        self.hung = True
        if self.server:
            self.server.kill()
        LIBC.umount2(os.fsencode(self.folder), MNT_FORCE)

    def damage(self):
        """What is broken in it, where no program should be able to break it; or nothing."""
        return ""

    def behind(self):
        """The same files where nobody who watches the folder sees a change, or None."""
        return None

    def lasts(self):
        """Is what it stores there again after it was unmounted?"""
        return True

class Image(Kind):
    """One in a file."""

    size = "64M"
    mkfs = ()

    def make(self):
        image = self.path("image")
        run("truncate", "-s", self.size, image)
        run(*self.mkfs, image)

    def mount(self):
        run("mount", "-o", "loop", "-t", self.kernel, self.path("image"), self.folder)


class Tmpfs(Kind):
    name = kernel = "tmpfs"

    def mount(self):
        run("mount", "-t", "tmpfs", "-o", "size=64m", "none", self.folder)

    def lasts(self):
        return False


class Ext4(Image):
    name = kernel = "ext4"
    mkfs = ("mkfs.ext4", "-q", "-F", "-I", "256")


class Ext4Small(Ext4):
    name = "ext4-128"
    mkfs = ("mkfs.ext4", "-q", "-F", "-I", "128")


class Xfs(Image):
    name = kernel = "xfs"
    size = "320M"
    mkfs = ("mkfs.xfs", "-q")


class Btrfs(Image):
    name = kernel = "btrfs"
    size = "256M"
    mkfs = ("mkfs.btrfs", "-q")


class Overlay(Kind):
    name = "overlayfs"
    kernel = "overlay"

    def make(self):
        for name in ("lower", "upper", "work"):
            os.mkdir(self.path(name))

    def mount(self):
        layers = ",".join(f"{name}dir={self.path(name)}" for name in ("lower", "upper", "work"))
        run("mount", "-t", "overlay", "-o", layers, "none", self.folder)


class FuseFat(Image):
    name = "fusefat"
    kernel = None
    unsteady = True
    # It loses what is in a folder that is renamed or has more than one cluster, and answers several
    # threads wrongly.
    size = "512M"
    mkfs = ("mkfs.vfat", "-F", "16", "-s", "64", "-r", "4096")

    def mount(self):
        with open(self.path("log"), "wb") as log:
            self.server = subprocess.Popen(["fusefat", "-f", "-s", "-o", "rw+", self.path("image"), self.folder],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log)


    def damage(self):
        if self.hung:
            return " (it hung when the mount was dead)"
        done = subprocess.run(["fsck.vfat", "-n", self.path("image")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, text=True)
        said = [line.strip() for line in done.stdout.splitlines() if not line.startswith("fsck")]
        return "" if done.returncode == 0 else f" (fsck: {' '.join(said)[:80]})"


class FuseExfat(Image):
    name = "exfat-fuse"
    kernel = None
    mkfs = ("mkfs.exfat",)

    def mount(self):
        """It takes devices only; this one goes when it is unmounted."""
        loop = run("losetup", "-f", "--show", self.path("image")).strip()
        try:
            run("mount.exfat-fuse", loop, self.folder)
        finally:
            run("losetup", "-d", loop)


class Ntfs3g(Image):
    name = "ntfs-3g"
    kernel = None
    mkfs = ("mkntfs", "-q", "-F")

    def mount(self):
        run("ntfs-3g", self.path("image"), self.folder)


class Bindfs(Kind):
    name = "bindfs"

    def make(self):
        os.mkdir(self.path("below"))

    def mount(self):
        run("bindfs", self.path("below"), self.folder)

    def behind(self):
        return self.path("below")


class Sshfs(Kind):
    """The other end is a process here that gets what ssh would bring it."""

    name = "sshfs"
    patience = 30
    servers = ("/usr/lib/openssh/sftp-server", "/usr/lib/ssh/sftp-server", "/usr/libexec/openssh/sftp-server")

    def make(self):
        server = next(filter(os.path.exists, self.servers), None)
        if server is None:
            raise Failure("there is no sftp-server")
        os.mkdir(self.path("remote"))
        with open(self.path("ssh"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {server}\n")
        os.chmod(self.path("ssh"), 0o755)

    def mount(self):
        run("sshfs", "-o", f"ssh_command={self.path('ssh')}", f"localhost:{self.path('remote')}", self.folder)

    def behind(self):
        return self.path("remote")


class KernelFat(Image):
    name = kernel = "vfat"
    uml = True
    kills = 3  # that machine is slow
    mkfs = ("mkfs.vfat",)


class KernelExfat(Image):
    name = kernel = "exfat"
    needed = False
    mkfs = ("mkfs.exfat",)


class KernelNtfs(Image):
    name = kernel = "ntfs3"
    needed = False
    mkfs = ("mkntfs", "-q", "-F")


ALL = [Tmpfs, Ext4, Ext4Small, Xfs, Btrfs, Overlay, FuseFat, FuseExfat, Ntfs3g, Bindfs, Sshfs,
       KernelFat, KernelExfat, KernelNtfs]
KINDS = {kind.name: kind for kind in ALL}


def empty(folder):
    """Removes all that is in it."""
    for path in glob.glob(os.path.join(glob.escape(folder), "*"), include_hidden=True):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
