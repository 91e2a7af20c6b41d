#include "knurl/envs/detail/env_player.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace knurl::detail {
namespace {

constexpr std::int64_t kGuardRows = 4;  // before and after the env's row
constexpr std::size_t kGuardNumbers = 4;
/// Stands where an info number is not written yet: a NaN that no calculation gives.
constexpr std::uint64_t kUnwritten = 0x7FF8'0000'0000'6B6EU;

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

std::string leaf_text(const Leaf& leaf, std::int64_t element) {
  return leaf.path.empty() ? fmt::format("element {}", element)
                           : fmt::format("leaf {}, element {}", leaf.path, element);
}

double number_at(const Leaf& leaf, const std::byte* bytes, std::int64_t element) {
  return visit(leaf.dtype, [&]<class T>(T*) {
    T value;
    std::memcpy(&value, bytes + static_cast<std::size_t>(element) * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  });
}

}  // namespace

std::vector<Violation> Findings::all() const {
  std::vector<Violation> out;
  for (const auto& [rule, text] : first_) out.push_back({.rule = rule, .text = text});
  return out;
}

ActionScript::ActionScript(const Space& space, int length, Rng rng)
    : layout_(space), rows_(layout_.columns("action"), length), view_(layout_, rows_, "action") {
  const Rows rows(layout_, rows_, "action");
  std::uint64_t hold = 0;
  for (std::int64_t i = 0; i < rows_.rows(); ++i) {
    if (hold > 0) {
      --hold;
      rows_.copy_rows(i, rows_, i - 1, 1);
    } else {
      sample(Row(rows, i), rng);
      if (rng.below(4) == 0) hold = rng.below(30);
    }
  }
}

EnvPlayer::EnvPlayer(std::unique_ptr<Env> env, const EnvSpec& spec, const ActionScript& script,
                     Findings& findings, const Options& options)
    : env_(std::move(env)),
      info_names_(spec.info),
      script_(script),
      findings_(findings),
      options_(options),
      layout_(spec.observation),
      memory_(layout_.columns("observation"), 2 * kGuardRows + 1),
      rows_(layout_, memory_, "observation"),
      const_rows_(rows_),
      info_(spec.info.size() + kGuardNumbers) {}

std::string EnvPlayer::place() const {
  return step_ == 0 ? fmt::format("episode {}, reset", episode_)
                    : fmt::format("episode {}, step {}", episode_, step_);
}

template <class Body>
void EnvPlayer::call(const char* name, Body body) const {
  try {
    body();
  } catch (...) {
    fail(ErrorKind::env, "{}: {} threw: {}", place(), name, current_exception_text());
  }
}

Moment EnvPlayer::next() {
  for (std::size_t leaf = 0; leaf < layout_.leaves().size(); ++leaf) {
    const std::size_t bytes = layout_.leaves()[leaf].bytes() * (2 * kGuardRows + 1);
    std::memset(rows_.leaf_row(leaf, 0), std::to_integer<int>(options_.fill), bytes);
  }
  std::ranges::fill(info_, std::bit_cast<double>(kUnwritten));

  StepResult result;
  if (!running_) {
    ++episode_;
    step_ = 0;
    rngs_[rng_] = episode_rng();
    call("reset()", [&] { env_->reset(rngs_[rng_], Row(rows_, kGuardRows)); });
    running_ = true;
  } else {
    ++step_;
    const ConstRow action = script_.action(action_++);
    call("step()", [&] { result = env_->step(action, Row(rows_, kGuardRows)); });
  }
  if (!info_names_.empty()) {
    call("info()", [&] { env_->info(std::span(info_).first(info_names_.size())); });
  }
  if (options_.render) {
    call("render()", [&] { (void)env_->render(); });
    call("render_rgb()", [&] { (void)env_->render_rgb(); });
  }

  drew_ = drew_ || rngs_[rng_] != episode_rng();
  const bool cut_short = episode_ % 4 == 1 && step_ == 3;
  if (result.terminated || result.truncated || cut_short) running_ = false;
  return look(result);
}

/// Gathers what the env showed and compares it with what it promised.
Moment EnvPlayer::look(const StepResult& result) {
  Moment out{.episode = episode_,
             .step = step_,
             .reward = result.reward,
             .terminated = result.terminated,
             .truncated = result.truncated};
  for (std::size_t leaf = 0; leaf < layout_.leaves().size(); ++leaf) {
    const std::byte* bytes = rows_.leaf_row(leaf, kGuardRows);
    out.observation.insert(out.observation.end(), bytes, bytes + layout_.leaves()[leaf].bytes());
  }
  out.info.assign(info_.begin(), info_.end() - kGuardNumbers);
  look_at_memory();
  look_at_observation();
  look_at_numbers(out);
  return out;
}

void EnvPlayer::look_at_memory() {
  const auto untouched = [&](std::byte byte) { return byte == options_.fill; };
  for (std::size_t k = 0; k < layout_.leaves().size(); ++k) {
    const Leaf& leaf = layout_.leaves()[k];
    const std::span before(rows_.leaf_row(k, 0), leaf.bytes() * kGuardRows);
    const std::span after(rows_.leaf_row(k, kGuardRows + 1), leaf.bytes() * kGuardRows);
    if (std::ranges::all_of(before, untouched) && std::ranges::all_of(after, untouched)) continue;
    findings_.add(EnvRule::memory,
                  fmt::format("{}: the env writes outside its observation{}{}, which has {} "
                              "elements; write these only",
                              place(), leaf.path.empty() ? "" : " leaf ", leaf.path, leaf.size()));
  }
  if (info_names_.empty()) return;
  for (std::size_t i = 0; i < info_.size(); ++i) {
    const bool written = bits(info_[i]) != kUnwritten;
    if (i < info_names_.size() && !written) {
      findings_.add(EnvRule::memory,
                    fmt::format("{}: info() does not write number {} ({}); write all that "
                                "spec().info names",
                                place(), i, info_names_[i]));
    } else if (i >= info_names_.size() && written) {
      findings_.add(EnvRule::memory, fmt::format("{}: info() writes number {}, but spec().info "
                                                 "names {}",
                                                 place(), i, info_names_.size()));
    }
  }
}

void EnvPlayer::look_at_observation() {
  if (const std::string why = violation(ConstRow(const_rows_, kGuardRows)); !why.empty()) {
    findings_.add(EnvRule::observation,
                  fmt::format("{}: the observation is not in spec().observation: {}; widen the "
                              "space or clip the value",
                              place(), why));
    return;
  }
  for (std::size_t k = 0; k < layout_.leaves().size(); ++k) {
    const Leaf& leaf = layout_.leaves()[k];
    for (std::int64_t i = 0; i < leaf.size(); ++i) {
      const double number = number_at(leaf, rows_.leaf_row(k, kGuardRows), i);
      if (std::isfinite(number)) continue;
      findings_.add(EnvRule::observation,
                    fmt::format("{}: the observation has {} in {}; no policy can learn from that",
                                place(), number, leaf_text(leaf, i)));
    }
  }
}

void EnvPlayer::look_at_numbers(const Moment& moment) {
  if (!std::isfinite(moment.reward)) {
    findings_.add(EnvRule::reward, fmt::format("{}: the reward is {}; it must be a finite number",
                                               place(), moment.reward));
  }
  for (std::size_t i = 0; i < moment.info.size(); ++i) {
    if (std::isfinite(moment.info[i]) || bits(moment.info[i]) == kUnwritten) continue;
    findings_.add(EnvRule::info,
                  fmt::format("{}: info number {} ({}) is {}; it must be a finite number", place(),
                              i, info_names_[i], moment.info[i]));
  }
}

std::string EnvPlayer::compare(std::span<const Moment> expected) {
  for (const Moment& moment : expected) {
    const std::string what = difference(moment, next());
    if (!what.empty()) return fmt::format("{}: {}", place(), what);
  }
  return "";
}

/// What differs between two moments, bit for bit.
std::string EnvPlayer::difference(const Moment& expected, const Moment& actual) const {
  const std::byte* a = expected.observation.data();
  const std::byte* b = actual.observation.data();
  for (const Leaf& leaf : layout_.leaves()) {
    const std::size_t width = size_of(leaf.dtype);
    for (std::int64_t i = 0; i < leaf.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * width;
      if (std::memcmp(a + at, b + at, width) == 0) continue;
      return fmt::format("{} of the observation is {} instead of {}", leaf_text(leaf, i),
                         number_at(leaf, b, i), number_at(leaf, a, i));
    }
    a += leaf.bytes();
    b += leaf.bytes();
  }
  if (bits(expected.reward) != bits(actual.reward)) {
    return fmt::format("the reward is {} instead of {}", actual.reward, expected.reward);
  }
  for (std::size_t i = 0; i < expected.info.size(); ++i) {
    if (bits(expected.info[i]) == bits(actual.info[i])) continue;
    return fmt::format("info number {} ({}) is {} instead of {}", i, info_names_[i], actual.info[i],
                       expected.info[i]);
  }
  if (expected.terminated != actual.terminated || expected.truncated != actual.truncated) {
    return fmt::format("terminated, truncated are {}, {} instead of {}, {}", actual.terminated,
                       actual.truncated, expected.terminated, expected.truncated);
  }
  return "";
}

void EnvPlayer::restart() {
  episode_ = -1;
  step_ = 0;
  action_ = 0;
  running_ = false;
}

EnvPlayer::Mark EnvPlayer::save() const {
  ByteWriter out;
  call("save()", [&] { env_->save(out); });
  return {.rng = rngs_[rng_].state(),
          .episode = episode_,
          .step = step_,
          .action = action_,
          .env = out.take_bytes()};
}

void EnvPlayer::load(const Mark& mark) {
  rng_ = 1 - rng_;
  rngs_[rng_].restore(mark.rng);
  episode_ = mark.episode;
  step_ = mark.step;
  action_ = mark.action;
  running_ = true;
  ByteReader in(mark.env);
  call("load()", [&] { env_->load(in, rngs_[rng_]); });
  if (in.remaining() > 0) {
    fail(ErrorKind::env, "{}: load() leaves {} of the {} bytes that save() wrote", place(),
         in.remaining(), mark.env.size());
  }
}

}  // namespace knurl::detail
