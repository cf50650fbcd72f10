#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_formats.py [--seed N] [--count M] [--edits K] [--format NAME] [--keep DIR] ANIMFS

Invents M files, a format after another, and asks ANIMFS of each what its texts say, saves its own
texts back and K random edits, and reads the file after each with readers that share nothing with
the program. Prints a line for each file of which something is not as the format has it, and keeps
what is needed to see it again below DIR: the file before the last edit, and the text that was saved.
"""
import argparse
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from formats.program import Refused
from formats.trial import Wrong
from formats.try_cas import CasTrial
from formats.try_ff9anim import Ff9Trial
from formats.try_ff9clip import Ff9clipTrial
from formats.try_owanim import OwanimTrial
from formats.try_ribbon import RibbonTrial

TRIALS = {
    "owanim": OwanimTrial,
    "ff9anim": Ff9Trial,
    "ribbon": RibbonTrial,
    "cas": CasTrial,
    "ff9clip": Ff9clipTrial,
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("animfs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--edits", type=int, default=8)
    parser.add_argument("--format", choices=TRIALS, action="append")
    parser.add_argument("--keep")
    return parser.parse_args()


def run(trial, edits):
    """None, or what went wrong; trial.before holds the bytes before it did."""
    try:
        trial.look()
        trial.save_own()
        for _ in range(edits):
            trial.before = trial.file.bytes()
            trial.edit()
        trial.before = trial.file.bytes()
        trial.look()
    except (Wrong, Refused, AssertionError, ValueError) as wrong:
        return str(wrong) or repr(wrong)
    return None


def keep(trial, folder):
    """The file as it was and the text that was saved last, to be looked at."""
    os.makedirs(folder, exist_ok=True)
    name = os.path.basename(trial.file.path)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(trial.before)
    if trial.history:
        place, text = trial.history[-1]
        with open(os.path.join(folder, name + ".text"), "w", newline="") as file:
            file.write(text)
        return f"animfs put {' '.join(trial.options)} {name}/{place} < {name}.text"
    return f"animfs check {' '.join(trial.options)} {name}"


def main():
    asked = arguments()
    names = asked.format or list(TRIALS)
    folder = tempfile.mkdtemp(prefix="animfs-formats.")
    edits = refusals = failed = 0
    for number in range(asked.count):
        name = names[number % len(names)]
        rng = random.Random(f"{asked.seed} {number} {name}")
        path = os.path.join(folder, f"{name}{number}.{TRIALS[name].extension}")
        trial = TRIALS[name](asked.animfs, path, rng)
        trial.before = trial.file.bytes()
        wrong = run(trial, asked.edits)
        edits += trial.edits
        refusals += trial.refusals
        if wrong:
            failed += 1
            print(f"{os.path.basename(path)} (--seed {asked.seed}): {wrong.strip()}")
            if asked.keep:
                print(f"    {keep(trial, asked.keep)}")
    shutil.rmtree(folder)
    print(f"{asked.count} files, {edits} edits, {refusals} refusals, {failed} files failed")
    return failed > 0


sys.exit(main())
