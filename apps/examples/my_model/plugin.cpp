#include "knurl/core/base/plugin.h"

#include "wave_net.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {.register_all = [] {
    knurl::register_model("wave_net", "learnt waves of the observation", wave_net);
  }};
}
