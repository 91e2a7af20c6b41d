#include "knurl/core/tune/grid.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "knurl/core/config/yaml.h"

namespace knurl::tune {
namespace {

constexpr std::size_t kMostPoints = 10'000;
constexpr const char* kKey = "grid_search";

/// A place in a value, and what may stand there.
struct Search {
  std::string path;  ///< below the value
  ConfigValue* slot;
  ConfigValue::List choices;
};

/// Ways in which Tune draws an option at random: `{uniform: [0, 1]}`, `tune.uniform(0, 1)`.
constexpr std::string_view kRandom[] = {"uniform", "quniform",   "loguniform",  "qloguniform",
                                        "randn",   "qrandn",     "randint",     "qrandint",
                                        "choice",  "lograndint", "qlograndint", "sample_from"};

/// A value is to be drawn at random. An env's or a model's own options may be called like that.
bool is_random(const ConfigValue::Entry& entry) {
  if (const auto* scalar = entry.value.scalar()) {
    return !scalar->quoted && scalar->text.starts_with("tune.") &&
           scalar->text.find('(') != std::string::npos;
  }
  const auto* map = entry.value.map();
  if (!map || map->size() != 1 || entry.key.ends_with("_config")) return false;
  std::string_view way = map->front().key;
  if (way.starts_with("tune.")) way.remove_prefix(5);
  return std::ranges::count(kRandom, way) > 0 &&
         (map->front().value.list() || map->front().value.map());
}

bool searches(const ConfigValue& value) {
  if (const auto* list = value.list()) return std::ranges::any_of(*list, searches);
  if (!value.map()) return false;
  return std::ranges::any_of(*value.map(), [](const ConfigValue::Entry& entry) {
    return entry.key == kKey || searches(entry.value);
  });
}

/// What is wrong with a map that has a grid search; nothing where all is well.
std::string problem_with(const ConfigValue& map) {
  const ConfigValue& choices = *map.find(kKey);
  if (map.map()->size() > 1) return ": must stand alone, without other keys beside it";
  if (!choices.list()) return fmt::format(" = {}: must be a list of values", choices.describe());
  if (choices.list()->empty()) return " = []: must have at least one value";
  if (searches(choices)) return ": must not hold another grid_search";
  return "";
}

/// Takes out what searches wrongly, and says why.
void refuse_bad(ConfigValue& value, const std::string& path, Problems& problems) {
  const auto is_bad = [&](ConfigValue& part, const std::string& name) {
    if (!part.find(kKey)) {
      refuse_bad(part, name, problems);
      return false;
    }
    const std::string problem = problem_with(part);
    if (problem.empty()) return false;
    const Place place = part.find(kKey)->place();
    problems.add(place, fmt::format("{}{}.{}{}", place.prefix(), name, kKey, problem));
    return true;
  };
  if (auto* list = value.list()) {
    std::size_t index = 0;
    std::erase_if(*list, [&](ConfigValue& part) {
      return is_bad(part, fmt::format("{}[{}]", path, index++));
    });
  } else if (auto* map = value.map()) {
    std::erase_if(*map, [&](ConfigValue::Entry& entry) {
      if (!is_random(entry)) return is_bad(entry.value, path + "." + entry.key);
      problems.add(entry.place,
                   fmt::format("{}{}.{}: random choices are not available yet; grid_search tries "
                               "each of a list",
                               entry.place.prefix(), path, entry.key));
      return true;
    });
  }
}

/// Finds the searches in the order they were written.
void find_searches(ConfigValue& value, const std::string& path, std::vector<Search>& out) {
  if (auto* list = value.list()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      find_searches((*list)[i], fmt::format("{}[{}]", path, i), out);
    }
  }
  if (!value.map()) return;
  if (ConfigValue* choices = value.find(kKey)) {
    out.push_back({.path = path, .slot = &value, .choices = *choices->list()});
    return;
  }
  for (auto& entry : *value.map()) {
    find_searches(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
  }
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);  // all of it where there is no dot
}

std::string name_of(const Search& search, const std::vector<Search>& all) {
  const std::string last = last_part(search.path);
  const auto same = std::ranges::count_if(
      all, [&](const Search& other) { return last_part(other.path) == last; });
  return same == 1 ? last : search.path;
}

std::string text_of(const ConfigValue& choice) {
  return choice.scalar() ? choice.scalar()->text : to_json(choice);
}

/// How many combinations there are; nothing where they are too many.
std::optional<std::size_t> count_of(const std::vector<Search>& found) {
  std::size_t count = 1;
  for (const Search& search : found) {
    count *= search.choices.size();
    if (count > kMostPoints) return std::nullopt;
  }
  return count;
}

}  // namespace

std::vector<GridPoint> grid_points(ConfigValue value, const std::string& path, Problems& problems) {
  refuse_bad(value, path, problems);
  std::vector<Search> found;
  find_searches(value, "", found);
  const std::optional<std::size_t> count = count_of(found);
  if (!count) {
    problems.add(value.place(), fmt::format("{}{}: its grid_search keys make more than {} trials",
                                            value.place().prefix(), path, kMostPoints));
    return {};
  }
  std::vector<GridPoint> out;
  for (std::size_t point = 0; point < *count; ++point) {
    std::string tag;
    std::size_t rest = point;  // a number whose digits are the choices, the first one lowest
    for (const Search& search : found) {
      const ConfigValue& choice = search.choices[rest % search.choices.size()];
      rest /= search.choices.size();
      *search.slot = choice;
      tag +=
          fmt::format("{}{}={}", tag.empty() ? "" : ",", name_of(search, found), text_of(choice));
    }
    out.push_back({.value = value, .tag = found.empty() ? "" : fmt::format("{}_{}", point, tag)});
  }
  return out;
}

}  // namespace knurl::tune
