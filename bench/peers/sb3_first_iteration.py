"""One iteration of stable-baselines3's PPO on CartPole-v1, from import to update, on one thread.

Example: time python sb3_first_iteration.py --n-envs 8 --n-steps 32 --batch-size 256
"""
import argparse

p = argparse.ArgumentParser()
p.add_argument("--n-envs", type=int, default=8)
p.add_argument("--n-steps", type=int, default=32)
p.add_argument("--batch-size", type=int, default=256)
p.add_argument("--version", action="store_true", help="only say which versions these are")
a = p.parse_args()

if a.version:
    import importlib.metadata as md
    print(f"stable-baselines3 {md.version('stable-baselines3')} (torch {md.version('torch')})")
else:
    import torch
    torch.set_num_threads(1)
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    env = make_vec_env("CartPole-v1", n_envs=a.n_envs)
    PPO("MlpPolicy", env, n_steps=a.n_steps, batch_size=a.batch_size, device="cpu").learn(
        a.n_envs * a.n_steps)
