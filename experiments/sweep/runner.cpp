#include "experiments/sweep/runner.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/os/shortage.hpp"
#include "base/os/thread_tokens.hpp"
#include "base/output/provenance.hpp"
#include "base/process/stop_signals.hpp"
#include "base/process/worker_pool.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/step/run.hpp"
#include "experiments/sweep/key.hpp"
#include "experiments/sweep/known_runs.hpp"
#include "experiments/sweep/remaining_time.hpp"
#include "experiments/sweep/work.hpp"

namespace equarx::sweep {
namespace {

constexpr int kTickMilliseconds = 200;  // period of checking signals and refreshing the display

std::string line_of(const input::Json& json) { return input::json_text(json) + '\n'; }

/// Members at the start of each line of a point.
input::Json line_start(const PointSet& points, const KeyedPoint& at) {
  input::Json line = {{"point", at.point}, {"key", at.key}, {"version", output::version()}};
  if (const std::string experiment = points.experiment(at.point); !experiment.empty())
    line["experiment"] = experiment;
  if (const std::string base = points.base(); !base.empty()) line["base"] = base;
  line["axes"] = points.axes(at.point);
  return line;
}

std::string error_line(const PointSet& points, const KeyedPoint& at, const std::string& error) {
  input::Json line = line_start(points, at);
  line["error"] = error;
  return line_of(line);
}

std::string does_not_fit_line(const PointSet& points, const KeyedPoint& at,
                              const input::DoesNotFitError& error) {
  input::Json line = line_start(points, at);
  line["status"] = kDoesNotFit;
  line["needs_bytes"] = error.needs_bytes();
  line["reason"] = error.what();
  return line_of(line);
}

/// Results of one point: its configuration with every default, and its runs.
struct PointResult {
  input::JsonValue config;
  std::vector<input::JsonValue> runs;
};

PointResult run(const config::StepConfig& config, unsigned value_threads, KnownRuns& /*known*/) {
  const step::StepResult result = step::run_step(step::make_plan(config), [](const std::string&) {},
                                                 {.threads = value_threads});
  PointResult point{to_json(result.config), {}};
  for (const step::VariantResult& variant : result.runs)
    point.runs.emplace_back(result::numbers_json(variant));
  return point;
}

PointResult run(const config::ExperimentConfig& config, unsigned value_threads, KnownRuns& known) {
  if (KnownRuns::supports(config)) {
    PointResult point{to_json(config), {}};
    for (const run::RunResult& run : known.runs(config, point.config))
      point.runs.emplace_back(result::to_json(run));
    return point;
  }
  const run::ExperimentResult result =
      run::run_experiment(plan::make_plan(config, plan::RunProfile::batch),
                          [](const std::string&) {}, {.threads = value_threads});
  PointResult point{to_json(result.config), {}};
  for (const run::RunResult& run : result.runs) point.runs.emplace_back(result::to_json(run));
  return point;
}

std::string result_lines(const PointSet& points, const KeyedPoint& at, unsigned value_threads,
                         KnownRuns& known) {
  const PointResult result =
      std::visit([&](const auto& config) { return run(config, value_threads, known); },
                 config::read(points.config(at.point)));
  // The text of an object with these members; the configuration is written once.
  std::string start = input::json_text(line_start(points, at));
  start.pop_back();
  const std::string config = input::json_text(result.config);
  std::string lines;
  for (const input::JsonValue& run : result.runs)
    lines += fmt::format("{},\"run\":{},\"config\":{}}}\n", start, input::json_text(run), config);
  return lines;
}

// First character of a worker's answer.
constexpr char kComputed = 'C';
constexpr char kDoesNotFitAnswer = 'M';
constexpr char kFailed = 'F';

PointState state_of(char answer) {
  switch (answer) {
    case kComputed: return PointState::computed;
    case kDoesNotFitAnswer: return PointState::does_not_fit;
    default: return PointState::failed;
  }
}

/// Computes a point in a worker. Does not throw: errors become a kFailed answer.
std::string compute(const PointSet& points, const KeyedPoint& at, unsigned value_threads,
                    KnownRuns& known) {
  try {
    return kComputed + result_lines(points, at, value_threads, known);
  } catch (const input::DoesNotFitError& error) {
    return kDoesNotFitAnswer + does_not_fit_line(points, at, error);
  } catch (const std::exception& error) {
    return kFailed + error_line(points, at, os::shortage(error).value_or(error.what()));
  }
}

// Encodes a point for a worker, which already has the sweep.
std::string request_of(const KeyedPoint& at) { return fmt::format("{} {}", at.key, at.point); }

KeyedPoint read_request(const std::string& request) {
  const std::size_t space = request.find(' ');
  return {std::stoul(request.substr(space + 1)), request.substr(0, space), nullptr};
}

/// Iterates over a shard's points, those with the most work first, and selects those to compute.
class Pending {
 public:
  Pending(const PointSet& points, const SweepStore& store, const SweepOptions& options)
      : points_(points),
        store_(store),
        retry_(options.retry),
        shard_(points.in_shard(options.shard)),
        work_(points, shard_),
        left_work_(work_.total()),
        order_(shard_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::greater<>(),
                             [&](std::size_t index) { return work_.of(index); });
    status.points = shard_.size();
    keyed.reserve(shard_.size());
  }

