"""Reference results: stable-baselines3 trained with the hyperparameters of rl-baselines3-zoo.

    python sb3_reference.py                                        all rows, seeds 1 to 5, 15 or 30
    python sb3_reference.py dqn-CartPole-v1 --seeds 1 2            one row, two seeds
    python sb3_reference.py ppo-Pendulum-v1 --env-steps 8192 --output /tmp/trial     a short trial
    python sb3_reference.py --table                                the table of README.md

A row is <algorithm>-<env>; its file, <row>.json, has all seeds. It is replaced as a whole after each
seed: stopping loses one seed at most, and a later call trains only the seeds that are missing. What
the file says is in README.md.
"""
import argparse
import collections
import importlib.metadata
import inspect
import json
import os
import pathlib
import platform
import statistics
import time

HERE = pathlib.Path(__file__).resolve().parent
CURVE_POINTS = 50
CURVE_WINDOW = 100  # episodes
SEEDS = 5  # but where a row says otherwise, as of the next
EVALUATION_EPISODES = 100
EVALUATION_FIRST_SEED = 10_000  # above every training seed: episode k is reset with this + k

# In the order in which they are run. Arguments that are not named have the algorithm's default.
# lin_x is x times the part of the budget that is left.
ROWS = {
    "dqn-CartPole-v1": dict(
        env_steps=50_000, seeds=15,  # whether the last policy is a good one is luck
        arguments=dict(
            learning_rate=2.3e-3, batch_size=64, buffer_size=100_000, learning_starts=1_000,
            gamma=0.99, target_update_interval=10, train_freq=256, gradient_steps=128,
            exploration_fraction=0.16, exploration_final_eps=0.04,
            policy_kwargs=dict(net_arch=[256, 256]))),
    "ppo-CartPole-v1": dict(
        env_steps=100_000, num_envs=8,
        arguments=dict(
            n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20, ent_coef=0.0,
            learning_rate="lin_0.001", clip_range="lin_0.2")),
    "dqn-MountainCar-v0": dict(
        env_steps=120_000,
        arguments=dict(
            learning_rate=4e-3, batch_size=128, buffer_size=10_000, learning_starts=1_000,
            gamma=0.98, target_update_interval=600, train_freq=16, gradient_steps=8,
            exploration_fraction=0.2, exploration_final_eps=0.07,
            policy_kwargs=dict(net_arch=[256, 256]))),
    "ppo-MountainCarContinuous-v0": dict(
        env_steps=20_000, normalize=True,
        arguments=dict(
            n_steps=8, batch_size=256, gae_lambda=0.9, gamma=0.9999, n_epochs=10, ent_coef=0.00429,
            learning_rate=7.77e-5, clip_range=0.1, max_grad_norm=5, vf_coef=0.19, use_sde=True,
            policy_kwargs=dict(log_std_init=-3.29, ortho_init=False))),
    "ppo-Pendulum-v1": dict(
        # a return depends more on where the pendulum starts (standard deviation 100) than on the policy
        env_steps=100_000, num_envs=4, evaluation_episodes=1_000,
        arguments=dict(
            n_steps=1_024, gae_lambda=0.95, gamma=0.9, n_epochs=10, ent_coef=0.0,
            learning_rate=1e-3, clip_range=0.2, use_sde=True, sde_sample_freq=4)),
    "dqn-Acrobot-v1": dict(
        env_steps=100_000,
        arguments=dict(
            learning_rate=6.3e-4, batch_size=128, buffer_size=50_000, learning_starts=0,
            gamma=0.99, target_update_interval=250, train_freq=4, gradient_steps=-1,
            exploration_fraction=0.12, exploration_final_eps=0.1,
            policy_kwargs=dict(net_arch=[256, 256]))),
    "ppo-Acrobot-v1": dict(
        # a return depends on where the arms start, and all seeds start from the same; those that
        # swing on for ever make the mean of five seeds say little
        env_steps=1_000_000, num_envs=16, normalize=True, seeds=30, evaluation_episodes=1_000,
        arguments=dict(
            n_steps=256, gae_lambda=0.94, gamma=0.99, n_epochs=4, ent_coef=0.0)),
}


