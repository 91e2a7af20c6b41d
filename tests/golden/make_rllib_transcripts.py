#!/usr/bin/env python3
"""Writes what the envs of RLlib's examples do: stateless_cartpole.json and
transformed_action_pendulum.json, laid out as those of make_env_transcripts.py, and
rllib_chance_envs.json for the two envs that draw what they show.

repeat_after_me has an episode a line: for each series of tokens that may be seen and of answers to
them whether each answer is right (+) or wrong (-); with numbers instead of tokens, what answers earn
before there is anything to repeat. random_env has how an episode goes on (-) and ends.

    pip install "ray[rllib]==2.60.0"
    python tests/golden/make_rllib_transcripts.py
"""

import itertools
import json
import math
from unittest import mock

import gymnasium
import numpy
import ray
from ray.rllib.examples.envs.classes.random_env import (
    RandomEnv,
    RandomLargeObsSpaceEnv,
    RandomLargeObsSpaceEnvContActions,
)
from ray.rllib.examples.envs.classes.repeat_after_me_env import RepeatAfterMeEnv
from ray.rllib.examples.envs.classes.stateless_cartpole import StatelessCartPole
from ray.rllib.examples.envs.classes.transformed_action_space_env import TransformedActionPendulum

from make_env_transcripts import HERE, STEPS, number, space, transcript, write

COMMAND = "python tests/golden/make_rllib_transcripts.py"
VERSIONS = {"ray": ray.__version__}


def register(name, maker):
    """Makes an env known to gymnasium.make, which adds no time limit to it."""
    gymnasium.register(name, entry_point=lambda **config: maker(config))
    return name


def stateless_cartpole():
    name = register("StatelessCartPole", StatelessCartPole)
    rng = numpy.random.default_rng(8)
    states = [[round(float(v), 4) for v in rng.uniform(-0.05, 0.05, 4)] for _ in range(8)]
    coin = [int(a) for a in rng.integers(0, 2, STEPS)]
    write(
        "stateless_cartpole.json",
        name,
        "There is no time limit; 'time limit' sets one.",
        [
            transcript(name, "random actions", states, coin),
            transcript(name, "time limit", states, coin, max_episode_steps=10),
        ],
        COMMAND,
        VERSIONS,
    )


def transformed_action_pendulum():
    name = register("TransformedActionPendulum", TransformedActionPendulum)
    rng = numpy.random.default_rng(9)
    states = [[math.pi, 0.0], [0.01, 0.0], [1.0, 7.9]]
    actions = [number(v) for v in rng.uniform(-1.3, 1.3, STEPS)]  # some beyond the bounds
    scaled = [number(400.0 + 100.0 * v) for v in actions]
    write(
        "transformed_action_pendulum.json",
        name,
        "The pendulum's own limit of 200 steps ends 'random actions' at its last step.",
        [
            transcript(name, "random actions", states[:1], actions),
            transcript(name, "other bounds", states, scaled, {"low": 300.0, "high": 500.0},
                       max_episode_steps=25),
        ],
        COMMAND,
        VERSIONS,
    )


def spaces_of(env):
    return {
        "observation_space": space(env.observation_space),
        "action_space": space(env.action_space),
    }


def play(env, actions):
    """Rewards of an episode, and its endings: "-" for each step that has none."""
    env.reset()
    rewards, endings = [], []
    for action in actions:
        _, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(reward))
        endings.append("both" if terminated and truncated else
                       "terminated" if terminated else "truncated" if truncated else "-")
        if terminated or truncated:
            break
    return rewards, endings


def repeat_tokens(repeat_delay, episode_len):
    """Every episode there is, by what was seen before each answer and the answers."""
    config = {"repeat_delay": repeat_delay, "episode_len": episode_len}
    env = RepeatAfterMeEnv(config)
    _, endings = play(env, [0] * (episode_len + 2))
    steps = len(endings)
    episodes = {}
    for tokens in itertools.product([0, 1], repeat=steps):
        for answers in itertools.product([0, 1], repeat=steps):
            with mock.patch("numpy.random.choice", side_effect=[*tokens, 0]):
                rewards, _ = play(env, answers)
            seen, said = ("".join(map(str, bits)) for bits in (tokens, answers))
            episodes[f"{seen} {said}"] = "".join("+" if r == 1.0 else "-" for r in rewards)
    return {"env_config": config, **spaces_of(env), "endings": endings, "episodes": episodes}


def repeat_numbers():
    config = {"repeat_delay": 4, "episode_len": 6, "continuous": True}
    env = RepeatAfterMeEnv(config)
    answers = [[0.5, -0.25], [-1.0, 1.0], [0.0, 0.125]]
    rewards, endings = play(env, numpy.array(answers, dtype=numpy.float32))
    return {"env_config": config, **spaces_of(env), "answers": answers, "rewards": rewards,
            "endings": endings}


def random_episode(config, steps):
    env = RandomEnv(dict(config))
    _, endings = play(env, [0] * steps)
    return {"env": "RandomEnv", "env_config": config, **spaces_of(env), "endings": endings}


def large(name, maker):
    env = maker()
    return {
        "env": name,
        "observation": {"shape": list(env.observation_space.shape),
                        "low": float(env.observation_space.low.min()),
                        "high": float(env.observation_space.high.max())},
        "action_space": space(env.action_space),
    }


def chance_envs():
    content = {
        **VERSIONS,
        "gymnasium": gymnasium.__version__,
        "command": COMMAND,
        "repeat_after_me": [repeat_tokens(*c) for c in ((0, 2), (1, 3), (2, 4), (3, 4))],
        "repeat_after_me_length": len(play(RepeatAfterMeEnv(), [0] * STEPS)[1]),
        "repeat_numbers": repeat_numbers(),
        "random_env": [
            random_episode({"p_terminated": 1.0}, STEPS),
            random_episode({"p_done": 1.0}, STEPS),
            random_episode({"p_terminated": 0.0, "max_episode_len": 3}, STEPS),
            random_episode({"p_terminated": 0.0, "max_episode_len": 0}, 20),
            random_episode({"p_terminated": 1.0, "max_episode_len": 1}, STEPS),
        ],
        "large": [
            large("RandomLargeObsSpaceEnv", RandomLargeObsSpaceEnv),
            large("RandomLargeObsSpaceEnvContActions", RandomLargeObsSpaceEnvContActions),
        ],
    }
    lines = [f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}"
             for key, value in content.items()]
    (HERE / "rllib_chance_envs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    stateless_cartpole()
    transformed_action_pendulum()
    chance_envs()
