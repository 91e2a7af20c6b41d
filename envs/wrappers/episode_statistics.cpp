#include "knurl/envs/wrappers/episode_statistics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

std::array<std::string, 2> numbers_called(const std::string& name) {
  return {name + "/r", name + "/l"};
}

}  // namespace

EpisodeStatistics::EpisodeStatistics(std::unique_ptr<Env> inner, const Config& config)
    : EnvWrapper(std::move(inner)), name_(config.name) {
  if (name_.empty()) fail(ErrorKind::config, "name: must not be empty");
  const std::vector<std::string> taken = EnvWrapper::spec().info;
  inner_numbers_ = taken.size();
  for (const std::string& number : numbers_called(name_)) {
    if (std::ranges::count(taken, number) == 0) continue;
    fail(ErrorKind::config, "name = {}: there is an info number {} already; give another name",
         name_, number);
  }
}

EnvSpec EpisodeStatistics::spec() const {
  EnvSpec spec = EnvWrapper::spec();
  for (std::string& number : numbers_called(name_)) spec.info.push_back(std::move(number));
  return spec;
}

void EpisodeStatistics::reset(Rng& rng, ObservationOut observation) {
  sums_ = {};
  EnvWrapper::reset(rng, observation);
}

StepResult EpisodeStatistics::step(ActionView action, ObservationOut observation) {
  const StepResult result = EnvWrapper::step(action, observation);
  sums_.episode_return += result.reward;
  ++sums_.length;
  return result;
}

void EpisodeStatistics::info(std::span<double> numbers) const {
  EnvWrapper::info(numbers.first(inner_numbers_));
  numbers[inner_numbers_] = sums_.episode_return;
  numbers[inner_numbers_ + 1] = static_cast<double>(sums_.length);
}

void EpisodeStatistics::save(ByteWriter& out) const {
  write(out, sums_);
  EnvWrapper::save(out);
}

void EpisodeStatistics::load(ByteReader& in, Rng& rng) {
  sums_ = read<Sums>(in);
  EnvWrapper::load(in, rng);
}

}  // namespace knurl
