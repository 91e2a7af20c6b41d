#include "knurl/apps/cli/cli.h"
#include "wave_net.h"

int main(int argc, char** argv) {
  knurl::register_model("wave_net", "learnt waves of the observation", wave_net);
  return knurl::cli::run(argc, argv);
}
