// A plug-in whose env has the name of another.
#include "knurl/apps/examples/corridor.h"
#include "knurl/core/base/plugin.h"
#include "knurl/envs/registry.h"

extern "C" knurl::Plugin knurl_plugin() {
  return {.register_all = [] {
    knurl::register_env<example::Corridor>("CartPole-v1", "not the pole on the cart");
  }};
}
