"""Training throughput (learning included) and time to solve: Stable-Baselines3 (PyTorch) or SBX (JAX), CPU.

Example: python sb3_train.py --algo ppo --preset zoo --n-envs 8 --steps 100000 --threads 1
         python sb3_train.py --lib sbx --algo dqn --preset zoo --steps 50000 --eval 20
The steady rate leaves out the first iterations (set-up, compilation): it is taken from --warm env steps on.
"""
import argparse
import importlib.metadata as md
import json
import resource
import time

p = argparse.ArgumentParser()
p.add_argument("--lib", choices=["sb3", "sbx"], default="sb3")
p.add_argument("--algo", choices=["ppo", "dqn", "sac"], default="ppo")
p.add_argument("--preset", choices=["default", "zoo"], default="default")
p.add_argument("--env", default="")
p.add_argument("--n-envs", type=int, default=1)
p.add_argument("--steps", type=int, default=100000)
p.add_argument("--warm", type=int, default=0, help="env steps before the steady window (0: chosen by algorithm)")
p.add_argument("--threads", type=int, default=1, help="torch.set_num_threads")
p.add_argument("--seed", type=int, default=0)
p.add_argument("--cap", type=float, default=240.0, help="stop after so many seconds")
p.add_argument("--solve", type=float, default=0.0, help="stop when the mean of the last 100 episode returns reaches this")
p.add_argument("--eval", type=int, default=0, help="greedy evaluation episodes at the end")
a = p.parse_args()

T0 = time.perf_counter()
import torch  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402

lib = __import__("stable_baselines3" if a.lib == "sb3" else "sbx")
torch.set_num_threads(a.threads)
ZOO = {  # rl-baselines3-zoo: CartPole-v1 (ppo, dqn), Pendulum-v1 (sac)
    "ppo": dict(n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20, ent_coef=0.0,
                learning_rate=lambda f: 1e-3 * f, clip_range=lambda f: 0.2 * f),
    "dqn": dict(learning_rate=2.3e-3, batch_size=64, buffer_size=100000, learning_starts=1000, gamma=0.99,
                target_update_interval=10, train_freq=256, gradient_steps=128, exploration_fraction=0.16,
                exploration_final_eps=0.04, policy_kwargs=dict(net_arch=[256, 256])),
    "sac": dict(learning_rate=1e-3),
}


class Watch(BaseCallback):
    def __init__(self):
        super().__init__()
        self.mark = self.solved = None

    def _on_rollout_start(self):
        now = time.perf_counter()
        if self.mark is None and self.num_timesteps >= warm:
            self.mark = (now, self.num_timesteps, self.model._n_updates)
        self.last = (now, self.num_timesteps, self.model._n_updates)

    def _on_step(self):
        buf = self.model.ep_info_buffer
        if a.solve and len(buf) == 100 and sum(e["r"] for e in buf) / 100 >= a.solve:
            self.solved = (time.perf_counter() - start, self.num_timesteps)
        return self.solved is None and time.perf_counter() - start < a.cap


kw = dict(ZOO[a.algo]) if a.preset == "zoo" else {}
env_id = a.env or ("Pendulum-v1" if a.algo == "sac" else "CartPole-v1")
venv = make_vec_env(env_id, n_envs=a.n_envs, seed=a.seed)
model = getattr(lib, a.algo.upper())("MlpPolicy", venv, seed=a.seed, device="cpu", **kw)
per_iter = model.n_steps * a.n_envs if a.algo == "ppo" else 1
warm = a.warm or (2 * per_iter if a.algo == "ppo" else model.learning_starts + 1024)
mini = -(-per_iter // model.batch_size) if a.algo == "ppo" else 1  # gradient updates per counted update
cb, start = Watch(), time.perf_counter()
model.learn(a.steps, callback=cb)
wall, (t1, n1, u1), (t2, n2, u2) = time.perf_counter() - start, cb.mark, cb.last
out = {"bench": "train", "lib": a.lib, "algo": a.algo, "preset": a.preset, "env": env_id, "n_envs": a.n_envs,
       "threads": a.threads, "seed": a.seed, "steps": model.num_timesteps, "setup_s": round(start - T0, 2),
       "learn_wall_s": round(wall, 2), "steady_env_steps_per_s": round((n2 - n1) / (t2 - t1)),
       "minibatches": model._n_updates * mini,
       "steady_grad_updates_per_s": round((u2 - u1) * mini / (t2 - t1), 1),
       "solve_s_steps": cb.solved and [round(cb.solved[0], 2), cb.solved[1]],
       "maxrss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
       "versions": {k: md.version(k) for k in ("stable-baselines3", "torch", "gymnasium") + (("sbx-rl", "jax") if a.lib == "sbx" else ())}}
if a.eval:
    mean, std = evaluate_policy(model, make_vec_env(env_id, seed=a.seed + 1000), n_eval_episodes=a.eval)
    out["greedy_eval_mean_std"] = [round(float(mean), 1), round(float(std), 1)]
print(json.dumps(out))
