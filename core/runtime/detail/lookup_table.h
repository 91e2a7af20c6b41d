#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace knurl::runtime::detail {

/// Finds things by number as long as somebody else keeps them alive. Safe from any thread.
template <class T>
class LookupTable {
 public:
  void add(std::uint64_t number, const std::shared_ptr<T>& thing) {
    const std::lock_guard lock(mutex_);
    if (things_.size() >= sweep_size_) {
      std::erase_if(things_, [](const auto& entry) { return entry.second.expired(); });
      sweep_size_ = std::max(kLeastSweep, 2 * things_.size());
    }
    things_.insert_or_assign(number, thing);
  }

  /// Null when there is none by that number.
  [[nodiscard]] std::shared_ptr<T> find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto entry = things_.find(number);
    return entry == things_.end() ? nullptr : entry->second.lock();
  }

  [[nodiscard]] std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> alive;
    for (const auto& [number, thing] : things_) {
      if (std::shared_ptr<T> held = thing.lock()) alive.push_back(std::move(held));
    }
    return alive;
  }

 private:
  static constexpr std::size_t kLeastSweep = 64;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<T>> things_;
  std::size_t sweep_size_ = kLeastSweep;
};

}  // namespace knurl::runtime::detail
