#include "knurl/envs/conformance.h"

#include <algorithm>
#include <map>
#include <set>

#include "knurl/envs/detail/env_player.h"
#include "knurl/envs/registry.h"

namespace knurl {
namespace {

using detail::ActionScript;
using detail::EnvPlayer;
using detail::Findings;
using detail::Moment;

/// Moments of the walk that are kept, to be played again in other ways.
constexpr int kRemembered = 400;
constexpr int kOtherSeeds = 8;

/// One check of one env.
class Checker {
 public:
  Checker(const EnvFactory& factory, const EnvCheckOptions& options)
      : factory_(factory), options_(options) {}

  void run();
  [[nodiscard]] EnvReport report() const;
  Findings& findings() { return findings_; }
  void mark_tried(EnvRule rule) { tried_.insert(rule); }

 private:
  /// A new env, or nothing and a finding.
  std::unique_ptr<Env> make(const char* which);
  EnvPlayer player(std::unique_ptr<Env> env, const EnvPlayer::Options& options);
  EnvPlayer new_player() { return player(make("another env"), {.seed = options_.seed}); }
  /// Runs `body`; what it throws breaks `rule`.
  template <class Body>
  bool attempt(EnvRule rule, Body body);

  void check_spec(const Env& env, const char* when);
  void check_names();
  void check_repeats(EnvPlayer& walker);
  void check_memory();
  void check_rendering();
  void check_seeds();
  void check_saving();

