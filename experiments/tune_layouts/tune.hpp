// Chooses the fastest layout of a training step over the chips of its machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/config/step.hpp"
#include "experiments/tune_layouts/space.hpp"
#include "experiments/tune_layouts/trial.hpp"

namespace equarx::tune_layouts {

/// Options of a search.
struct TuneOptions {
  SpaceOptions space = {};
  std::optional<double> budget_s = {};
  bool exhaustive = false;  ///< simulates every layout that fits
  unsigned threads = 0;     ///< 0: one per core; changes no result
};

/// Called with a progress message.
using Progress = std::function<void(const std::string&)>;

/// The fastest simulated layout with another length of one axis.
struct RunnerUp {
  std::string axis;
  Trial trial;
};

/// Result of a search.
struct TuneResult {
  config::StepConfig config;  ///< as given
  input::JsonValue json;      ///< likewise, with unquantized collectives
  TuneOptions options;
  Trial own;                  ///< layout of the configuration, whether it fits or not
  std::vector<Trial> trials;  ///< simulated, fastest first
  std::vector<RunnerUp> runners_up;
  std::uint64_t candidates = 0;
  std::uint64_t do_not_fit = 0;
  std::uint64_t by_bound = 0;   ///< pruned
  std::uint64_t not_tried = 0;  ///< when the budget ended
  std::uint64_t cannot_run = 0;
  std::string obstacle;            ///< why the first of these cannot run
  double least_unfit_bytes = 0.0;  ///< least memory of layouts that do not fit; 0 if all fit
  bool finished = true;            ///< false if the budget ended the search

  double hbm_bytes() const { return config.machine.chip.hbm_capacity.value; }
};

/// Searches for the fastest layout that fits into the HBM of a chip, in the order of lower bounds, until
/// no other can be faster. `json`: of `config`; variants and values are ignored.
/// @throws input::InputError for a step that trains no model and for invalid options,
/// input::DoesNotFitError if no layout fits
TuneResult tune(const input::Json& json, const config::StepConfig& config,
                const TuneOptions& options, const Progress& progress);

}  // namespace equarx::tune_layouts
