#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""filesystems.py [--jobs N] [--only NAME]... ANIMFS - SOURCE on every filesystem that there is.

Prints a line for each check, and the table of what each filesystem has, which the manual has too.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "..", "search", "faults"))

import habits  # noqa: E402
import kills  # noqa: E402
import others  # noqa: E402
import shapes  # noqa: E402
import table  # noqa: E402
import uml  # noqa: E402
from bench import RESULTS, Bench, Report  # noqa: E402
from facts import Facts  # noqa: E402
from kinds import KINDS, empty  # noqa: E402
from mounts import Failure, stand_apart  # noqa: E402


def measure(kind):
    """What the filesystem can do, without animfs; and what it loses, and so may lose with it."""
    facts = Facts(kind.folder, kind.behind())
    facts.measure()
    if kind.lasts():
        kind.detach()
        kind.loses = kind.damage()
        kind.attach()
    found = facts.measure_again()
    if not found["folders"]:
        kind.loses += " (what is in a folder that is renamed)"
    empty(kind.folder)
    kind.renew()
    return found


def all_checks(animfs, top, kind, report):
    report.begin("filesystem")
    facts = measure(kind)
    if kind.loses:
        report.line("lost", "without animfs", kind.loses.strip())
    bench = Bench(animfs, top, kind, facts, report)
    for part in (habits.saves, shapes.shapes, others.others, kills.kills):
        try:
            part(bench)
        except (Failure, OSError) as error:
            report.failed("to the end", f"{type(error).__name__}: {error}")
        bench.drop()
        report.check("the filesystem is unmounted and mounted again", kind.renew)
    return facts


def one(options):
    """In a process and a mount namespace of its own; what is mounted there ends with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    stand_apart()
    name = options.one
    top = tempfile.mkdtemp(prefix="animfs-filesystem.", dir=os.environ.get("ANIMFS_TEST_DIR", "/var/tmp"))
    folder = os.path.join(top, "src")
    os.mkdir(folder)
    kind = KINDS[name](top, folder)
    report = Report(name, kind)
    report.begin("filesystem")
    report.rearm()
    facts = {}
    try:
        kind.make()
        kind.attach()
        facts = all_checks(options.animfs, top, kind, report)
    except (Failure, OSError) as error:
        report.line("FAIL", "it can be had, to the end", f"{type(error).__name__}: {error}")
    finally:
        report.end()
        if report.mount.daemon and report.mount.is_alive():
            report.mount.kill()
        kind.abort()
        subprocess.run(["umount", "-l", folder], capture_output=True, check=False)
        shutil.rmtree(top, ignore_errors=True)
    with open(options.result, "w", encoding="utf-8") as file:
        json.dump({"facts": facts, "sums": report.sums}, file)


def run_one(options, name):
    """Prints its lines as they come; what it found."""
    # Not below /dev/shm, which is another one in there.
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", dir="/var/tmp") as result, \
            tempfile.NamedTemporaryFile("r", encoding="utf-8", dir="/var/tmp") as script:
        command = [sys.executable, os.path.realpath(__file__), options.animfs, "--one", name, "--result", result.name]
        if KINDS[name].in_uml():
            command = uml.command(command, script.name)
        with subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line[:4] in RESULTS:
                    print(line.rstrip(), flush=True)
        try:
            return json.load(result)
        except ValueError:
            print(f"FAIL {name}: the checks ended early with status {process.returncode}", flush=True)
            return {"facts": {}, "sums": {"to the end": [0, 1, 0]}}


def choose(names):
    """Those that can be had; one that must be and cannot fails when it is mounted."""
    chosen = []
    for name in names:
        why_not = uml.why_not() if KINDS[name].in_uml() else KINDS[name].why_not()
        if why_not and not KINDS[name].needed:
            print(f"--   {name}: {why_not}", flush=True)
        else:
            chosen.append(name)
    return chosen


def summary(found):
    sums = [sum(numbers) for numbers in zip(*(one for result in found.values() for one in result["sums"].values()))]
    good, bad, lost = sums
    print(f"filesystems: {len(found)}, {good} passed, {bad} failed, {lost} lost by the filesystem itself")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("animfs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", choices=KINDS)
    parser.add_argument("--manual", help="a page that must have the table as it was measured")
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.animfs = os.path.realpath(options.animfs)
    if options.one:
        return one(options)
    names = choose(options.only or list(KINDS))
    # One that hangs keeps others from their syncs, so it goes last, and alone.
    steady = [name for name in names if not KINDS[name].unsteady]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(steady, pool.map(lambda name: run_one(options, name), steady)))
    found.update((name, run_one(options, name)) for name in names if name not in found)
    rows = table.rows({name: result for name, result in found.items() if result["facts"]})
    print("\n" + table.as_text(rows) + "\n")
    missing = table.missing(rows, options.manual) if options.manual else []
    for row in missing:
        print(f"FAIL {row[0]}: the manual does not say: {table.as_mdoc(row)}")
    return summary(found) or bool(missing)


if __name__ == "__main__":
    sys.exit(main())
