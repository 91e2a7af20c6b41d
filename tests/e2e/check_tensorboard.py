"""Reads a trial's event files with the tensorboard package and compares them with its result.json.

python tests/e2e/check_tensorboard.py TRIAL, in an environment that has tensorboard. Every number of
every line of result.json must be there, at its step, as a float; nothing else may be.
"""
import json
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

WITHOUT_A_CURVE = {"pid", "timestamp"}


def numbers(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from numbers(value, prefix + key + "/")
        elif isinstance(value, (int, float)) and prefix + key not in WITHOUT_A_CURVE:
            yield prefix + key, value


def as_float(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def main(trial):
    expected = {}
    for line in (trial / "result.json").read_text().splitlines():
        row = json.loads(line)
        for name, value in numbers(row):
            expected.setdefault("ray/tune/" + name, []).append((row["timesteps_total"], as_float(value)))

    events = EventAccumulator(str(trial), size_guidance={"scalars": 0}).Reload()
    read = {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    assert read.keys() == expected.keys(), read.keys() ^ expected.keys()
    for tag, points in expected.items():
        assert read[tag] == points, (tag, read[tag], points)
    files = len(list(trial.glob("events.out.tfevents.*")))
    print(f"{trial}: {files} event files, {len(read)} curves, {sum(map(len, read.values()))} points: "
          "all as in result.json")


main(pathlib.Path(sys.argv[1]))
