// The knurl command with an environment of one's own:
//
//   ./build/release/bin/own_env train --run PPO --env Corridor-v0 --stop '{timesteps_total: 20000}'
//   ./build/release/bin/own_env config Corridor-v0

#include "knurl/apps/cli/cli.h"
#include "knurl/apps/examples/corridor.h"
#include "knurl/envs/registry.h"

int main(int argc, char** argv) {
  knurl::register_env<example::Corridor>("Corridor-v0", "walk right to the exit of a corridor");
  return knurl::cli::run(argc, argv);
}
