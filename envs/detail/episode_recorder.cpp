#include "knurl/envs/detail/episode_recorder.h"

#include <atomic>
#include <cmath>
#include <system_error>

#include "knurl/core/base/log.h"

namespace knurl::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnfinished = ".unfinished";
/// Of an episode: what comes after them is left out.
constexpr std::int64_t kMostPictures = 20'000;

/// Tells of the first recording that fails; the next one's error has another file's name.
void warn_of_first(const std::string& recording, const std::string& reason) {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  log(LogLevel::warning, "{} could not be recorded; the run goes on: {}", recording, reason);
}

}  // namespace

/// Does something of a recording; where it fails, the recording is over.
template <class Body>
void EpisodeRecorder::attempt(Body body) {
  try {
    body();
  } catch (...) {
    warn_of_first(name_, current_exception_text());
    drop();
  }
}

bool EpisodeRecorder::wanted(std::int64_t episode) const {
  const RecordEpisode& options = recording_.options;
  if (episode % options.every != 0) return false;
  if (recording_.num_episodes && episode >= *recording_.num_episodes) return false;
  return !options.max_episodes || episode / options.every < *options.max_episodes;
}

fs::path EpisodeRecorder::unfinished(const char* extension) const {
  return recording_.directory / fmt::format(".{}{}{}", name_, extension, kUnfinished);
}

void EpisodeRecorder::start(std::int64_t episode, const Env& env) {
  drop();
  if (!wanted(episode)) return;
  attempt([&] {
    name_ = fmt::format("{}_episode_{:06}_worker_{}_env_{}", recording_.label, episode,
                        recording_.worker, env_);
    running_ = true;
    steps_ = 0;
    pictures_ = 0;
    first_ = env.render_rgb();
    if (first_.empty()) {
      fail(ErrorKind::env, "the env has no picture; give it render() or render_rgb()");
    }
    fs::create_directories(recording_.directory);
    if (makes(RecordingFormat::png)) {
      fs::remove_all(unfinished(""));
      fs::create_directory(unfinished(""));
    }
    if (makes(RecordingFormat::gif)) {
      constexpr double kHundredths = 100.0;
      const auto delay = static_cast<int>(std::lround(kHundredths / recording_.options.fps));
      gif_.emplace(
          unfinished(".gif"),
          GifWriter::Options{.width = first_.width, .height = first_.height, .delay = delay});
    }
    add_picture(env);
  });
}

void EpisodeRecorder::step(const Env& env, bool ended) {
  if (!running_) return;
  ++steps_;
  attempt([&] {
    if (ended || steps_ % recording_.options.frame_step == 0) add_picture(env);
    if (ended) finish();
  });
}

void EpisodeRecorder::add_picture(const Env& env) {
  if (pictures_ >= kMostPictures) {
    warn_once(
        fmt::format("of an episode the first {} pictures are recorded; a larger frame_step "
                    "shows more of it",
                    kMostPictures));
    return;
  }
  ++pictures_;
  Image image = steps_ == 0 ? first_ : env.render_rgb();
  if (image.width != first_.width || image.height != first_.height) {
    image = resized(image, first_.width, first_.height, {255, 255, 255});
  }
  if (makes(RecordingFormat::png)) {
    write_png(unfinished("") / fmt::format("step_{:06}.png", steps_), image);
  }
  if (gif_) gif_->add(image);
}

/// A recording of the same name, from before a run was resumed, gives way.
void EpisodeRecorder::finish() {
  if (gif_) {
    gif_->close();
    fs::rename(unfinished(".gif"), recording_.directory / (name_ + ".gif"));
  }
  if (makes(RecordingFormat::png)) {
    const fs::path folder = recording_.directory / name_;
    fs::remove_all(folder);
    fs::rename(unfinished(""), folder);
  }
  running_ = false;
  gif_.reset();
}

void EpisodeRecorder::drop() {
  if (!running_) return;
  running_ = false;
  gif_.reset();
  std::error_code ignored;  // it is why we are here, or will be seen again
  if (makes(RecordingFormat::png)) fs::remove_all(unfinished(""), ignored);
  if (makes(RecordingFormat::gif)) fs::remove(unfinished(".gif"), ignored);
}

void remove_unfinished(const Recording& recording) {
  std::error_code problem;
  const std::string begin = fmt::format(".{}_", recording.label);
  const std::string worker = fmt::format("_worker_{}_", recording.worker);
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(recording.directory, problem)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(begin) && name.ends_with(kUnfinished) &&
        name.find(worker) != std::string::npos) {
      found.push_back(entry.path());
    }
  }
  for (const fs::path& path : found) fs::remove_all(path, problem);
}

}  // namespace knurl::detail
