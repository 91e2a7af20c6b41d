#include "knurl/core/tune/trial.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "knurl/core/base/clock.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"
#include "knurl/core/metrics/sinks.h"
#include "knurl/core/metrics/system_usage.h"
#include "knurl/core/metrics/tensorboard.h"

namespace knurl::tune {
namespace {

namespace fs = std::filesystem;

/// How much training an iteration that fails or never ends may lose, beside itself.
constexpr double kKeepStateSeconds = 2.0;

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, HOST_NAME_MAX);
  return name;
}

/// A state from before the running iteration.
struct KeptState {
  std::int64_t iteration;
  fs::path directory;  ///< the checkpoint that it would be
  CheckpointData state;
};

/// Makes it a checkpoint, where there is none as yet. False where that fails, which is logged.
bool write_kept(const KeptState& kept, LogLevel level_of_failures) {
  try {
    if (!fs::exists(kept.directory)) write_checkpoint(kept.directory, kept.state);
    return true;
  } catch (...) {
    log(level_of_failures, "{}", current_exception_text());
    return false;
  }
}

/// What every trainable reports alike.
void add_process_facts(Result& result, const std::string& trial) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  result.set("date", fmt::format("{:%Y-%m-%d_%H-%M-%S}", fmt::localtime(now)));
  result.set("timestamp", static_cast<std::int64_t>(now));
  result.set("pid", static_cast<std::int64_t>(::getpid()));
  result.set("hostname", host_name());
  result.set("node_ip", "127.0.0.1");
  result.set("trial_id", trial);
}

class TrialLoop {
 public:
  TrialLoop(Trainable& trainable, const TrialOptions& options, Interrupt* interrupt,
            TrialObserver& observer)
      : trainable_(trainable),
        options_(options),
        interrupt_(interrupt),
        observer_(observer),
        checkpoints_(options.directory, options.checkpoints, trainable.metric_names()),
        json_(options.directory / "result.json"),
        csv_(options.directory / "progress.csv"),
        events_(options.directory) {}

  TrialOutcome run() {
    try {
      return train_to_the_end();
    } catch (...) {
      if (interrupt_) interrupt_->set_emergency({});
      save_kept_state();
      throw;
    }
  }

 private:
  TrialOutcome train_to_the_end() {
    TrialOutcome outcome;
    while (outcome.reason.empty()) {
      keep_state();
      outcome.last = iterate();
      outcome.signal = interrupt_ ? interrupt_->signal() : std::nullopt;
      if (const auto met = options_.stop.met_by(outcome.last, trainable_.metric_names())) {
        outcome.reason = *met;
        outcome.signal.reset();  // it was over anyway
      } else if (outcome.signal) {
        outcome.reason = *outcome.signal == SIGINT ? "interrupted" : "terminated";
      }
      finish_iteration(outcome);
    }
    if (interrupt_) interrupt_->set_emergency({});
    outcome.last_checkpoint = checkpoints_.last();
    outcome.best_checkpoint = best_checkpoint();
    return outcome;
  }

  Result iterate() {
    Result result = trainable_.train();
    add_process_facts(result, options_.directory.filename().string());
    if (const auto usage = usage_.measure()) {
      result.set("perf/cpu_util_percent", usage->cpu);
      result.set("perf/ram_util_percent", usage->ram);
    }
    return result;
  }

  void finish_iteration(TrialOutcome& outcome) {
    const bool over = !outcome.reason.empty();
    outcome.last.set("done", over);
    json_.write(outcome.last);
    csv_.write(outcome.last);
    events_.write(outcome.last);
    const std::int64_t iteration = trainable_.iteration();
    const int frequency = options_.checkpoints.checkpoint_frequency;
    const bool due = (frequency > 0 && iteration % frequency == 0) || outcome.signal ||
                     (over && options_.checkpoints.checkpoint_at_end);
    if (due) {
      const fs::path written = checkpoints_.write(trainable_.save_state(), iteration, outcome.last);
      log(LogLevel::info, "{} is written", written.string());
    }
    observer_.on_result(outcome.last);
  }

  /// What fails, or a signal that finds an iteration which does not end, a long or a hung one, must
  /// not cost all that came before: a state from then is written instead.
  void keep_state() {
    const double now = steady_seconds();
    if (state_kept_at_ && now - *state_kept_at_ < kKeepStateSeconds) return;
    state_kept_at_ = now;
    const std::int64_t iteration = trainable_.iteration();
    kept_ = std::make_shared<const KeptState>(
        KeptState{.iteration = iteration,
                  .directory = options_.directory / checkpoint_name(iteration),
                  .state = trainable_.save_state()});
    if (interrupt_)
      interrupt_->set_emergency([kept = kept_] { write_kept(*kept, LogLevel::error); });
  }

