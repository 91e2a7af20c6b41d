#include "knurl/envs/wrappers/wrapper_list.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/error.h"
#include "knurl/envs/wrappers/frame_stack.h"
#include "knurl/envs/wrappers/rewards.h"
#include "knurl/envs/wrappers/time_limit.h"

namespace knurl {
namespace {

template <class W>
WrapperEntry wrapper_entry(std::string name, std::string sentence) {
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .options = &schema_of<typename W::Config>(),
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
  static const std::vector<WrapperEntry> entries{
      wrapper_entry<ClipReward>("ClipReward", "limits rewards, or takes their signs"),
      wrapper_entry<FrameStack>("FrameStack", "shows the last observations as one"),
      wrapper_entry<TimeLimit>("TimeLimit", "truncates episodes, in place of the env's own limit"),
      wrapper_entry<TransformReward>("TransformReward", "scales and shifts rewards")};
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

std::unique_ptr<Env> wrap(std::unique_ptr<Env> env, std::span<const WrapperChoice> wrappers) {
  for (std::size_t i = 0; i < wrappers.size(); ++i) {
    const WrapperChoice& choice = wrappers[i];
    const std::string path = fmt::format("env_config.wrappers[{}]", i);
    const WrapperEntry& entry = find_wrapper(choice.name, choice.place, path);
    env = entry.make(std::move(env), choice.options, path + "." + choice.name);
  }
  return env;
}

}  // namespace knurl
