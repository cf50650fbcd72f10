# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of animfs: tables of bones, curves.csv and JSON, as rows.

A row is a dict: "frame"; "flags" where rows are keyframes; and for each role that has cells in it
(t, r, q, s) the list of its cells as texts.
"""
import csv
import io
import json

COLUMNS = {
    "t": ["tx", "ty", "tz"],
    "r": ["rx", "ry", "rz"],
    "q": ["qx", "qy", "qz", "qw"],
    "s": ["sx", "sy", "sz"],
}
CHANNELS = {"t": "translation", "r": "rotation", "q": "rotation", "s": "scale"}
# In curves.csv a quaternion has a channel of its own.
ROWS = dict(CHANNELS, q="quaternion")
# Vib-Ribbon's JSON calls them otherwise.
PARTS = {"r": "rotation", "s": "scale", "t": "position"}


def read_bone(text):
    """(roles, rows) of the CSV of a bone."""
    lines = list(csv.reader(io.StringIO(text)))
    header = lines[0]
    roles = [role for role, names in COLUMNS.items() if names[0] in header]
    rows = []
    for cells in lines[1:]:
        cell = dict(zip(header, cells))
        row = {"frame": int(cell["frame"]), "time": cell["time"]}
        if "flags" in cell:
            row["flags"] = int(cell["flags"])
        for role in roles:
            values = [cell[name] for name in COLUMNS[role]]
            if any(values):
                row[role] = values
        rows.append(row)
    return roles, rows


def bone_cells(roles, rows, keyframes):
    """The rows as lines of cells, the header first."""
    header = ["frame", "time"] + [name for role in roles for name in COLUMNS[role]]
    lines = [header + ["flags"] * keyframes]
    for row in rows:
        line = [str(row["frame"]), row.get("time", "")]
        for role in roles:
            line += row.get(role, [""] * len(COLUMNS[role]))
        if keyframes:
            line.append(str(row["flags"]))
        lines.append(line)
    return lines


def curves_cells(bones, keyframes):
    """{bone: (roles, served rows, rows)} as the lines of curves.csv."""
    lines = [["bone", "channel", "frame", "time", "x", "y", "z", "w"]]
    if keyframes:
        lines[0] += ["flags", "occurrence"]
    blank = [""] * (len(lines[0]) - 3)
    for bone, (roles, served, rows) in bones.items():
        start = len(lines)
        seen = {}
        if keyframes:
            rows = sorted(rows, key=lambda row: row["frame"])
        for role in [None] * keyframes + list(roles):
            seen.clear()
            for row in rows:
                occurrence = seen.setdefault(row["frame"], 0)
                seen[row["frame"]] += 1
                if role in row or (role is None and not any(r in row for r in roles)):
                    cells = row.get(role, [""] * 4)
                    line = [bone, ROWS.get(role, "none"), str(row["frame"]), row.get("time", "")]
                    line += cells + [""] * (4 - len(cells))
                    if keyframes:
                        line += [str(row["flags"]), str(occurrence)]
                    lines.append(line)
        for role in () if keyframes else roles:
            # Rows that are gone remove nothing; a blank one does.
            last = [row["frame"] for row in served if role in row][-1:]
            if last and not any(role in row for row in rows):
                lines.append([bone, ROWS[role], str(last[0])] + blank)
        if len(lines) == start:
            lines.append([bone, "", ""] + blank)
    return lines


def read_curves(text):
    """{bone: [(channel, frame, cells, flags, occurrence)]} in the order of the text."""
    bones = {}
    for row in csv.DictReader(io.StringIO(text)):
        keys = bones.setdefault(row["bone"], [])
        if row["channel"]:
            cells = [row[name] for name in "xyzw"][: 4 if row["w"] else 3]
            keys.append(
                (row["channel"], int(row["frame"]), cells, row.get("flags"), row.get("occurrence"))
            )
    return bones


def to_json(served, roles, rows):
    """The JSON of a bone with these rows in place of its own."""
    whole = json.loads(served)
    if "keyframes" in whole:
        whole["keyframes"] = [keyframe_json(row) for row in rows]
    else:
        for role in roles:
            keys = [key_json(row, role) for row in rows if role in row]
            if keys or CHANNELS[role] in whole["channels"]:
                whole["channels"].setdefault(CHANNELS[role], {})["keys"] = keys
    return json.dumps(whole)


def number(cell):
    return float(cell) if "." in cell or "e" in cell.lower() else int(cell)


def key_json(row, role):
    key = {"frame": row["frame"]}
    if all(finite(cell) for cell in row[role]):
        key["value"] = [number(cell) for cell in row[role]]
    else:
        key["value"] = [number(cell) if finite(cell) else None for cell in row[role]]
        key["raw"] = row["raw"][role]
    return key


def keyframe_json(row):
    key = {"frame": row["frame"], "flags": row["flags"]}
    for role, name in PARTS.items():
        if role in row:
            key[name] = [number(cell) for cell in row[role]]
    return key


def finite(cell):
    return cell not in ("nan", "inf", "-inf")


def keep_raw(rows, served):
    """Takes the bits of values that are no numbers from the JSON to the rows."""
    channels = json.loads(served).get("channels", {})
    for role, name in CHANNELS.items():
        seen = {}
        keys = iter(channels.get(name, {}).get("keys", []))
        raws = {}
        for key in keys:
            occurrence = seen.setdefault(key["frame"], 0)
            seen[key["frame"]] += 1
            if "raw" in key:
                raws[key["frame"], occurrence] = key["raw"]
        seen = {}
        for row in rows:
            if role in row:
                occurrence = seen.setdefault(row["frame"], 0)
                seen[row["frame"]] += 1
                if (row["frame"], occurrence) in raws:
                    row.setdefault("raw", {})[role] = raws[row["frame"], occurrence]


def in_dialect(lines, rng):
    """The lines as one program or another writes them."""
    if rng.random() < 0.4:
        return "".join(",".join(line) + "\n" for line in lines)
    separator = rng.choice(",;\t")
    comma = separator != "," and rng.random() < 0.5
    order = list(range(len(lines[0])))
    if rng.random() < 0.3:
        rng.shuffle(order)
    if rng.random() < 0.2 and "time" in lines[0]:
        order.remove(lines[0].index("time"))
    quote = rng.choice(("", "", '"'))
    out = []
    for line in lines:
        cells = [line[i] for i in order]
        if comma:
            cells = [cell.replace(".", ",") if is_number(cell) else cell for cell in cells]
        out.append(separator.join(quote + cell + quote for cell in cells))
    end = rng.choice(("\n", "\r\n"))
    mark = rng.choice(("", "", "\ufeff"))
    return mark + end.join(out) + end * rng.randint(1, 2)


def is_number(cell):
    try:
        float(cell)
        return True
    except ValueError:
        return False