  /// Where it is of later than the last checkpoint.
  void save_kept_state() {
    if (!kept_ || kept_->iteration == 0) return;
    const auto last = checkpoints_.last();
    if (last && *last >= kept_->directory) return;
    // what failed may be the disk, and then is said already
    if (write_kept(*kept_, LogLevel::info)) {
      log(LogLevel::warning, "{} holds the state of iteration {}, from before what failed",
          kept_->directory.string(), kept_->iteration);
    }
  }

  /// By the score that was asked for, else by the trainable's own.
  [[nodiscard]] std::optional<fs::path> best_checkpoint() const {
    const CheckpointOptions& options = options_.checkpoints;
    const bool asked = options.checkpoint_score_attribute.given();
    const auto best = asked ? checkpoints_.best(*options.checkpoint_score_attribute,
                                                options.checkpoint_score_order)
                            : checkpoints_.best(trainable_.metric_names().score(), ScoreOrder::max);
    return best ? best : checkpoints_.last();
  }

  Trainable& trainable_;
  const TrialOptions& options_;
  Interrupt* interrupt_;
  TrialObserver& observer_;
  TrialCheckpoints checkpoints_;
  JsonSink json_;
  CsvSink csv_;
  TensorboardSink events_;
  SystemUsage usage_;
  std::optional<double> state_kept_at_;
  std::shared_ptr<const KeptState> kept_;
};

}  // namespace

const std::vector<MetricInfo>& trial_facts() {
  static const std::vector<MetricInfo> facts{
      {"date", {}, "when the iteration ended, in local time"},
      {"timestamp", {}, "when the iteration ended, in seconds since 1970"},
      {"pid", {}, "number of the process that trains"},
      {"hostname", {}, "name of the machine that trains"},
      {"node_ip", {}, "address of the machine that trains, as RLlib reports it: always 127.0.0.1"},
      {"trial_id", {}, "name of the trial's directory"},
      {"done", {}, "whether this was the run's last iteration"},
  };
  return facts;
}

fs::path make_trial_directory(const fs::path& experiment, const std::string& name) {
  std::string safe;
  for (const char c : name) {
    const bool plain = static_cast<unsigned char>(c) >= 0x80 || std::isalnum(c) ||
                       std::string_view("-_.=,").find(c) != std::string_view::npos;
    safe += plain ? c : '_';
  }
  constexpr std::size_t kMostBytes = 120;  // leaves room for a number
  safe = cut_to_bytes(safe, kMostBytes);
  try {
    fs::create_directories(experiment);
    for (int number = 0;; ++number) {
      const fs::path directory =
          experiment / (number == 0 ? safe : fmt::format("{}_{}", safe, number));
      if (fs::create_directory(directory)) return directory;
    }
  } catch (const fs::filesystem_error& error) {
    fail(ErrorKind::io, "{}: cannot be made: {}", error.path1().string(), error.code().message());
  }
}

TrialOutcome run_trial(Trainable& trainable, const TrialOptions& options, Interrupt* interrupt,
                       TrialObserver& observer) {
  try {
    return TrialLoop(trainable, options, interrupt, observer).run();
  } catch (...) {
    const std::string text = current_exception_text();
    try {
      replace_text_file(options.directory / "error.txt", text + "\n");
    } catch (const Error& error) {
      log(LogLevel::error, "{}", error.what());
    }
    throw;
  }
}

FoundCheckpoint find_checkpoint(const fs::path& path) {
  if (!fs::is_directory(path)) {
    fail(ErrorKind::checkpoint, "{}: no such directory", path.string());
  }
  if (fs::exists(path / "manifest.json")) return {path, read_checkpoint(path)};
  std::vector<NumberedCheckpoint> checkpoints = list_checkpoints(path);
  std::ranges::reverse(checkpoints);
  std::string last_problem;
  for (const NumberedCheckpoint& checkpoint : checkpoints) {
    try {
      return {checkpoint.directory, read_checkpoint(checkpoint.directory)};
    } catch (const Error& error) {
      last_problem = error.what();
      log(LogLevel::warning, "{}; trying the one before", error.what());
    }
  }
  if (!last_problem.empty()) fail(ErrorKind::checkpoint, "{}", last_problem);
  fail(ErrorKind::checkpoint, "{}: holds no checkpoint{}", path.string(), trials_hint(path));
}

std::string trials_hint(const fs::path& directory) {
  std::vector<std::string> trials;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(directory, problem)) {
    if (!list_checkpoints(entry.path()).empty()) trials.push_back(entry.path().string());
  }
  if (trials.empty()) return "";
  constexpr std::size_t kMost = 5;
  std::ranges::sort(trials);
  const std::size_t more = trials.size() - std::min(trials.size(), kMost);
  trials.resize(trials.size() - more);
  return fmt::format("; it is an experiment's directory: give one of its trials, {}{}",
                     fmt::join(trials, " or "), more == 0 ? "" : fmt::format(", or {} more", more));
}

}  // namespace knurl::tune
