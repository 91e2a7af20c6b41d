#include "knurl/core/base/plugin.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

#include <dlfcn.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "knurl_plugin";

std::vector<fs::path>& loaded() {
  static std::vector<fs::path> paths;
  return paths;
}

fs::path find(const fs::path& path) {
  std::error_code problem;
  fs::path file = fs::canonical(path, problem);
  if (problem) fail(ErrorKind::config, "plug-in {}: no such file", path.string());
  if (!fs::is_regular_file(file)) fail(ErrorKind::config, "plug-in {}: is no file", path.string());
  return file;
}

/// The plug-in that a library says it is. `name` is for messages.
Plugin open(const fs::path& file, const std::string& name) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fail(ErrorKind::config, "plug-in {}: cannot be opened as a shared library: {}", name,
         dlerror());
  }
  void* entry = dlsym(library, kEntry);
  if (!entry) {
    fail(ErrorKind::config,
         "plug-in {}: is a library, but no plug-in of knurl: it defines no extern \"C\" {}() "
         "(knurl/core/base/plugin.h shows one)",
         name, kEntry);
  }
  return reinterpret_cast<decltype(&::knurl_plugin)>(entry)();
}

const char* text_of(bool cxx11_strings, bool debug_containers) {
  if (debug_containers) return cxx11_strings ? "_GLIBCXX_DEBUG" : "_GLIBCXX_DEBUG and old strings";
  return cxx11_strings ? "the usual layouts" : "_GLIBCXX_USE_CXX11_ABI=0";
}

void check_build(const Plugin& plugin, const std::string& name) {
  const Plugin own;
  const std::string_view version = plugin.knurl_version ? plugin.knurl_version : "";
  if (version != own.knurl_version) {
    fail(ErrorKind::config,
         "plug-in {}: was built with knurl {}, this is knurl {}: build it again with this one",
         name, version, own.knurl_version);
  }
  if (plugin.cxx11_strings != own.cxx11_strings ||
      plugin.debug_containers != own.debug_containers) {
    fail(ErrorKind::config,
         "plug-in {}: was built with {} of the standard library, this knurl with {}: build it "
         "with the same flags",
         name, text_of(plugin.cxx11_strings, plugin.debug_containers),
         text_of(own.cxx11_strings, own.debug_containers));
  }
  if (!plugin.register_all) {
    fail(ErrorKind::config, "plug-in {}: registers nothing: {}() gives no register_all", name,
         kEntry);
  }
}

}  // namespace

void load_plugin(const fs::path& path) {
  const fs::path file = find(path);
  if (std::ranges::count(loaded(), file) > 0) return;
  const Plugin plugin = open(file, path.string());
  check_build(plugin, path.string());
  try {
    plugin.register_all();
  } catch (...) {
    fail(ErrorKind::config, "plug-in {}: {}", path.string(), current_exception_text());
  }
  loaded().push_back(file);
}

const std::vector<fs::path>& loaded_plugins() {
  return loaded();
}

}  // namespace knurl
