#include "knurl/core/metrics/system_usage.h"

#include <fstream>
#include <sstream>
#include <string>

namespace knurl {

SystemUsage::SystemUsage() : last_(cpu_time()) {}

std::optional<SystemUsage::Percent> SystemUsage::measure() {
  const std::optional<CpuTime> now = cpu_time();
  const std::optional<double> ram = ram_percent();
  if (!now || !last_ || !ram) return std::nullopt;
  const std::int64_t total = now->total - last_->total;
  const std::int64_t busy = now->busy - last_->busy;
  last_ = now;
  return Percent{
      .cpu = total > 0 ? 100.0 * static_cast<double>(busy) / static_cast<double>(total) : 0.0,
      .ram = *ram};
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal.
std::optional<SystemUsage::CpuTime> SystemUsage::cpu_time() {
  std::ifstream file("/proc/stat");
  std::string label;
  CpuTime out;
  if (!(file >> label)) return std::nullopt;
  for (int column = 0; column < 8; ++column) {
    std::int64_t ticks = 0;
    if (!(file >> ticks)) return std::nullopt;
    out.total += ticks;
    const bool idle = column == 3 || column == 4;
    if (!idle) out.busy += ticks;
  }
  return out;
}

std::optional<double> SystemUsage::ram_percent() {
  std::ifstream file("/proc/meminfo");
  double total = 0.0;
  double available = 0.0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double kilobytes = 0.0;
    words >> name >> kilobytes;
    if (name == "MemTotal:") total = kilobytes;
    if (name == "MemAvailable:") available = kilobytes;
  }
  if (total <= 0.0) return std::nullopt;
  return 100.0 * (1.0 - available / total);
}

}  // namespace knurl
