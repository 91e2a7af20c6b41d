#include "knurl/core/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kTypes{
    std::pair{DType::boolean, "BOOL"}, std::pair{DType::uint8, "U8"},
    std::pair{DType::int32, "I32"},    std::pair{DType::int64, "I64"},
    std::pair{DType::float32, "F32"},  std::pair{DType::float64, "F64"},
};

const char* type_name(DType dtype) {
  return std::ranges::find(kTypes, dtype, [](const auto& type) { return type.first; })->second;
}

/// A tensor as the header describes it.
struct Described {
  ColumnSpec column;
  std::size_t begin = 0;
  std::size_t end = 0;
};

Described describe(const std::string& name, const Json& entry) {
  Described out;
  out.column.name = name;
  const auto dtype = entry.at("dtype").get<std::string>();
  const auto known = std::ranges::find(kTypes, dtype, [](const auto& type) { return type.second; });
  if (known == kTypes.end()) throw std::runtime_error("type " + dtype + " is not known");
  out.column.dtype = known->first;
  out.column.row_shape = entry.at("shape").get<Shape>();
  out.begin = entry.at("data_offsets").at(0).get<std::size_t>();
  out.end = entry.at("data_offsets").at(1).get<std::size_t>();
  return out;
}

}  // namespace

std::vector<std::byte> to_safetensors(const RecordBatch& tensors) {
  check(tensors.rows() == 1, "tensors are the columns of one row");
  Json header = Json::object();
  std::size_t offset = 0;
  for (std::size_t i = 0; i < tensors.columns().size(); ++i) {
    const ColumnSpec& column = tensors.columns()[i];
    header[column.name] = {{"dtype", type_name(column.dtype)},
                           {"shape", column.row_shape},
                           {"data_offsets", {offset, offset + tensors.row_bytes(i)}}};
    offset += tensors.row_bytes(i);
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors start aligned

  ByteWriter out;
  write(out, static_cast<std::uint64_t>(text.size()));
  out.write_bytes(text.data(), text.size());
  for (std::size_t i = 0; i < tensors.columns().size(); ++i) {
    out.write_bytes(tensors.data(i), tensors.row_bytes(i));
  }
  return out.take_bytes();
}

RecordBatch from_safetensors(std::span<const std::byte> bytes, const std::string& source) {
  try {
    ByteReader in(bytes);
    const auto length = read<std::uint64_t>(in);
    if (length > in.remaining()) throw std::runtime_error("the header is cut off");
    const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof(length);
    const Json header = Json::parse(text, text + length);
    const std::span<const std::byte> data = bytes.subspan(sizeof(length) + length);

    std::vector<Described> tensors;
    std::vector<ColumnSpec> columns;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      tensors.push_back(describe(name, entry));
      columns.push_back(tensors.back().column);
    }
    // sizes first: nothing is allocated for a header that promises too much
    for (const Described& tensor : tensors) {
      std::size_t size = size_of(tensor.column.dtype);
      for (const std::int64_t n : tensor.column.row_shape) {
        if (n < 0 || (n > 0 && size > data.size() / static_cast<std::size_t>(n))) {
          throw std::runtime_error("tensor " + tensor.column.name + " is larger than the file");
        }
        size *= static_cast<std::size_t>(n);
      }
      if (tensor.begin > tensor.end || tensor.end > data.size() ||
          tensor.end - tensor.begin != size) {
        throw std::runtime_error("tensor " + tensor.column.name + " lies outside the file");
      }
    }
    RecordBatch out(std::move(columns), 1);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      std::memcpy(out.data(i), data.data() + tensors[i].begin, tensors[i].end - tensors[i].begin);
    }
    return out;
  } catch (const std::exception& error) {
    fail(ErrorKind::checkpoint, "{}: not a safetensors file: {}", source, error.what());
  }
}

}  // namespace knurl
