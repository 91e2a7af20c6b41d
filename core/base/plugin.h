#pragma once

#include <filesystem>
#include <vector>

#include "knurl/core/base/version.h"

namespace knurl {

#ifdef _GLIBCXX_DEBUG
inline constexpr bool kDebugContainers = true;
#else
inline constexpr bool kDebugContainers = false;
#endif

/// What a plug-in is made of: a shared library with one function, in which it registers what it
/// brings,
///
///   extern "C" knurl::Plugin knurl_plugin() {
///     return {.register_all = [] { knurl::register_env<MyEnv>("MyEnv-v0", "what it is about"); }};
///   }
///
/// The other members are left alone: their defaults are compiled into the plug-in and so tell what
/// it was built with. They are read before anything else is trusted: this struct never changes.
struct Plugin {
  const char* knurl_version = kVersion;
  bool cxx11_strings = _GLIBCXX_USE_CXX11_ABI;  ///< the standard library's layouts
  bool debug_containers = kDebugContainers;
  void (*register_all)() = nullptr;
};

/// Opens a plug-in and lets it register what it brings; one that is open already is left as it is.
/// Never closed. Throws Error(config) with the path and the reason: no such file, no library,
/// no plug-in, built for another version of knurl or with other layouts, a name that is taken.
/// Call before anything runs; not thread-safe.
void load_plugin(const std::filesystem::path& path);

/// The plug-ins of this process in the order they were opened, as absolute paths.
const std::vector<std::filesystem::path>& loaded_plugins();

}  // namespace knurl

/// What a plug-in defines. This declaration makes it visible in a library that hides its symbols.
extern "C" [[gnu::visibility("default")]] knurl::Plugin knurl_plugin();
