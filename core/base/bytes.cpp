#include "knurl/core/base/bytes.h"

namespace knurl {

// not inline: g++ 12 warns falsely of an overflow where it sees that the vector is empty
void ByteWriter::write_bytes(const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), begin, begin + size);
}

}  // namespace knurl