def scheduled(value):
    """An argument as the algorithm takes it: lin_x becomes a schedule."""
    if not (isinstance(value, str) and value.startswith("lin_")):
        return value
    initial = float(value.removeprefix("lin_"))
    return lambda progress_remaining: progress_remaining * initial


def make_env(row, seed):
    """The vector env that a row trains on; make_vec_env monitors below the normalisation."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    env = make_vec_env(row["env"], n_envs=row["num_envs"], seed=seed)
    return VecNormalize(env, gamma=row["arguments"]["gamma"]) if row["normalize"] else env


def make_model(row, seed):
    import stable_baselines3

    algorithm = getattr(stable_baselines3, row["algorithm"].upper())
    arguments = {name: scheduled(value) for name, value in row["arguments"].items()}
    return algorithm("MlpPolicy", make_env(row, seed), seed=seed, device="cpu", **arguments)


def make_curve(env_steps):
    """A callback that takes CURVE_POINTS evenly spaced points of the learning curve."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Curve(BaseCallback):
        def __init__(self):
            super().__init__()
            self.points = []
            self.episodes = 0
            self.window = collections.deque(maxlen=CURVE_WINDOW)
            self.taken = 0

        def _on_step(self):
            for info in self.locals["infos"]:
                if "episode" in info:
                    self.episodes += 1
                    self.window.append(info["episode"]["r"])
            due = self.num_timesteps * CURVE_POINTS // env_steps
            if self.taken < min(due, CURVE_POINTS):
                self.taken = due
                if self.window:
                    mean = statistics.fmean(self.window)
                    self.points.append([self.num_timesteps, round(mean, 3)])
            return True

    return Curve()


def evaluate(model, env_id, episodes):
    """Raw returns of the greedy policy, each episode in an env of its own with a seed of its own."""
    import numpy as np
    from stable_baselines3.common.env_util import make_vec_env

    env = make_vec_env(env_id, n_envs=episodes, seed=EVALUATION_FIRST_SEED)
    normalizer = model.get_vec_normalize_env()
    frozen = normalizer.normalize_obs if normalizer else lambda observations: observations

    returns = np.zeros(episodes)
    running = np.ones(episodes, dtype=bool)
    observations = env.reset()
    while running.any():
        actions, _ = model.predict(frozen(observations), deterministic=True)
        observations, rewards, ended, _ = env.step(actions)
        returns += np.where(running, rewards, 0.0)
        running &= ~ended
    env.close()
    return {
        "mean": round(float(returns.mean()), 3),
        "std": round(float(returns.std()), 3),
        "returns": [round(float(value), 3) for value in returns[:EVALUATION_EPISODES]],
    }


def train(row, seed):
    """What one seed came to."""
    start = time.perf_counter()
    model = make_model(row, seed)
    curve = make_curve(row["env_steps"])
    model.learn(row["env_steps"], callback=curve)
    trained = time.perf_counter() - start
    outcome = {
        "seed": seed,
        "env_steps": model.num_timesteps,
        "episodes": curve.episodes,
        "wall_seconds_not_comparable": round(trained, 1),
        "evaluation": evaluate(model, row["env"], row["evaluation_episodes"]),
        "curve": curve.points,
    }
    model.get_env().close()
    return outcome


def hyperparameters(row):
    """Every argument of the algorithm, the normalisation and the net, defaults included."""
    model = make_model(row, seed=1)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(model)).parameters.items()
        if name not in ("policy", "env", "seed", "verbose", "tensorboard_log", "device",
                        "stats_window_size", "_init_setup_model")
    }
    policy = model.policy
    optimizer = policy.optimizer
    out = {
        **defaults,
        **row["arguments"],
        "num_envs": row["num_envs"],
        "normalize": None,
        "policy": {
            "net_arch": policy.net_arch,
            "activation": policy.activation_fn.__name__,
            "optimizer": type(optimizer).__name__,
            "optimizer_betas": optimizer.defaults["betas"],
            "optimizer_eps": optimizer.defaults["eps"],
        },
    }
    normalizer = model.get_vec_normalize_env()
    if normalizer:
        names = ("norm_obs", "norm_reward", "clip_obs", "clip_reward", "gamma", "epsilon")
        out["normalize"] = {name: getattr(normalizer, name) for name in names}
    model.get_env().close()
    return out


