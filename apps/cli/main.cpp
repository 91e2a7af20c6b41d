#include "knurl/apps/cli/cli.h"

int main(int argc, char** argv) {
  return knurl::cli::run(argc, argv);
}
