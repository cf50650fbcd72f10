#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
batches_git.py [--steps N] [--seed N] - a mount is the work tree of git, and nobody ever waits: after each
command the tree is clean and the binary is that of the commit. $ANIMFS is the program under test,
$WORK a folder for everything. Prints what batches.py prints.

With all views raw.canm is in the commits, so the binary must be the commit's to the byte. With
--views=csv,json it is not: commits that git made of others (merge, cherry-pick) must hold the values
of a model, and be the same bytes whenever they are checked out again.
"""
import argparse
import os
import random
import subprocess
import sys
import traceback

import batches
from batches import Edit, Failed, Loop, World

ENV = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_PAGER="cat", GIT_EDITOR="true",
           GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")

# What may fail: git then finds a text changed, by its time, that another text of the same checkout has
# rendered anew.
OPEN = os.environ.get("BATCH_OPEN")


class Repository:
    """A mount, one animation file in it, and what each commit says."""

    def __init__(self, name, options, rng):
        self.mounts = batches.Mounts(os.path.join(batches.WORK, name), 1, options)
        self.tree = self.mounts.list[0].point
        self.raw = not options
        self.world = World(self.mounts, "f", rng, "git", os.path.join(batches.WORK, name, "trees"))
        self.commits = {}
        self.git("init", "-q", "-b", "main", ".")
        self.git("add", "-A")
        self.commit("first")

    def refused(self):
        return [os.path.join(top, name) for top, _, names in os.walk(self.tree) for name in names
                if name.endswith((".rejected", ".error"))]

    def git(self, *args):
        self.world.step("git " + " ".join(args))
        return batches.run("git", *args, cwd=self.tree, env=ENV).strip()

    def head(self):
        return batches.run("git", "rev-parse", "HEAD", cwd=self.tree, env=ENV).strip()

    def commit(self, message):
        self.git("commit", "-qam", message)
        self.made()
        return self.head()

    def made(self):
        """HEAD is a new commit of what the model says."""
        self.world.check()
        self.clean()
        self.commits[self.head()] = self.world.remember(), self.world.bytes()

    def clean(self):
        status = batches.run("git", "status", "--porcelain", cwd=self.tree, env=ENV)
        if status:
            diff = subprocess.run(["git", "diff"], cwd=self.tree, env=ENV, capture_output=True).stdout
            raise Failed(f"git status: {status[:1000]}\n{diff[:2000].decode(errors='replace')}")
        if self.raw:
            said = subprocess.run(["git", "show", "HEAD:f.canm/raw.canm"], cwd=self.tree, env=ENV, capture_output=True,
                                  check=True).stdout
            if said != self.world.bytes():
                raise Failed("the binary is not the commit's")

    def at(self, commit):
        """The tree is that of the commit, which is HEAD."""
        if self.head() != commit:
            raise Failed(f"HEAD is {self.head()}")
        state, data = self.commits[commit]
        self.world.restore(state)
        self.world.check(exact=data)
        self.clean()

    def edit(self, edit, kind="csv"):
        self.world.save(edit, kind)
        self.world.check()


def everything(rng):
    """All views: commit, branch, checkout, stash, pop, reset, revert, one file of another commit, bisect."""
    repo = Repository("git-all", (), rng)
    first = repo.head()
    repo.git("checkout", "-qb", "work")
    edits = [Edit("hips", 2.5), Edit("spine", 7.5), Loop(False), Edit("arm_R", 10.5, frame=2), Edit("hips", 3.5),
             Edit("arm_L", 9.5, clip="idle"), Edit("hips", 1.5), Loop(True)]
    chain = [first]
    for edit in edits:
        repo.edit(edit, rng.choice(["csv", "json", "curves"]))
        chain.append(repo.commit(str(edit)))
    yield "add, commit, branch: each commit is clean"

    for commit in [first, chain[-1], *rng.sample(chain, 6)]:
        repo.git("checkout", "-q", commit)
        repo.at(commit)
    yield "checkout of any commit: its binary, to the byte"

    repo.git("checkout", "-q", "work")
    repo.at(chain[-1])
    state = repo.world.remember()
    repo.edit(Edit("arm_L", 11.5))
    edited, data = repo.world.remember(), repo.world.bytes()
    for _ in range(2):
        repo.git("stash", "-q")
        repo.at(chain[-1])
        repo.git("stash", "pop", "-q")
        repo.world.restore(edited)
        repo.world.check(exact=data)
    yield "stash and pop, twice"

    repo.git("stash", "-q")
    repo.git("checkout", "-q", chain[3])
    repo.at(chain[3])
    repo.git("checkout", "-q", "work")
    repo.git("stash", "pop", "-q")
    repo.world.restore(edited)
    repo.world.check(exact=data)
    chain.append(repo.commit("of the stash"))
    repo.git("checkout", "-q", first)
    repo.at(first)
    repo.git("checkout", "-q", "work")
    repo.at(chain[-1])
    yield "a stash that waited in another commit"

    repo.git("revert", "--no-edit", "HEAD")
    repo.world.restore(state)
    repo.made()
    repo.git("reset", "-q", "--hard", chain[-1])
    repo.at(chain[-1])
    repo.git("reset", "-q", "--hard", chain[4])
    repo.at(chain[4])
    repo.git("reset", "-q", "--hard", chain[-1])
    repo.at(chain[-1])
    yield "revert and reset --hard"

    # What git says of the tree is what bisect tests.
    bad = next(i for i, commit in enumerate(chain)
               if repo.commits[commit][0][0][0].bones["spine"][0][0] == 7.5)
    repo.git("bisect", "start", chain[-1], first)
    while True:
        repo.at(repo.head())
        verdict = "bad" if repo.world.model[0].bones["spine"][0][0] == 7.5 else "good"
        said = repo.git("bisect", verdict)
        if "is the first bad commit" in said:
            break
    if not said.startswith(chain[bad]):
        raise Failed("bisect: " + said)
    repo.git("bisect", "reset")
    repo.at(chain[-1])
    script = os.path.join(repo.world.folder, "spine-is-new")
    batches.write(script, b"#!/bin/sh\n! grep -q '^0,0,7\\.5,' f.canm/walk/bones/spine.csv\n")
    os.chmod(script, 0o755)
    repo.git("bisect", "start", chain[-1], first)
    said = repo.git("bisect", "run", script)
    if f"{chain[bad]} is the first bad commit" not in said:
        raise Failed("bisect run: " + said)
    repo.git("bisect", "reset")
    repo.at(chain[-1])
    yield "bisect, by hand and by a script"

    repo.git("checkout", chain[1], "--", "f.canm/walk/bones/hips.csv")
    repo.world.expect(Edit("hips", 2.5))
    repo.world.check()
    repo.git("checkout", "HEAD", "--", "f.canm")
    repo.at(chain[-1])
    repo.git("checkout", chain[5], "--", "f.canm")
    repo.world.restore(repo.commits[chain[5]][0])
    repo.world.check(exact=repo.commits[chain[5]][1])
    repo.git("reset", "-q", "--hard")
    repo.at(chain[-1])
    yield "one text, or all, of another commit"

    repo.world.remount()
    repo.git("checkout", "-q", first)
    repo.at(first)
    repo.git("checkout", "-q", "work")
    repo.at(chain[-1])
    repo.mounts.down()
    yield "after a remount"


def merges(rng):
    """CSV and JSON: merge, cherry-pick, rebase, stash of merged texts."""
    repo = Repository("git-texts", ("--views=csv,json",), rng)
    first = repo.head()

    def branch(name, start, *edits):
        repo.git("checkout", "-q", "-b", name, start)
        repo.at(start)
        for edit in edits:
            repo.edit(edit, rng.choice(["csv", "json"]))
        return repo.commit(name)

    left = branch("left", first, Edit("hips", 2.5), Edit("arm_R", 12.5, frame=1))
    right = branch("right", first, Edit("spine", 7.5))
    repo.git("merge", "-q", "--no-edit", "left")
    repo.world.expect(Edit("hips", 2.5), Edit("arm_R", 12.5, frame=1))
    repo.made()
    merged = repo.head()
    yield "merge: both sides"

    for commit in (left, merged, first, right, merged):
        repo.git("checkout", "-q", commit)
        repo.at(commit)
    yield "checkout of a merge and its parents"

    # hips.csv is merged and new; arm_L.csv is fast-forwarded to a text that was there once.
    there = branch("there", first, Edit("arm_L", 9.5))
    back = branch("back", there, Edit("arm_L", 6), Edit("hips", 5.5, clip="idle"))
    repo.git("checkout", "-q", "-b", "mixed", there)
    repo.at(there)
    repo.edit(Edit("hips", 4.5))
    repo.commit("mixed")
    repo.git("merge", "-q", "--no-edit", back)
    repo.world.expect(Edit("arm_L", 6), Edit("hips", 5.5, clip="idle"))
    repo.made()
    yield "merge: one text new, another as it once was"

    repo.git("checkout", "-q", "left")
    repo.at(left)
    repo.git("cherry-pick", right)
    repo.world.expect(Edit("spine", 7.5))
    repo.made()
    repo.git("cherry-pick", there)
    repo.world.expect(Edit("arm_L", 9.5))
    repo.made()
    repo.git("cherry-pick", back)
    repo.world.expect(Edit("arm_L", 6), Edit("hips", 5.5, clip="idle"))
    repo.made()
    yield "cherry-pick"

    repo.git("checkout", "-q", "right")
    repo.at(merged)
    extra = branch("extra", right, Edit("arm_L", 13.5, clip="idle"), Loop(False))
    if OPEN:
        repo.git("rebase", "-q", merged)
        repo.world.restore(repo.commits[merged][0])
        repo.world.expect(Edit("arm_L", 13.5, clip="idle"), Loop(False))
        repo.made()
    repo.git("checkout", "-q", extra)
    repo.at(extra)
    yield "rebase"

    # Both changed hips: git stops, and what is put right is what counts.
    clash = branch("clash", first, Edit("hips", 20.5))
    done = subprocess.run(["git", "merge", "-q", "--no-edit", "left"], cwd=repo.tree, env=ENV, capture_output=True)
    if done.returncode == 0:
        raise Failed("a conflict was merged")
    # What git writes into a text to mark a conflict is no table, and refused.
    for name in repo.refused():
        os.unlink(name)
    if OPEN:
        repo.git("merge", "--abort")
    else:
        repo.git("reset", "-q", "--hard", clash)
    repo.at(clash)
    yield "a merge that is given up"

    repo.git("merge", "-q", "--no-edit", "-X", "ours", "left")
    repo.world.restore(repo.commits[clash][0])
    repo.world.expect(Edit("arm_R", 12.5, frame=1), Edit("spine", 7.5), Edit("arm_L", 6), Edit("hips", 5.5, clip="idle"))
    repo.made()
    repo.mounts.down()
    yield "a merge with -X ours"


def walk(rng, steps):
    """At random."""
    repo = Repository("git-walk", (), rng)
    value = 100.5
    stashed = None
    for _ in range(steps):
        what = rng.choice(["commit", "commit", "checkout", "checkout", "stash", "reset", "file"])
        if what == "commit":
            value += 1
            bone = rng.choice([Edit("hips", value), Edit("spine", value), Edit("arm_L", value, clip="idle"),
                               Edit("arm_L", value), Loop(not repo.world.loop[0])])
            repo.edit(bone, rng.choice(["csv", "json", "curves"]))
            repo.commit(str(bone))
        elif what == "checkout":
            commit = rng.choice(list(repo.commits))
            repo.git("checkout", "-q", commit)
            repo.at(commit)
        elif what == "stash":
            value += 1
            head = repo.head()
            repo.edit(Edit("hips", value), rng.choice(["csv", "json", "curves"]))
            stashed = repo.world.remember(), repo.world.bytes()
            repo.git("stash", "-q")
            repo.at(head)
            repo.git("stash", "pop", "-q")
            repo.world.restore(stashed[0])
            repo.world.check(exact=stashed[1])
            repo.commit("of a stash")
        elif what == "reset":
            head = repo.head()
            value += 1
            repo.edit(Edit("spine", value), rng.choice(["csv", "json", "curves"]))
            repo.git("reset", "-q", "--hard")
            repo.at(head)
        else:
            head, commit = repo.head(), rng.choice(list(repo.commits))
            repo.git("checkout", commit, "--", "f.canm")
            repo.world.restore(repo.commits[commit][0])
            repo.world.check(exact=repo.commits[commit][1])
            repo.git("reset", "-q", "--hard")
            repo.at(head)
    repo.mounts.down()
    yield f"{steps} commands at random, seed"


def checks(name, steps, output):
    """The names of what passed until something fails."""
    with open(output, "w") as file:
        current = []
        real = World.step

        def step(world, text):
            current.append(text)
            real(world, text)

        World.step = step
        try:
            for passed in steps:
                print(f"ok {name}: {passed}", file=file, flush=True)
                current.clear()
        except Exception as error:
            text = str(error) if isinstance(error, Failed) else traceback.format_exc()
            print("\t".join([f"not ok {name}", *current, *text.splitlines()]), file=file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    suites = {
        "all views": everything(random.Random(options.seed)),
        f"seed {options.seed}": walk(random.Random(options.seed), options.steps),
        "--views=csv,json": merges(random.Random(options.seed)),
    }
    if not OPEN:
        print("skip git rebase and merge --abort: they may find texts changed that git has just written")
        sys.stdout.flush()
    outputs = []
    for i, (name, steps) in enumerate(suites.items()):
        outputs.append(os.path.join(batches.WORK, f"output{i}"))
        pid = batches.start(checks, name, steps, outputs[-1])
        os.waitpid(pid, 0)
    for output in outputs:
        sys.stdout.write(batches.read(output).decode())


if __name__ == "__main__":
    main()
