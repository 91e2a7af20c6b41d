// A plug-in that was built with the other layouts of std::string.
#include "knurl/core/base/plugin.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {.cxx11_strings = !knurl::Plugin().cxx11_strings, .register_all = [] {}};
}
