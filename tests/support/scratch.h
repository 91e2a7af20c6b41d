#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace knurl {

/// A new empty directory that is removed in the end. None that another process has left is met.
class Scratch {
 public:
  Scratch() {
    std::string name =
        std::filesystem::canonical(std::filesystem::temp_directory_path()) / "knurl-test-XXXXXX";
    if (!::mkdtemp(name.data())) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace knurl
