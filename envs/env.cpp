#include "knurl/envs/env.h"

#include <set>

namespace knurl {

Image Env::render_rgb() const {
  return text_image(render());
}

void check_spec(const EnvSpec& spec) {
  if (spec.max_episode_steps && *spec.max_episode_steps < 1) {
    fail(ErrorKind::env, "max_episode_steps = {}: must be at least 1", *spec.max_episode_steps);
  }
  std::set<std::string> seen;
  for (const std::string& name : spec.info) {
    if (name.empty()) fail(ErrorKind::env, "an info number has no name");
    if (!seen.insert(name).second) fail(ErrorKind::env, "two info numbers are called {}", name);
  }
}

}  // namespace knurl
