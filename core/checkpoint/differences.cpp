#include "knurl/core/checkpoint/differences.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "knurl/core/base/error.h"
#include "knurl/core/base/text.h"

namespace knurl {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOnlyFirst = "only in the first";
constexpr const char* kOnlySecond = "only in the second";

Json parsed(const CheckpointData& data, const std::string& file) {
  Json json = Json::parse(data.json(file), nullptr, false);
  if (json.is_discarded()) fail(ErrorKind::checkpoint, "{}: not JSON", data.path_of(file));
  return json;
}

/// A value on a line, cut where it is long.
std::string shown(const Json& value) {
  constexpr std::size_t kMost = 60;
  if (value.is_object()) return fmt::format("a map of {}", value.size());
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);  // ASCII
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

std::string list_difference(const Json& a, const Json& b) {
  if (a.size() != b.size()) return fmt::format("{} and {} elements", a.size(), b.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i] ? 1 : 0;
  return fmt::format("{} of {} elements differ", different, a.size());
}

/// Collects what two files of a name differ in.
class FileDifferences {
 public:
  FileDifferences(std::string file, std::vector<Difference>& out)
      : file_(std::move(file)), out_(out) {}

  void add(std::string part, std::string text) {
    out_.push_back({file_, std::move(part), std::move(text)});
  }

  void compare(const Json& a, const Json& b, const std::string& path) {
    if (a == b) return;
    if (a.is_object() && b.is_object()) {
      compare_maps(a, b, path);
    } else if (a.is_array() && b.is_array()) {
      add(path, list_difference(a, b));
    } else {
      add(path, fmt::format("{} and {}", shown(a), shown(b)));
    }
  }

  void compare(const RecordBatch& a, const RecordBatch& b) {
    for (const ColumnSpec& column : a.columns()) {
      if (b.has(column.name)) {
        compare_tensors(a, b, column.name);
      } else {
        add(column.name, kOnlyFirst);
      }
    }
    for (const ColumnSpec& column : b.columns()) {
      if (!a.has(column.name)) add(column.name, kOnlySecond);
    }
  }

 private:
  void compare_maps(const Json& a, const Json& b, const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + "/";
    for (const auto& [key, value] : a.items()) {
      if (b.contains(key)) {
        compare(value, b[key], prefix + key);
      } else {
        add(prefix + key, fmt::format("{}: {}", kOnlyFirst, shown(value)));
      }
    }
    for (const auto& [key, value] : b.items()) {
      if (!a.contains(key)) add(prefix + key, fmt::format("{}: {}", kOnlySecond, shown(value)));
    }
  }

  void compare_tensors(const RecordBatch& a, const RecordBatch& b, const std::string& name) {
    const std::size_t in_a = a.index_of(name);
    const std::size_t in_b = b.index_of(name);
    const ColumnSpec& is = a.columns()[in_a];
    const ColumnSpec& other = b.columns()[in_b];
    if (is != other) {
      add(name, fmt::format("{} {} and {} {}", name_of(is.dtype), text_of(is.row_shape),
                            name_of(other.dtype), text_of(other.row_shape)));
      return;
    }
    if (std::memcmp(a.data(in_a), b.data(in_b), a.row_bytes(in_a)) == 0) return;
    visit(is.dtype, [&]<class T>(T*) {
      add(name, number_difference<T>(a.column<T>(name).span(), b.column<T>(name).span()));
    });
  }

  /// How many numbers have other bits, and how far the farthest are apart.
  template <class T>
  static std::string number_difference(std::span<const T> a, std::span<const T> b) {
    std::int64_t different = 0;
    std::int64_t without_distance = 0;
    long double most = 0.0L;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::ranges::equal(std::as_bytes(a.subspan(i, 1)), std::as_bytes(b.subspan(i, 1)))) {
        continue;
      }
      ++different;
      const long double distance =
          std::fabs(static_cast<long double>(a[i]) - static_cast<long double>(b[i]));
      if (std::isnan(distance)) {
        ++without_distance;
      } else {
        most = std::max(most, distance);
      }
    }
    std::string text = fmt::format("{} of {} numbers differ, by at most {:.6g}", grouped(different),
                                   grouped(static_cast<std::int64_t>(a.size())), most);
    if (without_distance > 0)
      text += fmt::format("; {} of them are no numbers", grouped(without_distance));
    return text;
  }

  std::string file_;
  std::vector<Difference>& out_;
};

void compare_file(const std::string& file, const CheckpointData& first,
                  const CheckpointData& second, std::vector<Difference>& out) {
  FileDifferences differences(file, out);
  if (!second.has(file)) return differences.add("", kOnlyFirst);
  if (!first.has(file)) return differences.add("", kOnlySecond);
  if (first.files().at(file) == second.files().at(file)) return;
  const std::size_t before = out.size();
  if (file.ends_with(".json")) {
    differences.compare(parsed(first, file), parsed(second, file), "");
  } else if (file.ends_with(".safetensors")) {
    differences.compare(first.tensors(file), second.tensors(file));
  }
  // other kinds of files, and what the same content looks like when it is written another way
  if (out.size() == before) differences.add("", "other bytes");
}

}  // namespace

std::vector<Difference> differences(const CheckpointData& first, const CheckpointData& second) {
  std::set<std::string> names;
  for (const auto& [name, bytes] : first.files()) names.insert(name);
  for (const auto& [name, bytes] : second.files()) names.insert(name);
  std::vector<Difference> out;
  for (const std::string& name : names) compare_file(name, first, second, out);
  return out;
}

}  // namespace knurl
