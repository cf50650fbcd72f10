# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of animfs, on one file."""
import re
import subprocess


class Refused(Exception):
    """A text was refused; says what standard error said."""


class File:
    def __init__(self, animfs, path, options=()):
        self.animfs = animfs
        self.path = path
        self.options = list(options)

    def _run(self, command, *arguments, text=None):
        done = subprocess.run(
            [self.animfs, command, "--rotations=stored", *self.options, *arguments], input=text, capture_output=True
        )
        if done.returncode not in (0, 1) or (done.returncode and not done.stdout + done.stderr):
            raise ValueError(f"{command} {arguments} ended with {done.returncode}: {done.stderr}")
        return done

    def bytes(self):
        with open(self.path, "rb") as file:
            return file.read()

    def ls(self, place=""):
        """The names in a folder; those of folders end in a slash."""
        done = self._run("ls", self.path + place)
        if done.returncode:
            raise Refused(done.stderr.decode())
        return done.stdout.decode().split("\n")[:-1]

    def cat(self, *places):
        """The texts of views, which one command prints one after another."""
        done = self._run("cat", *(f"{self.path}/{place}" for place in places))
        if done.returncode:
            raise Refused(done.stderr.decode())
        texts = re.split(r"^(?=frame,time|bone,channel|\{)", done.stdout.decode(), flags=re.M)[1:]
        if len(texts) != len(places):
            raise ValueError(f"{len(texts)} texts of {len(places)} views")
        return texts

    def put(self, place, text):
        """Saves a text, which must be refused without a trace or be stored."""
        if isinstance(text, str):
            text = text.encode()
        before = self.bytes()
        done = self._run("put", f"{self.path}/{place}", text=text)
        said = done.stderr.decode()
        if done.returncode == 0:
            return
        if self.bytes() != before:
            raise ValueError(f"refused, and the file has changed: {said}")
        raise Refused(said)

    def check(self):
        done = self._run("check", self.path)
        return "" if done.returncode == 0 else (done.stdout + done.stderr).decode()
