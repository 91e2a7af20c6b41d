#pragma once

namespace knurl {

/// The version of knurl. CMakeLists.txt reads it from here.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace knurl
