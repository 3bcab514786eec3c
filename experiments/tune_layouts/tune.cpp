#include "experiments/tune_layouts/tune.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/parallel_for.hpp"
#include "base/os/threads.hpp"
#include "base/process/parallel_for.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/mesh_json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/tune_layouts/floors.hpp"

namespace equarx::tune_layouts {
namespace {

/// Layouts simulated at once, whatever the number of threads, so that the same ones are simulated.
constexpr std::size_t kAtOnce = 4;

struct Candidate {
  Layout layout;
  double bound_s = 0.0;
};

/// A configuration whose collectives are unquantized.
input::Json unquantized(input::Json json) {
  for (const char* const key : {"variants", "baseline", "values"}) json.erase(key);
  return json;
}

class Search {
 public:
  Search(const input::Json& json, const config::StepConfig& config, const TuneOptions& options,
         const Progress& progress)
      : progress_(progress) {
    if (!config.training)
      throw input::InputError("/step", "trains no model, so it has no layouts; drop --layouts");
    result_.config = config;
    result_.json = unquantized(json);
    result_.options = options;
    order_ = device_order(json);
    rates_ = workloads::compute_rates(result_.config.machine.chip);
    collective_floors_.resize(threads(), CollectiveFloors(result_.config.machine));
  }

  TuneResult run() && {
    progress_("layout of the configuration");
    result_.own = run_layout(*result_.json, layout_of(result_.config),
                             std::numeric_limits<double>::infinity());
    find_candidates();
    simulating_ = std::chrono::steady_clock::now();
    for (std::size_t next = 0; next < candidates_.size();) next = simulate_from(next);
    if (result_.trials.empty()) refuse();
    std::ranges::stable_sort(result_.trials, {}, &Trial::time_s);
    if (result_.finished) find_runners_up();
    return std::move(result_);
  }

 private:
  unsigned threads() const {
    return result_.options.threads > 0 ? result_.options.threads : os::default_threads();
  }

  double best_s() const {
    double best_s = std::numeric_limits<double>::infinity();
    for (const Trial& trial : result_.trials) best_s = std::min(best_s, trial.time_s);
    return best_s;
  }

  bool is_over() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
    return result_.options.budget_s && taken.count() >= *result_.options.budget_s;
  }

  /// Layouts whose least memory fits, in the order of their bounds.
  void find_candidates() {
    constexpr std::size_t kPart = 1024;  // layouts between updates of the progress
    const std::vector<Layout> all = layouts(result_.config, result_.options.space);
    result_.candidates = all.size();
    for (std::size_t first = 0; first < all.size() && !is_over(); first += kPart) {
      progress_(fmt::format("bounds of {} of {} layouts", first, all.size()));
      add_candidates(std::span(all).subspan(first, std::min(kPart, all.size() - first)));
    }
    std::ranges::stable_sort(candidates_, {}, &Candidate::bound_s);
  }

  /// Bounds of a layout, or why it is impossible.
  struct Bounds {
    double memory_bytes = 0.0;
    double time_s = 0.0;  ///< if it fits
    std::string obstacle = {};
  };

  void add_candidates(std::span<const Layout> some) {
    std::vector<Bounds> bounds(some.size());
    os::parallel_for(some.size(), static_cast<unsigned>(collective_floors_.size()),
                     [&](std::size_t i, unsigned thread) {
                       bounds[i] = bounds_of(some[i], collective_floors_[thread]);
                     });
    for (std::size_t i = 0; i < some.size(); ++i)
      if (!bounds[i].obstacle.empty())
        add_obstacle(bounds[i].obstacle);
      else if (bounds[i].memory_bytes > result_.hbm_bytes())
        add_unfit(bounds[i].memory_bytes, some[i]);
      else
        candidates_.push_back({some[i], bounds[i].time_s});
  }

  Bounds bounds_of(const Layout& layout, CollectiveFloors& collectives) const {
    try {
      const steps::Training training = training_of(result_.config, layout);
      const steps::Mesh mesh =
          config::lay_on(result_.config.machine.topology, mesh_axes(layout), order_);
      Floors floors(training, mesh, rates_, collectives);
      const double memory_bytes = floors.memory_bytes();
      return {memory_bytes, memory_bytes > result_.hbm_bytes() ? 0.0 : floors.time_s()};
    } catch (const std::invalid_argument& error) {
      return {.obstacle = error.what()};
    }
  }

  void add_unfit(double memory_bytes, const Layout& layout) {
    ++result_.do_not_fit;
    if (result_.least_unfit_bytes > 0.0 && memory_bytes >= result_.least_unfit_bytes) return;
    result_.least_unfit_bytes = memory_bytes;
    nearest_ = layout;
  }

  void add_obstacle(const std::string& reason) {
    if (result_.cannot_run++ == 0) result_.obstacle = reason;
  }

