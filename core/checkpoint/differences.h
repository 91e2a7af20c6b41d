#pragma once

#include <string>
#include <vector>

#include "knurl/core/checkpoint/checkpoint.h"

namespace knurl {

/// One thing that two checkpoints do not have alike.
struct Difference {
  std::string file = {};
  std::string part = {};  ///< a JSON path ("config/lr") or a tensor; empty: the whole file
  std::string text =
      {};  ///< "0.001 and 0.01", "3 of 64 numbers differ, by at most 0.5", "only in the first"

  bool operator==(const Difference&) const = default;
};

/// What two checkpoints differ in, file by file: JSON files along their keys, a list as one thing;
/// safetensors files tensor by tensor, each bit counting; other files as a whole. Nothing where
/// they hold the same. When and by which version they were written does not count. Throws
/// Error(checkpoint) naming a file that is not what its ending says.
std::vector<Difference> differences(const CheckpointData& first, const CheckpointData& second);

}  // namespace knurl
