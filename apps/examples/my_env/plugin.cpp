#include "knurl/core/base/plugin.h"

#include "knurl/envs/registry.h"
#include "windy_walk.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {.register_all = [] {
    knurl::register_env<WindyWalk>("WindyWalk-v0", "walk to the end of a line against the wind");
  }};
}