  bool at_end() const { return keyed.size() == shard_.size(); }

  /// Advances to the next point. Returns true if it must be computed.
  bool next() {
    const std::size_t point = shard_[order_[keyed.size()]];
    SweepKeys::Described described = describe(point);
    keyed.push_back({point, std::move(described.key), std::move(described.summary)});
    left_work_ -= work_of(keyed.size() - 1);
    const std::string& key = keyed.back().key;
    const bool is_new = seen_.insert(key).second;
    const StoredPoint* stored = store_.find(key);
    if (stored != nullptr && stored->failed() && retry_ && is_new) stored = nullptr;
    if (stored == nullptr && is_new) return true;
    finish(keyed.size() - 1);  // now, or with an equal point that is being computed
    if (stored != nullptr) count(stored->state);
    return false;
  }

  /// Records the computed point at an index of `keyed`.
  void finish(std::size_t index, PointState state) {
    finish(index);
    ++status.computed;
    count(state);
  }

  /// Estimated work of the point at an index of `keyed`, in seconds.
  double work_of(std::size_t index) const { return work_.of(order_[index]); }
  double total_work() const { return work_.total(); }
  /// Estimated work of the points not visited yet, in seconds.
  double left_work() const { return left_work_; }

  std::vector<KeyedPoint> keyed;  ///< the points visited so far, in that order
  SweepStatus status;

 private:
  void finish(std::size_t index) {
    ++status.done;
    done_work_ += work_of(index);
    status.done_share = std::min(1.0, done_work_ / work_.total());
  }

  void count(PointState state) {
    if (state == PointState::does_not_fit) ++status.does_not_fit;
    if (state == PointState::failed) ++status.failed;
  }

  SweepKeys::Described describe(std::size_t point) {
    const std::string experiment = points_.experiment(point);
    try {
      return keys_.describe(points_.config(point), experiment);
    } catch (const input::InputError&) {  // an axis that does not exist: the point will fail
      return {output::config_hash({{"version", output::version()},
                                   {"experiment", experiment},
                                   {"axes", points_.axes(point)}}),
              nullptr};
    }
  }

  const PointSet& points_;
  const SweepStore& store_;
  bool retry_;
  std::vector<std::size_t> shard_;
  WorkEstimates work_;
  double left_work_;
  std::vector<std::size_t> order_;  ///< indices of the shard, in the order of visits
  double done_work_ = 0.0;
  SweepKeys keys_;
  std::unordered_set<std::string> seen_;
};

class SweepRun {
 public:
  SweepRun(const PointSet& points, SweepStore& store, const SweepOptions& options)
      : points_(points),
        store_(store),
        pending_(points, store, options),
        remaining_(pending_.total_work(), options.jobs),
        jobs_(options.jobs),
        pool_(options.jobs, [this](const std::string& request) {
          const os::LimitedThreads limited(tokens_);
          return compute(points_, read_request(request), static_cast<unsigned>(jobs_), known_);
        }) {}

