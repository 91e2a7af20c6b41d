#include "knurl/core/config/yaml.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>
// the event interface of yaml-cpp: values are built here, with places and limits
#include <yaml-cpp/eventhandler.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr std::size_t kMostLevels = 64;
constexpr std::size_t kMostValues = 200'000;
constexpr std::uintmax_t kMostBytes = 16U << 20;

bool is_null_text(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

/// Builds a ConfigValue from the events of one document.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& source) : source_(std::make_shared<std::string>(source)) {}

  ConfigValue take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    ConfigValue value;
    value.set_place(place(mark));
    add(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias stands inside the value it names");
    ConfigValue copy = found->second;
    count(copy, mark);
    add(std::move(copy), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!quoted && is_null_text(text)) {
      OnNull(mark, anchor);
    } else {
      add(ConfigValue(ConfigValue::Scalar{text, quoted}, place(mark)), anchor);
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(ConfigValue(ConfigValue::List{}, place(mark)), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(ConfigValue(ConfigValue::Map{}, place(mark)), mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    ConfigValue value;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;  ///< of the entry whose value comes next
    Place key_place;
    std::unordered_set<std::string> keys;
    std::set<std::string> merged;  ///< keys that "<<" brought: the map's own replace them
  };

  [[nodiscard]] Place place(const YAML::Mark& mark) const {
    Place at;
    at.source = source_;
    at.line = mark.line + 1;
    return at;
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    fail(ErrorKind::config, "{}:{}: {}", *source_, mark.line + 1, why);
  }

  void count(const ConfigValue& value, const YAML::Mark& mark) {
    if (++values_ > kMostValues) refuse(mark, fmt::format("more than {} values", kMostValues));
    if (const auto* list = value.list()) {
      for (const ConfigValue& element : *list) count(element, mark);
    } else if (const auto* map = value.map()) {
      for (const auto& entry : *map) count(entry.value, mark);
    }
  }

  void open(ConfigValue value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (levels_.size() >= kMostLevels) {
      refuse(mark, fmt::format("nests deeper than {} levels", kMostLevels));
    }
    levels_.push_back({std::move(value), anchor, std::nullopt, {}, {}, {}});
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    add(std::move(level.value), level.anchor);
  }

  void add(ConfigValue value, YAML::anchor_t anchor) {
    if (++values_ > kMostValues) {
      fail(ErrorKind::config, "{}: more than {} values", value.place().text(), kMostValues);
    }
    if (anchor != 0) anchors_[anchor] = value;
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Level& top = levels_.back(); top.value.list()) {
      top.value.list()->push_back(std::move(value));
    } else if (!top.key) {
      add_key(top, value);
    } else if (*top.key == "<<") {
      merge(top, value);
      top.key.reset();
    } else {
      top.value.map()->push_back(
          {*std::exchange(top.key, std::nullopt), std::move(value), top.key_place});
    }
  }

  void add_key(Level& level, const ConfigValue& key) {
    if (!key.scalar() && !key.is_null()) {
      fail(ErrorKind::config, "{}a key must be a plain name, not {}", key.place().prefix(),
           key.describe());
    }
    level.key = key.is_null() ? "null" : key.scalar()->text;
    level.key_place = key.place();
    if (level.merged.erase(*level.key) > 0) level.value.take(*level.key);
    if (!level.keys.insert(*level.key).second) {
      fail(ErrorKind::config, "{}{}: the key stands twice in the same map", key.place().prefix(),
           *level.key);
    }
  }

  /// "<<: *base": entries of the base that the map does not set itself.
  void merge(Level& level, const ConfigValue& value) {
    if (const auto* list = value.list()) {
      for (const ConfigValue& element : *list) merge(level, element);
      return;
    }
    if (!value.map()) {
      fail(ErrorKind::config, "{}<<: merges a map, not {}", value.place().prefix(),
           value.describe());
    }
    for (const auto& entry : *value.map()) {
      if (level.value.find(entry.key)) continue;
      level.value.map()->push_back(entry);
      level.merged.insert(entry.key);
    }
  }

  std::shared_ptr<const std::string> source_;
  ConfigValue root_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, ConfigValue> anchors_;
  std::size_t values_ = 0;
};

nlohmann::ordered_json json_of(const ConfigValue& value) {
  if (value.is_null()) return nullptr;
  if (const auto* list = value.list()) {
    auto out = nlohmann::ordered_json::array();
    for (const ConfigValue& element : *list) out.push_back(json_of(element));
    return out;
  }
  if (const auto* map = value.map()) {
    auto out = nlohmann::ordered_json::object();
    for (const auto& entry : *map) out[entry.key] = json_of(entry.value);
    return out;
  }
  if (const auto flag = value.as_bool()) return *flag;
  if (const auto whole = value.as_int()) return *whole;
  if (const auto number = value.as_double(); number && std::isfinite(*number)) return *number;
  return value.scalar()->text;
}

/// The text needs quotes to stay text: it would read as something else, or as YAML syntax.
bool needs_quotes(const std::string& text) {
  const ConfigValue plain(ConfigValue::Scalar{text, false});
  if (is_null_text(text) || plain.as_bool() || plain.as_double()) return true;
  if (text.front() == ' ' || text.back() == ' ' || text.front() == '-' || text == "<<") return true;
  return text.find_first_of(":#{}[],&*!|>'\"%@`?\\\n\t\r") != std::string::npos;
}

std::string yaml_scalar(const ConfigValue::Scalar& scalar) {
  if (!scalar.quoted || !needs_quotes(scalar.text)) return scalar.text;
  return nlohmann::json(scalar.text).dump();  // a JSON string is a double-quoted YAML scalar
}

bool all_scalars(const ConfigValue::List& list) {
  for (const ConfigValue& element : list) {
    if (element.map() || (element.list() && !all_scalars(*element.list()))) return false;
  }
  return true;
}

std::string flow(const ConfigValue& value) {
  if (value.is_null()) return "null";
  if (const auto* scalar = value.scalar()) return yaml_scalar(*scalar);
  std::string out = "[";
  for (const ConfigValue& element : *value.list()) {
    if (out.size() > 1) out += ", ";
    out += flow(element);
  }
  return out + "]";
}

void write_block(const ConfigValue& value, int indent, std::string& out);

/// What follows "key:" or "-": on the same line where it fits, else as a block below.
void write_after_mark(const ConfigValue& value, int indent, std::string& out) {
  const bool empty_map = value.map() && value.map()->empty();
  if (empty_map) {
    out += " {}\n";
  } else if (value.map() || (value.list() && !all_scalars(*value.list()))) {
    out += "\n";
    write_block(value, indent + 2, out);
  } else {
    out += " " + flow(value) + "\n";
  }
}

void write_block(const ConfigValue& value, int indent, std::string& out) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (const auto* map = value.map(); map && !map->empty()) {
    for (const auto& entry : *map) {
      out += margin + yaml_scalar({entry.key, true}) + ":";
      write_after_mark(entry.value, indent, out);
    }
  } else if (const auto* list = value.list(); list && !all_scalars(*list)) {
    for (const ConfigValue& element : *list) {
      out += margin + "-";
      write_after_mark(element, indent, out);
    }
  } else {
    out += margin + (map ? "{}" : flow(value)) + "\n";
  }
}

}  // namespace