def describe(row):
    """What a file says beside its seeds; as it reads back, so that the two can be compared."""
    packages = ("stable_baselines3", "gymnasium", "torch", "numpy")
    head = {
        "algorithm": row["algorithm"],
        "env": row["env"],
        "env_steps": row["env_steps"],
        "command": f"python tests/learning/references/sb3_reference.py {row['name']}",
        "versions": {
            **{name: importlib.metadata.version(name) for name in packages},
            "python": platform.python_version(),
        },
        "hyperparameters_from": "rl-baselines3-zoo 2.9.2",
        "hyperparameters": hyperparameters(row),
        "evaluation": {
            "episodes": row["evaluation_episodes"],
            "policy": "greedy",
            "first_seed": EVALUATION_FIRST_SEED,
            "rewards": "raw",
        },
        "curve": ["env_steps", f"mean return of the last {CURVE_WINDOW} episodes, or so many as ended"],
    }
    return json.loads(json.dumps(head))


def read(file, head):
    """The seeds that a file has. Throws where it was made in another way."""
    if not file.exists():
        return []
    found = json.loads(file.read_text())
    seeds = found.pop("seeds")
    for key, value in head.items():
        if found.get(key) != value:
            raise SystemExit(f"{file}: {key} = {found.get(key)}: is {value} now; "
                             "move the file away to train all seeds anew")
    return seeds


def write(file, head, seeds):
    """A line a key and a line a seed; the file is always whole."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines.append('"seeds": [\n' + ",\n".join(json.dumps(seed) for seed in seeds) + "\n]")
    beside = file.with_suffix(".tmp")
    beside.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(beside, file)


def table(folder):
    print("| row | env steps | mean return by seed | median |\n|---|---|---|---|")
    for name in ROWS:
        file = folder / f"{name}.json"
        if not file.exists():
            continue
        found = json.loads(file.read_text())
        means = [seed["evaluation"]["mean"] for seed in found["seeds"]]
        by_seed = ", ".join(f"{mean:z.1f}" for mean in means)
        print(f"| {name} | {found['env_steps']:,} | {by_seed} | {statistics.median(means):z.1f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("rows", nargs="*", help=f"of {', '.join(ROWS)} (default: all)")
    p.add_argument("--seeds", type=int, nargs="+", help="instead of the row's")
    p.add_argument("--env-steps", type=int, help="instead of the row's budget, for trials")
    p.add_argument("--output", type=pathlib.Path, default=HERE, help="folder of the files")
    p.add_argument("--table", action="store_true", help="only print the table of what is there")
    a = p.parse_args()
    for name in a.rows:
        if name not in ROWS:
            p.error(f"{name}: no such row; there are {', '.join(ROWS)}")
    if a.env_steps and a.output.resolve() == HERE:
        p.error("--env-steps: a trial needs another --output")
    if a.table:
        return table(a.output)

    import torch
    torch.set_num_threads(1)
    a.output.mkdir(parents=True, exist_ok=True)
    for name in a.rows or ROWS:
        algorithm, env = name.split("-", 1)
        row = {"num_envs": 1, "normalize": False, "seeds": SEEDS,
               "evaluation_episodes": EVALUATION_EPISODES, **ROWS[name],
               "name": name, "algorithm": algorithm, "env": env}
        row["env_steps"] = a.env_steps or row["env_steps"]
        file = a.output / f"{name}.json"
        head = describe(row)
        seeds = read(file, head)
        for seed in a.seeds or range(1, row["seeds"] + 1):
            if any(known["seed"] == seed for known in seeds):
                continue
            outcome = train(row, seed)
            seeds = sorted([*seeds, outcome], key=lambda known: known["seed"])
            write(file, head, seeds)
            print(f"{name} seed {seed}: {outcome['evaluation']['mean']} after {outcome['env_steps']} "
                  f"steps, {outcome['wall_seconds_not_comparable']} s", flush=True)


if __name__ == "__main__":
    main()
