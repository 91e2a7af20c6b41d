#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "knurl/envs/env.h"
#include "knurl/envs/picture/files.h"
#include "knurl/envs/vector_env.h"

namespace knurl::detail {

/// Records episodes of one env. Files get their names when they are whole. What goes wrong is
/// warned of once, and ends the recording of that episode, nothing else.
class EpisodeRecorder {
 public:
  /// `env` is its index in the whole run.
  EpisodeRecorder(const Recording& recording, int env) : recording_(recording), env_(env) {}
  EpisodeRecorder(const EpisodeRecorder&) = delete;
  EpisodeRecorder& operator=(const EpisodeRecorder&) = delete;
  ~EpisodeRecorder() { drop(); }

  /// An episode has begun; one that has not ended is dropped.
  void start(std::int64_t episode, const Env& env);
  /// A step was taken, the last one where the episode has ended.
  void step(const Env& env, bool ended);
  /// Forgets the running episode.
  void drop();

 private:
  [[nodiscard]] bool wanted(std::int64_t episode) const;
  void add_picture(const Env& env);
  void finish();
  /// The file or folder of the running episode before it has its name.
  [[nodiscard]] std::filesystem::path unfinished(const char* extension) const;
  [[nodiscard]] bool makes(RecordingFormat format) const {
    return recording_.options.format == format ||
           recording_.options.format == RecordingFormat::both;
  }
  template <class Body>
  void attempt(Body body);

  Recording recording_;
  int env_;
  bool running_ = false;
  std::string name_;  ///< of the running episode
  std::int64_t steps_ = 0;
  std::int64_t pictures_ = 0;
  Image first_;  ///< whose size all have
  std::optional<GifWriter> gif_;
};

/// Removes what a process that was killed left unfinished of a batch's recordings.
void remove_unfinished(const Recording& recording);

}  // namespace knurl::detail
