// A sound plug-in with a sound env.
#include "knurl/apps/examples/corridor.h"

#include "knurl/core/base/plugin.h"
#include "knurl/envs/registry.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {.register_all = [] {
    knurl::register_env<example::Corridor>("Corridor-v0", "walk right to the exit of a corridor");
  }};
}
