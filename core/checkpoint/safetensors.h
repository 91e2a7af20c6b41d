#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/data/record_batch.h"

namespace knurl {

/// The columns of a batch of one row as a safetensors file (the format of the Hugging Face library
/// of that name: 8 bytes of header length, a JSON header, the tensors' bytes).
std::vector<std::byte> to_safetensors(const RecordBatch& tensors);

/// The tensors of such a file as the columns of a batch of one row, in the order of the file.
/// `source` names it in messages. Throws Error(checkpoint) for anything else.
RecordBatch from_safetensors(std::span<const std::byte> bytes, const std::string& source);

}  // namespace knurl
