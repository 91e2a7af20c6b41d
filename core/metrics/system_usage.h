#pragma once

#include <cstdint>
#include <optional>

namespace knurl {

/// How busy the machine is, as RLlib's "perf" reports it. Reads /proc; where that is missing there
/// are no numbers.
class SystemUsage {
 public:
  SystemUsage();

  struct Percent {
    double cpu = 0.0;  ///< of all CPUs, since the last call
    double ram = 0.0;  ///< in use now
  };
  std::optional<Percent> measure();

 private:
  struct CpuTime {
    std::int64_t busy = 0;
    std::int64_t total = 0;
  };
  static std::optional<CpuTime> cpu_time();
  static std::optional<double> ram_percent();

  std::optional<CpuTime> last_;
};

}  // namespace knurl
