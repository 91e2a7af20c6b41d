"""Writes tests/golden/dqn_update.safetensors and ppo_update*.safetensors: what stable-baselines3's own
train() makes of fixed weights and data. Names of weights are knurl's.

Made with stable-baselines3 2.9.2, sb3-contrib 2.9.2, torch 2.15 and safetensors 0.5.3 by:
  python tests/golden/make_updates.py
"""
import pathlib
from unittest import mock
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import torch as th
from safetensors.numpy import save_file
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.logger import Logger

HERE = pathlib.Path(__file__).parent


class Corner(gym.Env):
    """Spaces alone: nothing is ever stepped."""

    observation_space = gym.spaces.Box(-10.0, 10.0, (3,), np.float32)

    def __init__(self, action_space):
        self.action_space = action_space

    def reset(self, seed=None, options=None):
        return np.zeros(3, np.float32), {}

    def step(self, action):
        return np.zeros(3, np.float32), 0.0, False, False, {}


def dense(tensors, prefix, name, module):
    tensors[f"{prefix}/{name}.weight"] = module.weight.detach().numpy().copy()
    tensors[f"{prefix}/{name}.bias"] = module.bias.detach().numpy().copy()


def dqn():
    th.manual_seed(1)
    rng = np.random.default_rng(1)
    model = DQN("MlpPolicy", Corner(gym.spaces.Discrete(4)), learning_rate=0.01, batch_size=32,
                gamma=0.9, max_grad_norm=0.5, buffer_size=100, device="cpu",
                policy_kwargs={"net_arch": [8, 6]})
    model.set_logger(Logger(None, []))
    for parameter in model.q_net_target.parameters():
        parameter.data += 0.1 * th.randn_like(parameter)
    tensors = {}

    def weights(prefix, net):
        for i in (0, 2):
            dense(tensors, prefix, f"hidden.{i // 2}", net.q_net[i])
        dense(tensors, prefix, "q_value_head.out", net.q_net[4])

    weights("before", model.q_net)
    weights("target", model.q_net_target)
    batch = {
        "obs": rng.normal(size=(32, 3)).astype(np.float32),
        "new_obs": rng.normal(size=(32, 3)).astype(np.float32),
        "actions": rng.integers(0, 4, size=(32, 1)),
        "rewards": (3.0 * rng.normal(size=(32, 1))).astype(np.float32),
        "dones": (rng.random(size=(32, 1)) < 0.3).astype(np.float32),
    }
    data = SimpleNamespace(observations=th.tensor(batch["obs"]), next_observations=th.tensor(batch["new_obs"]),
                           actions=th.tensor(batch["actions"]), rewards=th.tensor(batch["rewards"]),
                           dones=th.tensor(batch["dones"]), discounts=None)
    model.replay_buffer.sample = lambda *args, **kwargs: data
    model._current_progress_remaining = 1.0
    model.train(gradient_steps=3, batch_size=32)  # the same batch three times: Adam's moments count
    weights("after", model.q_net)
    tensors |= {f"batch/{name}": value for name, value in batch.items()}
    save_file(tensors, HERE / "dqn_update.safetensors")


def ppo(name, action_space, normalize_advantage=False, **options):
    th.manual_seed(2)
    rng = np.random.default_rng(2)
    steps, envs = 16, 2
    model = PPO("MlpPolicy", Corner(action_space), learning_rate=0.003,
                n_steps=steps * envs, batch_size=steps * envs, n_epochs=3, gamma=0.9, gae_lambda=0.7,
                clip_range=0.2, ent_coef=0.01, vf_coef=0.5, max_grad_norm=0.5,
                normalize_advantage=normalize_advantage, device="cpu", policy_kwargs={"net_arch": [8, 6]}, **options)
    model.set_logger(Logger(None, []))
    tensors = {}

    def weights(prefix):
        policy = model.policy
        for part, net, out in (("policy", policy.mlp_extractor.policy_net, policy.action_net),
                               ("value", policy.mlp_extractor.value_net, policy.value_net)):
            for i in (0, 2):
                dense(tensors, prefix, f"{part}.hidden.{i // 2}", net[i])
            dense(tensors, prefix, f"{part}.out", out)
        if hasattr(policy, "log_std"):
            tensors[f"{prefix}/policy.log_std.value"] = policy.log_std.detach().numpy().copy()

    with th.no_grad():
        for parameter in model.policy.parameters():
            parameter += 0.3 * th.randn_like(parameter)
    weights("before")
    buffer = model.rollout_buffer
    n = steps * envs
    buffer.reset()
    obs = rng.normal(size=(n, 3)).astype(np.float32)
    starts = rng.random(n) < 0.2
    for t in range(n):
        with th.no_grad():
            actions, values, log_probs = model.policy(th.tensor(obs[t : t + 1]))
        # an older policy acted: ratios are not 1
        log_probs += 0.3 * float(rng.normal())
        buffer.add(obs[t : t + 1], actions.numpy().reshape(1, -1), np.array([rng.normal()], np.float32),
                   np.array([float(starts[t])]), values, log_probs)
    last = rng.normal(size=(1, 3)).astype(np.float32)
    with th.no_grad():
        last_value = model.policy.predict_values(th.tensor(last))
    buffer.compute_returns_and_advantage(last_values=last_value, dones=np.array([0.0]))
    # train() flattens the buffer in place: look before
    tensors |= {
        "batch/obs": obs,
        "batch/actions": buffer.actions.reshape(n, -1).copy(),
        "batch/action_logp": buffer.log_probs.reshape(n).copy(),
        "batch/rewards": buffer.rewards.reshape(n).copy(),
        "batch/starts": starts.astype(np.float32),
        "batch/vf_preds": buffer.values.reshape(n).copy(),
        "batch/last_value": last_value.numpy().reshape(1),
        "batch/advantages": buffer.advantages.reshape(n).copy(),
        "batch/value_targets": buffer.returns.reshape(n).copy(),
    }
    model._current_progress_remaining = 1.0
    model.train()
    weights("after")
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, HERE / name)


