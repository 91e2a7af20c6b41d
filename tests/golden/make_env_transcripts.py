#!/usr/bin/env python3
"""Writes <env>.json for the classic control envs and tabular_envs.json: what the reference does.

Each file of classic control holds the spaces and several transcripts. A transcript starts from states set by hand,
applies a list of actions, and records observation, reward and endings of every step; after an
ending the next of its states is set (the first again after the last). Nothing random is left to
the reader: states and actions are in the file.

tabular_envs.json holds, for envs whose states are numbered, what follows each state and action with
which probability, and where episodes start: there is nothing else to such an env.

    pip install gymnasium==1.4.0
    python tests/golden/make_env_transcripts.py
"""

import json
import math
import pathlib

import gymnasium
import numpy

COMMAND = "python tests/golden/make_env_transcripts.py"
STEPS = 200
HERE = pathlib.Path(__file__).parent


def number(value):
    """A float32 in its shortest text, which reads back as the same float32; infinities as text."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(str(numpy.float32(value)))


def space(described):
    if isinstance(described, gymnasium.spaces.Discrete):
        return {"n": int(described.n), "start": int(described.start)}
    return {
        "shape": list(described.shape),
        "low": [number(v) for v in described.low.flatten()],
        "high": [number(v) for v in described.high.flatten()],
        "dtype": str(described.dtype),
    }


def transcript(env_name, name, states, actions, config=None, attributes=None,
               max_episode_steps=None):
    """Plays `actions`, a list or a function of the observation that is asked STEPS times, and
    returns what happened. `config` are arguments of the env's class, `attributes` are set in it."""
    env = gymnasium.make(
        env_name, max_episode_steps=max_episode_steps, disable_env_checker=True, **(config or {})
    )
    for key, value in (attributes or {}).items():
        setattr(env.unwrapped, key, value)
    out = {
        "name": name,
        "env_config": {**(config or {}), **(attributes or {})},
        "states": states,
        "actions": [],
        "observations": [],
        "rewards": [],
        "terminated_at": [],  # indices of steps
        "truncated_at": [],
    }
    if max_episode_steps is not None:
        out["env_config"]["max_episode_steps"] = max_episode_steps
    episode = 0
    start = True
    for index in range(STEPS if callable(actions) else len(actions)):
        if start:
            env.reset(seed=0)
            state = states[episode % len(states)]
            env.unwrapped.state = numpy.array(state, dtype=numpy.float64)
            observation = numpy.array(state)
            episode += 1
        action = actions(observation) if callable(actions) else actions[index]
        out["actions"].append(action)
        is_box = isinstance(env.action_space, gymnasium.spaces.Box)
        taken = numpy.array([action], dtype=numpy.float32) if is_box else action
        observation, reward, terminated, truncated, _ = env.step(taken)
        out["observations"].append([number(v) for v in observation])
        out["rewards"].append(float(reward))
        if terminated:
            out["terminated_at"].append(index)
        if truncated:
            out["truncated_at"].append(index)
        start = terminated or truncated
    return out


