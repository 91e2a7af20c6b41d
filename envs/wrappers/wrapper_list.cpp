#include "knurl/envs/wrappers/wrapper_list.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/error.h"
#include "knurl/envs/wrappers/episode_statistics.h"
#include "knurl/envs/wrappers/frame_stack.h"
#include "knurl/envs/wrappers/rewards.h"
#include "knurl/envs/wrappers/run_wrappers.h"
#include "knurl/envs/wrappers/time_limit.h"

namespace knurl {
namespace {

template <class W>
WrapperEntry wrapper_entry(std::string name, std::string sentence,
                           WrapperSubject subject = WrapperSubject::other) {
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .options = &schema_of<typename W::Config>(),
          .subject = subject,
          .make = [](std::unique_ptr<Env> inner, const ConfigValue& options,
                     const std::string& path) -> std::unique_ptr<Env> {
            typename W::Config config;
            read_fields(options, schema_of<typename W::Config>(), &config, path);
            try {
              return std::make_unique<W>(std::move(inner), config);
            } catch (const Error& error) {
              fail(error.kind(), "{}{}: {}", options.place().prefix(), path, error.what());
            }
          }};
}

/// Of a wrapper that the run carries out: only its options are looked at here.
template <class Options>
WrapperEntry run_entry(std::string name, std::string sentence, WrapperSubject subject) {
  return {
      .name = std::move(name),
      .sentence = std::move(sentence),
      .options = &schema_of<Options>(),
      .subject = subject,
      .by_run = true,
      .make = [](std::unique_ptr<Env> inner, const ConfigValue& options, const std::string& path) {
        ValueType<Options>::read(options, path, {});
        return inner;
      }};
}

/// The path of a wrapper in the list.
std::string path_of(std::size_t index) {
  return fmt::format("env_config.wrappers[{}]", index);
}

/// Throws Error(config) where a wrapper follows one by which the run normalises what it is about.
void check_order(std::span<const WrapperChoice> wrappers, std::size_t at) {
  const WrapperEntry& entry = entry_of(wrappers[at]);
  for (std::size_t i = 0; i < at; ++i) {
    const WrapperEntry& before = entry_of(wrappers[i]);
    const std::string where =
        fmt::format("{}{}.{}", wrappers[at].place.prefix(), path_of(at), entry.name);
    if (before.by_run && before.name == entry.name) {
      fail(ErrorKind::config, "{}: stands in the list twice", where);
    }
    const bool of_one_subject =
        entry.subject != WrapperSubject::other && before.subject == entry.subject;
    if (!before.by_run || !of_one_subject) continue;
    fail(ErrorKind::config,
         "{}: is about {}: must stand before {}, since a run normalises what comes out of the "
         "whole list",
         where, name_of(entry.subject), before.name);
  }
}

/// Throws Error(config), naming the nearest, where there is no such wrapper.
const WrapperEntry& find_wrapper(const std::string& name, const Place& place,
                                 const std::string& path) {
  std::vector<std::string> names;
  for (const WrapperEntry& entry : known_wrappers()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  fail(ErrorKind::config, "{}{} = {}: unknown wrapper{}", place.prefix(), path, name,
       did_you_mean(name, names, fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace

const std::vector<WrapperEntry>& known_wrappers() {
  constexpr WrapperSubject kObservations = WrapperSubject::observations;
  constexpr WrapperSubject kRewards = WrapperSubject::rewards;
  static const std::vector<WrapperEntry> entries{
      wrapper_entry<ClipReward>("ClipReward", "limits rewards, or takes their signs", kRewards),
      wrapper_entry<EpisodeStatistics>(
          "EpisodeStatistics", "reports return and length of episodes as at its place", kRewards),
      wrapper_entry<FrameStack>("FrameStack", "shows the last observations as one", kObservations),
      run_entry<NormalizeObservation>("NormalizeObservation",
                                      "learns from observations of mean 0 and deviation 1",
                                      kObservations),
      run_entry<NormalizeReward>("NormalizeReward", "learns from rewards of one scale", kRewards),
      run_entry<RecordEpisode>("RecordEpisode", "keeps episodes as moving pictures",
                               WrapperSubject::other),
      wrapper_entry<TimeLimit>("TimeLimit", "truncates episodes, in place of the env's own limit"),
      wrapper_entry<TransformReward>("TransformReward", "scales and shifts rewards", kRewards)};
  return entries;
}

WrapperChoice ValueType<WrapperChoice>::read(const ConfigValue& value, const std::string& path,
                                             const Range& /*range*/) {
  WrapperChoice choice{.place = value.place()};
  if (value.scalar()) {
    choice.name = value.scalar()->text;
  } else if (value.map() && value.map()->size() == 1) {
    choice.name = value.map()->front().key;
    if (!value.map()->front().value.is_null()) choice.options = value.map()->front().value;
  } else {
    detail::refuse(value, path, "a wrapper's name, or {name: its options}");
  }
  if (!choice.options.place().source) choice.options.set_place(choice.place);
  find_wrapper(choice.name, choice.place, path);
  return choice;
}

ConfigValue ValueType<WrapperChoice>::write(const WrapperChoice& value) {
  ConfigValue out = ConfigValue::empty_map();
  out[value.name] = value.options;
  return out;
}

const WrapperEntry& entry_of(const WrapperChoice& choice) {
  return find_wrapper(choice.name, choice.place, "env_config.wrappers");
}

RunWrappers run_wrappers(std::span<const WrapperChoice> wrappers) {
  RunWrappers out;
  for (std::size_t i = 0; i < wrappers.size(); ++i) {
    const auto take = [&]<class T>(const char* name, std::optional<T>& options) {
      if (wrappers[i].name != name) return;
      options = ValueType<T>::read(wrappers[i].options, path_of(i) + "." + name, {});
    };
    take("NormalizeObservation", out.observations);
    take("NormalizeReward", out.rewards);
    take("RecordEpisode", out.recording);
  }
  return out;
}

std::unique_ptr<Env> wrap(std::unique_ptr<Env> env, std::span<const WrapperChoice> wrappers) {
  for (std::size_t i = 0; i < wrappers.size(); ++i) {
    const WrapperChoice& choice = wrappers[i];
    check_order(wrappers, i);
    env = entry_of(choice).make(std::move(env), choice.options, path_of(i) + "." + choice.name);
  }
  return env;
}

}  // namespace knurl
