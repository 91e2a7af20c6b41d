// A plug-in that was built with another knurl.
#include "knurl/core/base/plugin.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {.knurl_version = "0.0.9", .register_all = [] {}};
}