def limit_of(env):
    """Steps after which an env of gymnasium.make's truncates; None: never."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            return env._max_episode_steps
        env = env.env
    return None


def write(file_name, env_name, note, transcripts, command=COMMAND, versions=None):
    env = gymnasium.make(env_name)
    head = {
        "env": env_name,
        **(versions or {}),
        "gymnasium": gymnasium.__version__,
        "numpy": numpy.__version__,
        "command": command,
        "note": note,
        "max_episode_steps": limit_of(env),
        "observation_space": space(env.observation_space),
        "action_space": space(env.action_space),
    }
    lines = [f"{json.dumps(key)}:{json.dumps(value)}" for key, value in head.items()]
    played = ",\n".join(json.dumps(t, separators=(",", ":")) for t in transcripts)
    lines.append(f'"transcripts":[\n{played}\n]')
    (HERE / file_name).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def cartpole():
    name = "CartPole-v1"
    rng = numpy.random.default_rng(1)
    coin = [int(a) for a in rng.integers(0, 2, STEPS)]
    near_zero = [[round(float(v), 4) for v in rng.uniform(-0.05, 0.05, 4)] for _ in range(8)]
    theta_limit = 12 * 2 * math.pi / 360
    bounds = [
        [2.3, 0.5, 0.0, 0.0],  # leaves on each of the four sides …
        [-2.3, -0.5, 0.0, 0.0],
        [0.0, 0.0, 0.19, 0.2],
        [0.0, 0.0, -0.19, -0.2],
        [2.4, 0.0, 0.0, 0.0],  # … and stands exactly on a bound, which is inside
        [-2.4, 0.0, 0.0, 0.0],
        [0.0, 0.0, theta_limit, 0.0],
        [0.0, 0.0, -theta_limit, 0.0],
    ]
    alternating = [index % 2 for index in range(STEPS)]
    falls = transcript(name, "random actions", near_zero, coin)
    first_length = falls["terminated_at"][0] + 1
    write(
        "cartpole_v1.json",
        name,
        "The env's own limit of 500 steps is longer than a transcript: two of them set "
        "max_episode_steps. In 'both endings' the limit is the length at which the first episode "
        "falls anyway.",
        [
            falls,
            transcript(name, "bounds", bounds, alternating),
            transcript(name, "time limit", near_zero, alternating, max_episode_steps=20),
            transcript(name, "both endings", near_zero[:1], coin[:first_length],
                       max_episode_steps=first_length),
            transcript(name, "other reward", bounds[:4], alternating,
                       config={"sutton_barto_reward": True}),
        ],
    )


def pendulum():
    name = "Pendulum-v1"
    rng = numpy.random.default_rng(2)
    torques = [number(v) for v in rng.uniform(-3.0, 3.0, STEPS)]  # some beyond the limit of 2
    states = [
        [math.pi, 0.0],  # hangs
        [0.01, 0.0],  # stands
        [1.0, 7.9],  # soon at the speed limit …
        [-1.0, -7.9],  # … either way
        [10.0, 0.5],  # turned more than once
        [-7.0, -0.5],
        [-math.pi, 1.0],
    ]
    # a motor that always pushes the way it turns reaches every angle
    pushing = [2.0 if (index // 20) % 2 == 0 else -2.0 for index in range(STEPS)]
    write(
        "pendulum_v1.json",
        name,
        "The env's own limit of 200 steps ends 'random torques' at its last step; the others set "
        "max_episode_steps to start from each state. An episode never terminates.",
        [
            transcript(name, "random torques", states[:1], torques),
            transcript(name, "states", states, torques, max_episode_steps=25),
            transcript(name, "pushing", states, pushing, max_episode_steps=100),
            transcript(name, "other gravity", states, torques, config={"g": 9.81},
                       max_episode_steps=40),
        ],
    )


def hill_starts(seed):
    rng = numpy.random.default_rng(seed)
    return [[round(float(v), 4), 0.0] for v in rng.uniform(-0.6, -0.4, 4)] + [
        [0.44, 0.05],  # soon at the flag, …
        [-1.19, -0.06],  # … at the wall on the left, …
        [-0.8, 0.0699],  # … and at the speed limit, either way
        [-0.3, -0.0699],
    ]


def mountain_car():
    name = "MountainCar-v0"
    rng = numpy.random.default_rng(3)
    pushes = [int(a) for a in rng.integers(0, 3, STEPS)]
    starts = hill_starts(4)
    pump = lambda observation: 2 if observation[1] >= 0 else 0
    write(
        "mountain_car_v0.json",
        name,
        "In 'pumping' the car pushes the way it rolls, which takes it to the flag.",
        [
            transcript(name, "random actions", starts[:1], pushes),
            transcript(name, "states", starts, pushes, max_episode_steps=25),
            transcript(name, "pumping", starts, pump, max_episode_steps=150),
            transcript(name, "fast at the flag", starts[4:], pump, config={"goal_velocity": 0.05},
                       max_episode_steps=150),
        ],
    )


def mountain_car_continuous():
    name = "MountainCarContinuous-v0"
    rng = numpy.random.default_rng(5)
    forces = [number(v) for v in rng.uniform(-1.5, 1.5, STEPS)]  # some beyond the limit of 1
    starts = hill_starts(6)
    pump = lambda observation: number(1.2 if observation[1] >= 0 else -0.9)
    write(
        "mountain_car_continuous_v0.json",
        name,
        "In 'pumping' the car pushes the way it rolls, which takes it to the flag.",
        [
            transcript(name, "random forces", starts[:1], forces),
            transcript(name, "states", starts, forces, max_episode_steps=25),
            transcript(name, "pumping", starts, pump, max_episode_steps=150),
            transcript(name, "fast at the flag", starts[4:], pump, config={"goal_velocity": 0.06},
                       max_episode_steps=150),
        ],
    )


def acrobot():
    name = "Acrobot-v1"
    rng = numpy.random.default_rng(7)
    torques = [int(a) for a in rng.integers(0, 3, STEPS)]
    starts = [[round(float(v), 4) for v in rng.uniform(-0.1, 0.1, 4)] for _ in range(4)]
    states = starts + [
        [3.0, 0.1, 0.5, -1.0],  # over the line at the next step
        [2.0, -1.0, 12.5, 3.0],  # at the speed limit of the first link, …
        [-1.0, 2.0, 2.0, 28.0],  # … of the second, …
        [1.0, 1.0, -12.5, -28.0],  # … of both the other way round
        [3.1, -3.1, 1.0, -2.0],  # over the cut of the angles, either way
        [-3.1, 3.1, -1.0, 2.0],
    ]
    pump = lambda observation: 2 if observation[-1] >= 0 else 0
    write(
        "acrobot_v1.json",
        name,
        "In 'pumping' the motor pushes the way the joint turns.",
        [
            transcript(name, "random torques", starts[:1], torques, max_episode_steps=100),
            transcript(name, "states", states, torques, max_episode_steps=10),
            transcript(name, "pumping", starts, pump, max_episode_steps=100),
            transcript(name, "paper", states, torques, attributes={"book_or_nips": "nips"},
                       max_episode_steps=20),
        ],
    )


def values(table, initial, num_actions, gamma, steps):
    """Expected return within `steps` steps of the random policy, and of the best way to act."""
    random_value, best_value = numpy.zeros(len(table)), numpy.zeros(len(table))
    for _ in range(steps):
        backed_up = [
            [
                [sum(p * (r + gamma * v[n] * (not t)) for p, n, r, t in table[s][a])
                 for a in range(num_actions)]
                for s in range(len(table))
            ]
            for v in (random_value, best_value)
        ]
        random_value = numpy.mean(backed_up[0], axis=1)
        best_value = numpy.max(backed_up[1], axis=1)
    return float(initial @ random_value), float(initial @ best_value)


def tabular(env_name, steps, gamma=1.0, **config):
    """The whole of an env: a line a state, and in it [probability, next state, reward, terminated]
    of what may follow each action."""
    env = gymnasium.make(env_name, **config)
    inner = env.unwrapped
    num_actions = int(env.action_space.n)
    random_value, best_value = values(inner.P, inner.initial_state_distrib, num_actions, gamma, steps)
    head = {
        "env": env_name,
        "env_config": config,
        "max_episode_steps": env.spec.max_episode_steps,
        "observation_space": space(env.observation_space),
        "action_space": space(env.action_space),
        "initial": [float(p) for p in inner.initial_state_distrib],
        "steps": steps,
        "gamma": gamma,
        "random_value": random_value,
        "best_value": best_value,
    }
    lines = [f"{json.dumps(key)}:{json.dumps(value)}" for key, value in head.items()]
    rows = [
        json.dumps(
            [
                [[float(p), int(n), float(r), int(t)] for p, n, r, t in inner.P[state][action]]
                for action in range(num_actions)
            ],
            separators=(",", ":"),
        )
        for state in range(len(inner.P))
    ]
    lines.append('"transitions":[\n' + ",\n".join(rows) + "\n]")
    return "{\n" + ",\n".join(lines) + "\n}"


def tabular_envs():
    lakes = ["SFHF", "FFFS", "HFGF"]
    tables = [
        tabular("FrozenLake-v1", 100),
        tabular("FrozenLake-v1", 100, is_slippery=False),
        tabular("FrozenLake-v1", 30, 0.9, desc=lakes, success_rate=0.7,
                reward_schedule=[5.0, -2.0, -0.25]),
        tabular("FrozenLake8x8-v1", 200),
        tabular("CliffWalking-v1", 50),
        tabular("CliffWalkingSlippery-v1", 100),
        tabular("Taxi-v4", 20),
        tabular("Taxi-v4", 20, 0.95, is_rainy=True, rainy_probability=0.7),
    ]
    head = f'"gymnasium":"{gymnasium.__version__}",\n"command":"{COMMAND}"'
    (HERE / "tabular_envs.json").write_text(
        "{\n" + head + ',\n"tables":[\n' + ",\n".join(tables) + "\n]}\n"
    )


if __name__ == "__main__":
    cartpole()
    pendulum()
    mountain_car()
    mountain_car_continuous()
    acrobot()
    tabular_envs()
