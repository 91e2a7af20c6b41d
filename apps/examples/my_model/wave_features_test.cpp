#include "wave_features.h"

#include <cstdio>

#include "knurl/models/check_layer.h"

int main() {
  const auto broken = knurl::check_layer(WaveFeatures(3, 5));
  for (const auto& promise : broken) std::printf("%s\n", promise.c_str());
  return broken.empty() ? 0 : 1;
}