ConfigValue parse_yaml(std::string_view text, const std::string& source) {
  if (text.find('\0') != std::string_view::npos) {
    fail(ErrorKind::config, "{}: not a text file", source);
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(source);
    if (!parser.HandleNextDocument(builder)) fail(ErrorKind::config, "{}: is empty", source);
    ConfigValue root = builder.take_root();
    Builder rest(source);
    if (parser.HandleNextDocument(rest)) {
      fail(ErrorKind::config, "{}: holds more than one document", source);
    }
    return root;
  } catch (const YAML::Exception& error) {
    const bool tab = text.find("\n\t") != std::string_view::npos;
    fail(ErrorKind::config, "{}:{}: not YAML: {}{}", source, error.mark.line + 1, error.msg,
         tab ? " (a line begins with a tab; YAML indents with spaces)" : "");
  }
}

ConfigValue read_yaml_file(const std::filesystem::path& path) {
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) {
    fail(ErrorKind::config, "{}: no such file", path.string());
  }
  if (std::filesystem::is_directory(status)) {
    fail(ErrorKind::config, "{}: is a directory, not a YAML file", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::config, "{}: cannot be read: {}", path.string(), std::strerror(errno));
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    fail(ErrorKind::config, "{}: is larger than {} MiB", path.string(), kMostBytes >> 20);
  }
  return parse_yaml(text, path.string());
}

std::string to_yaml(const ConfigValue& value) {
  std::string out;
  write_block(value, 0, out);
  return out;
}

std::string to_json(const ConfigValue& value) {
  return json_of(value).dump();
}

}  // namespace knurl
