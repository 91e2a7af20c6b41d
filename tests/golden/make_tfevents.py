"""Writes tests/golden/reference.tfevents with the tensorboard package, for the test that our bytes are its bytes.

Made with tensorboard 2.21.0 by:  python tests/golden/make_tfevents.py
"""
import pathlib

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def scalars(**values):
    return summary_pb2.Summary(
        value=[
            summary_pb2.Summary.Value(tag="ray/tune/" + name.replace("__", "/"), simple_value=value)
            for name, value in values.items()
        ]
    )


EVENTS = [
    event_pb2.Event(wall_time=1700000000.25, file_version="brain.Event:2"),
    event_pb2.Event(
        wall_time=1700000001.5,
        step=200,
        summary=scalars(
            episode_reward_mean=-0.1, timesteps_total=200, training_iteration=1, done=0,
            info__learner__default_policy__learner_stats__kl=1e-30, huge=float("inf"),
        ),
    ),
    event_pb2.Event(
        wall_time=1700000002.0,
        step=5_000_000_000,
        summary=scalars(timesteps_total=5_000_000_000, done=1),
    ),
]

with open(pathlib.Path(__file__).with_name("reference.tfevents"), "wb") as file:
    writer = RecordWriter(file)
    for event in EVENTS:
        writer.write(event.SerializeToString(deterministic=True))
