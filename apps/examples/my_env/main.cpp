#include "knurl/apps/cli/cli.h"
#include "knurl/envs/registry.h"
#include "windy_walk.h"

int main(int argc, char** argv) {
  knurl::register_env<WindyWalk>("WindyWalk-v0", "walk to the end of a line against the wind");
  return knurl::cli::run(argc, argv);
}