  const EnvFactory& factory_;
  const EnvCheckOptions options_;
  Findings findings_;
  std::set<EnvRule> tried_;
  std::map<EnvRule, std::string> why_not_;  ///< what was not tried, for the env's own reasons
  EnvSpec spec_;
  std::unique_ptr<ActionScript> script_;
  std::vector<Moment> walk_;
};

void Checker::run() {
  std::unique_ptr<Env> first = make("the env");
  if (!first) return;
  if (!attempt(EnvRule::spec, [&] { spec_ = first->spec(); })) return;
  check_names();
  check_spec(*first, "at its second call");
  script_ = std::make_unique<ActionScript>(spec_.action, std::max(1, options_.steps),
                                           Rng(options_.seed).split("actions"));

  // a long walk, of which the beginning is kept
  EnvPlayer walker = player(std::move(first), {.seed = options_.seed});
  const bool walked = attempt(EnvRule::exceptions, [&] {
    for (int i = 0; i < options_.steps; ++i) {
      Moment moment = walker.next();
      if (i < kRemembered) walk_.push_back(std::move(moment));
    }
  });
  check_spec(walker.env(), "after some episodes");
  if (!walked) return;
  tried_.insert({EnvRule::observation, EnvRule::reward, EnvRule::info});

  // the beginning again, in other ways; what does not repeat at all cannot be compared further
  const std::unique_ptr<Env> second = make("a second env beside the first");
  if (!second) return;
  check_spec(*second, "of another env");
  if (findings_.has(EnvRule::spec)) return;
  attempt(EnvRule::repeatable, [&] { check_repeats(walker); });
  if (findings_.has(EnvRule::repeatable)) return;
  attempt(EnvRule::memory, [&] { check_memory(); });
  attempt(EnvRule::rendering, [&] { check_rendering(); });
  if (!walker.drew()) {
    why_not_[EnvRule::seeds] = "it draws no random numbers";
  } else if (walk_.size() < kRemembered) {
    why_not_[EnvRule::seeds] = fmt::format("needs at least {} steps", kRemembered);
  } else {
    attempt(EnvRule::seeds, [&] { check_seeds(); });
  }
  if (walker.env().can_save()) {
    attempt(EnvRule::saving, [&] { check_saving(); });
  } else {
    why_not_[EnvRule::saving] = "can_save() is false: episodes are restored by repeating them";
  }
}

EnvReport Checker::report() const {
  // each of these ends the check
  std::string in_the_way = "its options are not known here";
  for (const EnvRule rule :
       {EnvRule::repeatable, EnvRule::exceptions, EnvRule::spec, EnvRule::construction}) {
    if (findings_.has(rule)) in_the_way = fmt::format("mend {} first", name_of(rule));
  }
  EnvReport report{.violations = findings_.all()};
  for (const auto& [rule, name] : names(EnvRule{})) {
    if (tried_.contains(rule) || findings_.has(rule)) continue;
    const auto why = why_not_.find(rule);
    report.untried.push_back(
        {.rule = rule, .text = why == why_not_.end() ? in_the_way : why->second});
  }
  return report;
}

std::unique_ptr<Env> Checker::make(const char* which) {
  std::unique_ptr<Env> env;
  attempt(EnvRule::construction, [&] {
    try {
      env = factory_();
    } catch (...) {
      fail(ErrorKind::env, "{} cannot be made: {}", which, current_exception_text());
    }
    if (!env) fail(ErrorKind::env, "{} cannot be made: the factory gave none", which);
  });
  return env;
}

EnvPlayer Checker::player(std::unique_ptr<Env> env, const EnvPlayer::Options& options) {
  if (!env) fail(ErrorKind::env, "no env could be made to try this");
  return {std::move(env), spec_, *script_, findings_, options};
}

template <class Body>
bool Checker::attempt(EnvRule rule, Body body) {
  tried_.insert(rule);
  try {
    body();
    return true;
  } catch (...) {
    findings_.add(rule, current_exception_text());
    return false;
  }
}

void Checker::check_spec(const Env& env, const char* when) {
  attempt(EnvRule::spec, [&] {
    if (env.spec() == spec_) return;
    fail(ErrorKind::env,
         "spec() {} differs from its first call; it may depend on the env's options only", when);
  });
}

void Checker::check_names() {
  std::set<std::string> seen;
  for (const std::string& name : spec_.info) {
    if (name.empty()) findings_.add(EnvRule::spec, "spec().info has an empty name");
    if (!seen.insert(name).second) {
      findings_.add(EnvRule::spec, fmt::format("spec().info has the name {} twice", name));
    }
  }
  if (spec_.max_episode_steps && *spec_.max_episode_steps < 1) {
    findings_.add(EnvRule::spec,
                  fmt::format("spec().max_episode_steps is {}; it must be at least 1",
                              *spec_.max_episode_steps));
  }
}

void Checker::check_repeats(EnvPlayer& walker) {
  EnvPlayer other = new_player();
  if (const std::string what = other.compare(walk_); !what.empty()) {
    fail(ErrorKind::env,
         "the same Rng and actions give another episode in a new env: {}; draw all random numbers "
         "from the Rng of reset() and use no clock, global or uninitialised variable",
         what);
  }
  walker.restart();
  if (const std::string what = walker.compare(walk_); !what.empty()) {
    fail(ErrorKind::env,
         "the same Rng and actions give another episode in an env that had others before: {}; "
         "reset() must forget them",
         what);
  }
}

void Checker::check_memory() {
  EnvPlayer other = player(make("another env"), {.seed = options_.seed, .fill = std::byte{0}});
  if (const std::string what = other.compare(walk_); !what.empty()) {
    fail(ErrorKind::env,
         "the env does not write all of its observation, so that what lay there before is seen: "
         "{}; write every element in each reset() and step()",
         what);
  }
}

void Checker::check_rendering() {
  EnvPlayer other = player(make("another env"), {.seed = options_.seed, .render = true});
  if (const std::string what = other.compare(walk_); !what.empty()) {
    fail(ErrorKind::env, "an episode goes otherwise where it is rendered: {}", what);
  }
}

void Checker::check_seeds() {
  for (int i = 1; i <= kOtherSeeds; ++i) {
    EnvPlayer other =
        player(make("another env"), {.seed = options_.seed + static_cast<std::uint64_t>(i)});
    if (!other.compare(walk_).empty()) return;
  }
  fail(ErrorKind::env,
       "the env draws random numbers, but {} other seeds gave the same {} moments bit for bit; use "
       "the numbers that are drawn",
       kOtherSeeds, walk_.size());
}

void Checker::check_saving() {
  // after the first reset, early, and late; at the next running episode from there
  for (const std::size_t from : {std::size_t{1}, walk_.size() / 7, walk_.size() / 2}) {
    EnvPlayer original = new_player();
    std::size_t at = 0;
    while (at < from || (!original.running() && at < walk_.size())) {
      (void)original.next();
      ++at;
    }
    if (!original.running()) return;
    const std::span<const Moment> rest = std::span(walk_).subspan(at);
    const EnvPlayer::Mark mark = original.save();
    if (const std::string what = original.compare(rest); !what.empty()) {
      fail(ErrorKind::env, "an episode goes otherwise after save(): {}", what);
    }
    original.load(mark);
    if (const std::string what = original.compare(rest); !what.empty()) {
      fail(ErrorKind::env,
           "an episode goes otherwise after load() in an env that had gone on: {}; load() must "
           "set all that step() uses, and use the Rng that it is given",
           what);
    }
    EnvPlayer other = new_player();
    other.load(mark);
    if (const std::string what = other.compare(rest); !what.empty()) {
      fail(ErrorKind::env,
           "an episode goes otherwise after load() in a new env: {}; save all that step() uses",
           what);
    }
  }
}

/// The entry's own options and the common ones.
std::vector<std::string> option_names(const EnvEntry& entry) {
  std::set<std::string> out;
  for (const Schema* schema : {entry.options, &schema_of<CommonEnvOptions>()}) {
    if (!schema) continue;
    for (const Field& field : schema->fields()) out.insert(field.name);
  }
  return {out.begin(), out.end()};
}

/// Misspells every option in turn.
void check_options(const EnvEntry& entry, const ConfigValue& config, Findings& findings) {
  for (const std::string& name : option_names(entry)) {
    const std::string misspelt = name + "x";
    ConfigValue wrong = config.is_null() ? ConfigValue::empty_map() : config;
    wrong[misspelt] = ConfigValue::of(1);
    std::string seen = "was taken without a word";
    try {
      (void)make_env(entry.name, wrong);
    } catch (const Error& error) {
      const std::string text = error.what();
      const std::size_t hint = text.find("did you mean");
      const bool named = hint != std::string::npos && text.find(name, hint) != std::string::npos;
      if (error.kind() == ErrorKind::config && named) continue;
      seen = fmt::format("gave an error of kind {} that does not name it: {}",
                         name_of(error.kind()), text);
    }
    findings.add(EnvRule::options,
                 fmt::format("env_config.{} {}; refuse unknown options and name the nearest one, "
                             "here {} (read_fields does both)",
                             misspelt, seen, name));
  }
}

}  // namespace

EnvReport report_env(const EnvFactory& factory, const EnvCheckOptions& options) {
  Checker checker(factory, options);
  checker.run();
  return checker.report();
}

EnvReport report_env(std::string_view name, const ConfigValue& config,
                     const EnvCheckOptions& options) {
  const EnvEntry entry = find_env(name);
  const EnvFactory factory = [&] { return make_env(name, config); };
  Checker checker(factory, options);
  checker.run();
  if (!checker.findings().has(EnvRule::construction)) {
    checker.mark_tried(EnvRule::options);
    check_options(entry, config, checker.findings());
  }
  return checker.report();
}

}  // namespace knurl
