// A plug-in that forgot what it is for.
#include "knurl/core/base/plugin.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {};
}
