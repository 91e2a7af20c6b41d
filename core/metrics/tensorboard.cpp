#include "knurl/core/metrics/tensorboard.h"

#include <array>
#include <bit>
#include <chrono>
#include <climits>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"

namespace knurl {
namespace tfevents {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie there");

constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
constexpr std::size_t kFooterBytes = sizeof(std::uint32_t);

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82F63B78U;  // the polynomial, lowest power first
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kCastagnoli : 0U);
    table[byte] = crc;
  }
  return table;
}

template <class T>
void append_number(std::string& out, T number) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &number, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof(T));
  return number;
}

/// A message of protocol buffers while it is put together. Each value stands behind a key: the
/// field's number and how the value is written.
class Message {
 public:
  void add(unsigned field, double value) {
    key(field, 1);
    append_number(bytes_, value);
  }
  void add(unsigned field, float value) {
    key(field, 5);
    append_number(bytes_, value);
  }
  void add(unsigned field, std::uint64_t value) {
    key(field, 0);
    varint(value);
  }
  void add(unsigned field, std::string_view bytes) {
    key(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
  }
  void add(unsigned field, const Message& message) { add(field, std::string_view(message.bytes_)); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void key(unsigned field, unsigned wire_type) { varint(field << 3U | wire_type); }
  /// Seven bits a byte, lowest first; the highest bit says that more follow.
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// fields of the messages Event, Summary and Summary.Value
constexpr unsigned kWallTime = 1;
constexpr unsigned kStep = 2;
constexpr unsigned kFileVersion = 3;
constexpr unsigned kSummary = 5;
constexpr unsigned kValue = 1;
constexpr unsigned kTag = 1;
constexpr unsigned kSimpleValue = 2;

std::string framed(const std::string& data) {
  std::string out;
  append_number(out, static_cast<std::uint64_t>(data.size()));
  append_number(out, masked_crc32c(out));
  out += data;
  append_number(out, masked_crc32c(data));
  return out;
}

/// The length of the record that begins at a place; nothing where it is cut off or damaged.
std::optional<std::size_t> record_size(std::string_view file, std::size_t at) {
  if (file.size() - at < kHeaderBytes) return std::nullopt;
  const auto length = number_at<std::uint64_t>(file, at);
  const auto checksum = number_at<std::uint32_t>(file, at + sizeof(length));
  if (checksum != masked_crc32c(file.substr(at, sizeof(length)))) return std::nullopt;
  const std::size_t left = file.size() - at - kHeaderBytes;
  if (left < kFooterBytes || length > left - kFooterBytes) return std::nullopt;
  return kHeaderBytes + length + kFooterBytes;
}

/// The step of an event as record_of writes it: behind the wall time. 0 where it has none.
std::int64_t step_of(std::string_view event) {
  constexpr std::size_t kKeyAt = 1 + sizeof(double);
  if (event.size() <= kKeyAt || event[kKeyAt] != static_cast<char>(kStep << 3U)) return 0;
  std::uint64_t step = 0;
  unsigned shift = 0;
  for (std::size_t at = kKeyAt + 1; at < event.size() && shift < 64; ++at, shift += 7) {
    const auto byte = static_cast<std::uint8_t>(event[at]);
    step |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80U) break;
  }
  return static_cast<std::int64_t>(step);
}

/// Whether a number makes a curve.
bool has_curve(const std::string& name) {
  return name != "pid" && name != "timestamp";
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = crc_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<std::uint8_t>(c)) & 0xFFU] ^ (crc >> 8U);
  }
  return std::rotr(~crc, 15) + 0xA282EAD8U;
}

std::string first_record(double wall_time) {
  Message event;
  event.add(kWallTime, wall_time);
  event.add(kFileVersion, std::string_view("brain.Event:2"));
  return framed(event.bytes());
}

std::string record_of(const Result& result, double wall_time) {
  Message summary;
  for (const Result::Entry& entry : result.entries()) {
    const std::optional<double> number = Result::number_of(entry.value);
    if (!number || !has_curve(entry.name)) continue;
    Message value;
    value.add(kTag, std::string_view("ray/tune/" + entry.name));
    value.add(kSimpleValue, static_cast<float>(*number));
    summary.add(kValue, value);
  }
  const std::optional<double> steps = result.number("timesteps_total");
  const double step = steps ? *steps : result.number("training_iteration").value_or(0.0);
  Message event;
  event.add(kWallTime, wall_time);
  event.add(kStep, static_cast<std::uint64_t>(step));
  event.add(kSummary, summary);
  return framed(event.bytes());
}

}  // namespace tfevents

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";

/// How much of an event file stays when what comes after a step is cut.
struct Kept {
  std::size_t bytes = 0;
  int records = 0;
};

Kept kept_until(std::string_view file, std::int64_t last_step) {
  Kept kept;
  while (const auto size = tfevents::record_size(file, kept.bytes)) {
    const std::string_view event =
        file.substr(kept.bytes + tfevents::kHeaderBytes,
                    *size - tfevents::kHeaderBytes - tfevents::kFooterBytes);
    if (tfevents::step_of(event) > last_step) break;
    kept.bytes += *size;
    ++kept.records;
  }
  return kept;
}

/// A name that sorts behind those of the files before and is not taken.
fs::path new_event_file(const fs::path& directory, double wall_time) {
  char host[HOST_NAME_MAX + 1] = {};
  ::gethostname(host, HOST_NAME_MAX);
  const std::string name =
      fmt::format("{}{}.{}", kPrefix, static_cast<std::int64_t>(wall_time), host);
  fs::path path = directory / name;
  for (int number = 1; fs::exists(path); ++number) {
    path = directory / fmt::format("{}.{}", name, number);
  }
  return path;
}

}  // namespace

void TensorboardSink::write(const Result& result) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string records;
  if (path_.empty()) {
    path_ = new_event_file(directory_, now);
    records = tfevents::first_record(now);
  }
  append_to_file(path_, records + tfevents::record_of(result, now));
}

void cut_events(const fs::path& directory, std::int64_t last_step) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const std::string file = read_text_file(entry.path());
    const Kept kept = kept_until(file, last_step);
    if (kept.records == 0) continue;  // not of ours
    if (kept.records == 1) {          // that with which files begin
      fs::remove(entry.path());
    } else if (kept.bytes < file.size()) {
      fs::resize_file(entry.path(), kept.bytes);
    }
  }
}

}  // namespace knurl
