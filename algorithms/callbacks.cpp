#include "knurl/algorithms/callbacks.h"

#include <mutex>

#include "knurl/core/config/schema.h"

namespace knurl {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CallbacksEntry, std::less<>> entries;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_callbacks(CallbacksEntry entry) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::string name = entry.name;
  const std::type_index type = entry.type;
  const auto [known, added] = all.entries.emplace(name, std::move(entry));
  if (!added && known->second.type != type) {
    fail(ErrorKind::config, "the callbacks' name {} is another class's", name);
  }
}

CallbacksEntry find_callbacks(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.entries.find(name); found != all.entries.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [each, entry] : all.entries) names.push_back(each);
  fail(ErrorKind::config, "callbacks {}: no class is registered under this name{}", name,
       did_you_mean(name, names));
}

std::unique_ptr<Callbacks> make_callbacks(const std::optional<std::string>& name) {
  if (!name) return nullptr;
  std::unique_ptr<Callbacks> out;
  const CallbacksEntry entry = find_callbacks(*name);
  call_back([&] { return fmt::format("callbacks {}: constructor", *name); },
            [&] { out = entry.make(); });
  return out;
}

void detail::rethrow_from_callback(const std::string& where) {
  try {
    throw;
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", where, error.what());
  } catch (...) {
    fail(ErrorKind::env, "{}: {}", where, current_exception_text());
  }
}

}  // namespace knurl