  /// Simulates the next layouts that may be the fastest. Returns the index of the first after them.
  std::size_t simulate_from(std::size_t next) {
    std::size_t end = next;
    const double best = best_s();
    while (end < candidates_.size() && end - next < kAtOnce &&
           (result_.options.exhaustive || candidates_[end].bound_s < best))
      ++end;
    result_.finished = end == next || !is_over();
    if (end == next || !result_.finished) {
      const std::size_t left = candidates_.size() - next;
      (result_.finished ? result_.by_bound : result_.not_tried) = left;
      return candidates_.size();
    }
    progress_(progress_text(next, best));
    std::vector<Layout> now;
    for (std::size_t i = next; i < end; ++i) now.push_back(candidates_[i].layout);
    add_trials(simulated(now));
    return end;
  }

  /// A simulated layout, or why it cannot run.
  using Outcome = std::pair<std::optional<Trial>, std::string>;

  std::vector<Outcome> simulated(const std::vector<Layout>& layouts) const {
    std::vector<Outcome> outcomes(layouts.size());
    process::parallel_for(layouts.size(), threads(), [&](std::size_t i) {
      try {
        outcomes[i].first = run_layout(with_layout(*result_.json, result_.config, layouts[i]),
                                       layouts[i], result_.hbm_bytes());
      } catch (const input::InputError& error) {
        outcomes[i].second = error.what();
      }
    });
    return outcomes;
  }

  void add_trials(const std::vector<Outcome>& outcomes) {
    for (const auto& [trial, reason] : outcomes)
      if (!trial)
        add_obstacle(reason);
      else if (trial->time_s == 0.0)
        add_unfit(trial->memory_bytes, trial->layout);
      else
        result_.trials.push_back(*trial);
  }

  /// With the time left for all layouts whose bounds are below the best time so far.
  std::string progress_text(std::size_t next, double best) const {
    const auto open = static_cast<std::size_t>(std::ranges::count_if(
        candidates_, [&](const Candidate& one) { return one.bound_s < best; }));
    if (next == 0 || !(best < std::numeric_limits<double>::infinity()))
      return fmt::format("simulating layout {}", next + 1);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - simulating_;
    const std::size_t all = result_.options.exhaustive ? candidates_.size() : std::max(open, next);
    return fmt::format("simulating layout {} of at most {}, best {}, at most {} left", next + 1,
                       all, units::time_text(best),
                       units::time_text(taken.count() / static_cast<double>(next) *
                                        static_cast<double>(all - next)));
  }

  [[noreturn]] void refuse() const {
    if (is_over())
      throw input::InputError("--budget", "ends before any layout is simulated; give more time");
    if (!nearest_)
      throw input::InputError("/step/training",
                              fmt::format("no layout can run: {}", result_.obstacle));
    throw input::DoesNotFitError(
        "/step/training",
        fmt::format(
            "none of {} layouts of {} fits into the {} of {}; the nearest needs {}: {}; use "
            "more chips, \"remat\": \"full\" or fewer bytes of state",
            result_.candidates, result_.config.training->training.model.name,
            units::bytes_text(result_.hbm_bytes()), result_.config.machine.chip.name,
            units::bytes_text(result_.least_unfit_bytes), layout_text(result_.config, *nearest_)),
        result_.least_unfit_bytes);
  }

  // --- Runners-up

  void find_runners_up() {
    for (const LayoutAxis& axis : kLayoutAxes) {
      progress_(fmt::format("runner-up with another length of {}", axis.name));
      if (std::optional<Trial> trial = runner_up(axis.name))
        result_.runners_up.push_back({std::string(axis.name), std::move(*trial)});
    }
  }

  /// The fastest simulated layout with another length of an axis; if there is none, of the first ones by
  /// their bounds.
  std::optional<Trial> runner_up(std::string_view axis) {
    constexpr std::size_t kMost = 2 * kAtOnce;
    const std::uint32_t length = result_.trials.front().layout.length(axis);
    for (const Trial& trial : result_.trials)
      if (trial.layout.length(axis) != length) return trial;
    std::vector<Layout> others;
    for (const Candidate& candidate : candidates_)
      if (candidate.layout.length(axis) != length && others.size() < kMost)
        others.push_back(candidate.layout);
    std::optional<Trial> fastest;
    for (const auto& [trial, reason] : simulated(others))
      if (trial && trial->time_s > 0.0 && (!fastest || trial->time_s < fastest->time_s))
        fastest = trial;
    return fastest;
  }

  const Progress& progress_;
  std::vector<CollectiveFloors> collective_floors_;  ///< by thread
  workloads::ComputeRates rates_;
  steps::DeviceOrder order_ = steps::DeviceOrder::jax;
  TuneResult result_;
  std::vector<Candidate> candidates_;  ///< by bound
  std::optional<Layout> nearest_;      ///< the unfit one with the least memory
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point simulating_ = began_;
};

}  // namespace

TuneResult tune(const input::Json& json, const config::StepConfig& config,
                const TuneOptions& options, const Progress& progress) {
  return Search(json, config, options, progress).run();
}

}  // namespace equarx::tune_layouts
