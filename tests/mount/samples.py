#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""samples.py DATA MOUNT: are the samples of DATA shown in MOUNT as NAME.expect.json says?

The expectations are stored numbers; what a cell must say is computed here, from the formats alone.
Prints a line for each difference.
"""
import csv
import glob
import json
import os
import struct
import sys
from decimal import Decimal

STEP = Decimal(360) / 4096
ROLES = ("tx ty tz", "rx ry rz", "qx qy qz qw", "sx sy sz")


def plain(number):
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def f32(number):
    return struct.pack("<f", float(number))


def seconds(frame, rate):
    micro = int(Decimal(frame) / Decimal(rate) * 1000000 + Decimal("0.5"))
    return plain(Decimal(micro) / 1000000)


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def differences(path, wanted, equal):
    """Rows against rows; cells against what `equal` says of (column, cell, wanted)."""
    got = rows(path)
    if len(got) != len(wanted):
        yield f"{path}: {len(got)} rows, not {len(wanted)}"
        return
    for line, (row, want) in enumerate(zip(got, wanted), 2):
        for column, cell in row.items():
            if not equal(column, cell, want.get(column, "")):
                yield f"{path}:{line}: {column} is {cell!r}, not {want.get(column, '')!r}"


def exactly(_column, cell, want):
    return cell == str(want)


def nearly(column, cell, want):
    """The same float32; of computed quaternions and scales, whose text is short, nearly so."""
    if cell == "" or want == "" or column in ("frame", "time", "flags"):
        return cell == str(want)
    return f32(cell) == f32(want) or abs(float(cell) - float(want)) <= 1e-7


def put(row, columns, values):
    row.update(zip(columns.split(), values))


def ff9anim(folder, clip, want):
    for bone in range(want["bones"]):
        table = []
        for frame in range(want["frames"]):
            row = {"frame": frame, "time": seconds(frame, 30)}
            if bone == 0:
                put(row, "tx ty tz", want["translation"][frame])
            put(row, "rx ry rz", (plain(a * STEP) for a in want["angles"][frame][bone]))
            table.append(row)
        yield from differences(f"{folder}/{clip}/bones/bone_{bone:03}.csv", table, exactly)
    if len(glob.glob(f"{folder}/{clip}/bones/*.csv")) != want["bones"]:
        yield f"{folder}: another number of bones than {want['bones']}"


def ribbon(folder, clip, want):
    tables = {}
    for frame, keys in enumerate(want["keys"]):
        for key in keys:
            row = {"frame": frame, "time": seconds(frame, 30), "flags": key["flags"] & 0xF8}
            if key["flags"] & 1:
                put(row, "rx ry rz", (plain(a * STEP) for a in key["rotation"]))
            if key["flags"] & 2:
                put(row, "sx sy sz", (s / 4096 for s in key["scale"]))
            if key["flags"] & 4:
                put(row, "tx ty tz", key["position"])
            tables.setdefault(key["object"], []).append(row)
    def equal(column, cell, want):
        return (nearly if column[0] == "s" else exactly)(column, cell, want)
    for number, table in tables.items():
        path = f"{folder}/{clip}/bones/object_{number:03}.csv"
        yield from differences(path, table, equal)
        with open(path[:-3] + "json") as file:
            keyframes = json.load(file)["keyframes"]
        for row, keyframe in zip(table, keyframes):
            if (keyframe["frame"], keyframe["flags"]) != (row["frame"], row["flags"]) or [
                m in keyframe for m in ("rotation", "scale", "position")
            ] != [c in row for c in ("rx", "sx", "tx")]:
                yield f"{path}: the JSON has other keyframes"
    with open(f"{folder}/{clip}/clip.json") as file:
        text = json.load(file)
    if text["frames"] != len(want["keys"]) or text["ribbon"]["word2"] != want["word2"]:
        yield f"{folder}: clip.json has another length or word2"


def owanim(folder, clip, want):
    tables = [{} for _ in want["bones"]]
    rate = want["header"]["fps"]
    for frame in want["frames"]:
        for key in frame["bones"]:
            row = {"frame": frame["frame"], "time": seconds(frame["frame"], rate)}
            put(row, "tx ty tz", key.get("position", ()))
            put(row, "qx qy qz qw", key.get("rotation", ()))
            put(row, "sx sy sz", key.get("scale", ()))
            tables[key["bone"]][frame["frame"]] = row
    for bone, table in zip(want["bones"], tables):
        table = [table[frame] for frame in sorted(table)]
        yield from differences(f"{folder}/{clip}/bones/bone_{bone:04X}.csv", table, nearly)
    with open(f"{folder}/{clip}/clip.json") as file:
        text = json.load(file)
    if text["frames"] != want["frame_count"]:
        yield f"{folder}: {text['frames']} frames, not {want['frame_count']}"
    if [b["bone"] for b in text["bones"]] != [f"bone_{b:04X}" for b in want["bones"]]:
        yield f"{folder}: other bones"


def main(data, mount):
    for read in (ff9anim, ribbon, owanim):
        for path in sorted(glob.glob(f"{data}/{read.__name__}/*.expect.json")):
            clip = os.path.basename(path).removesuffix(".expect.json")
            with open(path) as file:
                want = json.load(file)
            folder = glob.glob(f"{mount}/{clip}.*[!n]")[0]
            if not want.get("valid", True):
                if os.path.isdir(folder):
                    print(f"{folder} is shown, and should be refused: {want['why']}")
                continue
            for line in read(folder, clip, want):
                print(line)


main(*sys.argv[1:])