  SweepOutcome run(const std::function<void(const SweepStatus&)>& show) {
    while (signals_.received() == 0) {
      if (!pending_.at_end() && pool_.has_free()) {
        start_batch();
      } else if (pool_.busy() == 0) {
        break;
      } else {
        for (const process::FinishedJob& finished : pool_.wait(kTickMilliseconds)) record(finished);
      }
      lend_threads();
      pending_.status.left_s = remaining_.at(now_s());
      show(pending_.status);
    }
    std::ranges::sort(pending_.keyed, {}, &KeyedPoint::point);
    return {pending_.status, std::move(pending_.keyed), signals_.received()};
  }

 private:
  static double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Gives a worker the next points: neighbours, which often share programs, as long as they take little
  /// time and enough is left for the other workers.
  void start_batch() {
    constexpr double kMost_s = 0.5;            // estimated
    constexpr double kLeastBatchesLeft = 4.0;  // of each worker
    const double most_s =
        std::min(kMost_s, pending_.left_work() / (kLeastBatchesLeft * static_cast<double>(jobs_)));
    std::deque<process::Job> batch;
    double batch_s = 0.0;
    do {
      const bool compute = pending_.next();
      const std::size_t index = pending_.keyed.size() - 1;
      const double work_s = pending_.work_of(index);
      if (!compute) {  // passing over many of them takes time as well
        remaining_.skip(work_s);
        break;
      }
      batch.push_back({index, request_of(pending_.keyed.back())});
      batch_s += work_s;
    } while (batch_s < most_s && !pending_.at_end());
    if (batch.empty()) return;
    start(batch.front().number);
    pool_.start(std::move(batch));
  }

  void start(std::size_t index) { remaining_.start(index, pending_.work_of(index), now_s()); }

  /// Lets running points use the cores of workers that no point is left for.
  void lend_threads() {
    if (!pending_.at_end()) return;
    const int idle = static_cast<int>(jobs_ - std::min(jobs_, pool_.busy()));
    tokens_.add(idle - std::exchange(lent_, idle));
  }

  void record(const process::FinishedJob& finished) {
    remaining_.finish(finished.job, now_s());
    if (finished.next) start(*finished.next);
    const KeyedPoint& at = pending_.keyed[finished.job];
    const bool crashed = !finished.failure.empty();
    const PointState state = crashed ? PointState::failed : state_of(finished.result.front());
    store_.append(at.key,
                  crashed
                      ? error_line(points_, at,
                                   fmt::format("the process of this point ended with {}; is there "
                                               "enough memory for --jobs?",
                                               finished.failure))
                      : finished.result.substr(1),
                  state);
    pending_.finish(finished.job, state);
  }

  const PointSet& points_;
  SweepStore& store_;
  Pending pending_;
  RemainingTime remaining_;
  std::size_t jobs_;
  os::ThreadTokens tokens_;  ///< of all workers
  int lent_ = 0;             ///< tokens made so far
  KnownRuns known_;          ///< of each worker, which has a copy
  process::StopSignals signals_;
  process::WorkerPool pool_;
};

}  // namespace

SweepOutcome run_sweep(const PointSet& points, SweepStore& store, const SweepOptions& options,
                       const std::function<void(const SweepStatus&)>& show) {
  return SweepRun(points, store, options).run(show);
}

void keep_only(const PointSet& points, const std::vector<KeyedPoint>& keyed, SweepStore& store) {
  std::string text;
  for (const KeyedPoint& at : keyed) {
    const StoredPoint* stored = store.find(at.key);
    if (stored == nullptr) continue;
    for (const input::JsonValue& found : store.results(*stored)) {
      // The results stay; number and axes of the point may have changed.
      input::Json line = line_start(points, at);
      for (const auto& [name, value] : found->items())
        if (!line.contains(name)) line[name] = value;
      text += line_of(line);
    }
  }
  store.replace(text);
}

SweepStatus sweep_status(const PointSet& points, const SweepStore& store,
                         const SweepOptions& options) {
  Pending pending(points, store, options);
  while (!pending.at_end()) pending.next();
  return pending.status;
}

}  // namespace equarx::sweep
