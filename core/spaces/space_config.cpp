#include "knurl/core/spaces/space_config.h"

#include "knurl/core/config/fields.h"

namespace knurl {

/// A number for all elements, or a list of one for each.
template <>
struct ValueType<Bounds> {
  static std::string text() { return "number or list of numbers"; }
  static Bounds read(const ConfigValue& value, const std::string& path, const Range& range) {
    if (value.list()) return ValueType<std::vector<double>>::read(value, path, range);
    return ValueType<double>::read(value, path, range);
  }
  static ConfigValue write(const Bounds& bounds) {
    if (bounds.one_for_all()) return ConfigValue::of(bounds.at(0));
    return ValueType<std::vector<double>>::write(bounds.values());
  }
  static void check(const Bounds&, const std::string&, const Range&) {}
};

namespace {

// what each type has beside `type`, its name and its options

struct DiscreteOptions {
  std::int64_t n = 0;
  std::int64_t start = 0;
  static void fields(auto& self, auto&& field) {
    field("n", self.n, "how many numbers");
    field("start", self.start, "the first of them");
  }
  static DiscreteOptions of(const Discrete& space) { return {.n = space.n, .start = space.start}; }
  [[nodiscard]] Space space() const { return Discrete{.n = n, .start = start}; }
};

struct MultiDiscreteOptions {
  std::vector<std::int64_t> nvec;
  std::vector<std::int64_t> start;
  static void fields(auto& self, auto&& field) {
    field("nvec", self.nvec, "how many numbers each element can be");
    field("start", self.start, "the first of each; empty: zeros");
  }
  static MultiDiscreteOptions of(const MultiDiscrete& space) {
    return {.nvec = space.nvec, .start = space.start};
  }
  [[nodiscard]] Space space() const { return MultiDiscrete{.nvec = nvec, .start = start}; }
};

struct MultiBinaryOptions {
  Shape shape;
  static void fields(auto& self, auto&& field) { field("shape", self.shape, "sizes"); }
  static MultiBinaryOptions of(const MultiBinary& space) { return {.shape = space.shape}; }
  [[nodiscard]] Space space() const { return MultiBinary{.shape = shape}; }
};

struct BoxOptions {
  Bounds low = Box{}.low;
  Bounds high = Box{}.high;
  std::optional<Shape> shape;
  DType dtype = Box{}.dtype;
  static void fields(auto& self, auto&& field) {
    field("low", self.low, "least value");
    field("high", self.high, "greatest value");
    field("shape", self.shape, "sizes");
    field("dtype", self.dtype, "type of the elements");
  }
  static BoxOptions of(const Box& space) {
    return {.low = space.low, .high = space.high, .shape = space.shape, .dtype = space.dtype};
  }
  [[nodiscard]] Space space() const {
    const Bounds& longer = low.one_for_all() ? high : low;
    const Shape of_bounds{static_cast<std::int64_t>(longer.values().size())};
    return Box{.shape = shape.value_or(of_bounds), .low = low, .high = high, .dtype = dtype};
  }
};

struct TupleOptions {
  std::vector<Space> spaces;
  static void fields(auto& self, auto&& field) { field("spaces", self.spaces, "its parts"); }
  static TupleOptions of(const Tuple& space) { return {.spaces = space.spaces}; }
  [[nodiscard]] Space space() const { return Tuple{spaces}; }
};

struct DictOptions {
  std::map<std::string, Space> spaces;
  static void fields(auto& self, auto&& field) { field("spaces", self.spaces, "its parts"); }
  static DictOptions of(const Dict& space) {
    return {.spaces = {space.spaces.begin(), space.spaces.end()}};
  }
  [[nodiscard]] Space space() const { return Dict{{spaces.begin(), spaces.end()}}; }
};

template <class Options>
Space read_as(const ConfigValue& options, const std::string& path) {
  Options out;
  read_fields(options, schema_of<Options>(), &out, path);
  return out.space();
}

template <class Options>
ConfigValue write_as(const char* type, const Options& options) {
  ConfigValue out = ConfigValue::empty_map();
  out["type"] = ConfigValue::of(type);
  const ConfigValue rest = schema_of<Options>().write(&options);
  for (const auto& entry : *rest.map()) out[entry.key] = entry.value;
  return out;
}

/// A type of space: how its options are read, and written where a space is of this type.
struct Kind {
  const char* type;
  Space (*read)(const ConfigValue& options, const std::string& path);
  std::optional<ConfigValue> (*write)(const char* type, const Space& space);
};

template <class K, class Options>
constexpr Kind kind(const char* type) {
  return {.type = type,
          .read = read_as<Options>,
          .write = [](const char* name, const Space& space) -> std::optional<ConfigValue> {
            const K* const own = space.as<K>();
            if (!own) return std::nullopt;
            return write_as(name, Options::of(*own));
          }};
}

constexpr std::array kKinds = {kind<Discrete, DiscreteOptions>("Discrete"),
                               kind<MultiDiscrete, MultiDiscreteOptions>("MultiDiscrete"),
                               kind<MultiBinary, MultiBinaryOptions>("MultiBinary"),
                               kind<Box, BoxOptions>("Box"),
                               kind<Tuple, TupleOptions>("Tuple"),
                               kind<Dict, DictOptions>("Dict")};

}  // namespace

Space ValueType<Space>::read(const ConfigValue& value, const std::string& path, const Range&) {
  ConfigValue options = value;
  const std::optional<ConfigValue> type = options.take("type");
  if (!type) detail::refuse(value, path, "a space: a map with a type, as {type: Discrete, n: 2}");
  std::vector<std::string> known;
  for (const Kind& each : kKinds) {
    known.emplace_back(each.type);
    if (!type->scalar() || type->scalar()->text != each.type) continue;
    try {
      return each.read(options, path);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::config) throw;
      fail(ErrorKind::config, "{}{}: {}", value.place().prefix(), path, error.what());
    }
  }
  const std::string hint = type->scalar() ? did_you_mean(type->scalar()->text, known) : "";
  detail::refuse(*type, path + ".type",
                 "Discrete, MultiDiscrete, MultiBinary, Box, Tuple or Dict" + hint);
}

ConfigValue ValueType<Space>::write(const Space& space) {
  ConfigValue out;
  for (const Kind& each : kKinds) {
    if (const auto written = each.write(each.type, space)) out = *written;
  }
  return out;
}

}  // namespace knurl