class SharedLstm(RecurrentActorCriticPolicy):
    """Its critic teaches the LSTM too, as RLlib's does; the library's own option detaches it."""

    def evaluate_actions(self, obs, actions, lstm_states, episode_starts):
        features = self.extract_features(obs, self.pi_features_extractor)
        latent, _ = self._process_sequence(features, lstm_states.pi, episode_starts, self.lstm_actor)
        distribution = self._get_action_dist_from_latent(self.mlp_extractor.forward_actor(latent))
        values = self.value_net(self.mlp_extractor.forward_critic(latent))
        return values, distribution.log_prob(actions), distribution.entropy()


def recurrent_ppo():
    th.manual_seed(3)
    rng = np.random.default_rng(3)
    n, cells = 32, 6
    model = RecurrentPPO(SharedLstm, Corner(gym.spaces.Discrete(4)), learning_rate=0.003, n_steps=n, batch_size=n,
                         n_epochs=3, gamma=0.9, gae_lambda=0.7, clip_range=0.2, ent_coef=0.01, vf_coef=0.5,
                         max_grad_norm=0.5, normalize_advantage=False, device="cpu",
                         policy_kwargs={"net_arch": [], "lstm_hidden_size": cells, "shared_lstm": True,
                                        "enable_critic_lstm": False})
    model.set_logger(Logger(None, []))
    policy = model.policy
    tensors = {}

    def weights(prefix):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            tensors[f"{prefix}/lstm.{name}"] = getattr(policy.lstm_actor, f"{name}_l0").detach().numpy().copy()
        dense(tensors, prefix, "policy.out", policy.action_net)
        dense(tensors, prefix, "value.out", policy.value_net)

    with th.no_grad():
        for parameter in policy.parameters():
            parameter += 0.3 * th.randn_like(parameter)
    weights("before")
    buffer = model.rollout_buffer
    buffer.reset()
    obs = rng.normal(size=(n, 3)).astype(np.float32)
    starts = rng.random(n) < 0.2
    starts[0] = False  # the batch begins within an episode
    state = tuple(th.tensor(rng.normal(size=(1, 1, cells)).astype(np.float32)) for _ in range(2))
    states = []
    for t in range(n):
        start = th.tensor([float(starts[t])])
        before = RNNStates(state, state)
        with th.no_grad():
            actions, values, log_probs, after = policy(th.tensor(obs[t : t + 1]), before, start)
        states.append([(1 - start.item()) * s.numpy().reshape(-1) for s in state])
        log_probs += 0.3 * float(rng.normal())
        buffer.add(obs[t : t + 1], actions.numpy().reshape(1, -1), np.array([rng.normal()], np.float32),
                   np.array([float(starts[t])]), values, log_probs, lstm_states=before)
        state = after.pi
    buffer.compute_returns_and_advantage(last_values=th.zeros(1), dones=np.array([0.0]))
    tensors |= {
        "batch/obs": obs,
        "batch/actions": buffer.actions.reshape(n, -1).copy(),
        "batch/action_logp": buffer.log_probs.reshape(n).copy(),
        "batch/starts": starts.astype(np.float32),
        "batch/state_in_0": np.array([s[0] for s in states], np.float32),
        "batch/state_in_1": np.array([s[1] for s in states], np.float32),
        "batch/vf_preds": buffer.values.reshape(n).copy(),
        "batch/advantages": buffer.advantages.reshape(n).copy(),
        "batch/value_targets": buffer.returns.reshape(n).copy(),
    }
    model._current_progress_remaining = 1.0
    with mock.patch("numpy.random.randint", return_value=0):  # no cut but at the starts of episodes
        model.train()
    weights("after")
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, HERE / "ppo_update_lstm.safetensors")


dqn()
recurrent_ppo()
ppo("ppo_update.safetensors", gym.spaces.Discrete(4))
ppo("ppo_update_box.safetensors", gym.spaces.Box(-1.0, 1.0, (2,), np.float32), normalize_advantage=True)
ppo("ppo_update_sde.safetensors", gym.spaces.Box(-1.0, 1.0, (2,), np.float32), use_sde=True)
ppo("ppo_update_multi.safetensors", gym.spaces.MultiDiscrete([3, 2]))
