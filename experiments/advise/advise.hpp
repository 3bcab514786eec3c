// Advice whether and how to quantize, with speedup, error and the assumptions it depends on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/sizes.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/tune.hpp"
#include "experiments/variation/confidence.hpp"

namespace equarx::advise {

/// Advice for one collective on one machine.
struct Advice {
  tune::TuneResult tuned;
  variation::Verdict verdict = variation::Verdict::no;
  tune::TunedCandidate plain;                     ///< the fastest unscaled candidate
  std::optional<tune::TunedCandidate> quantized;  ///< the fastest scaled one within the limits
  /// The quantized candidate with the smallest error, if `quantized` is absent.
  std::optional<tune::TunedCandidate> nearest;
  /// The promise that most quantized candidates break, if none keeps all.
  std::optional<tune::BrokenPromises> broken;
  /// Interval of speedup(), and what would change it; empty without `quantized`.
  variation::Confidence confidence;
  /// The plain and the quantized collective; the plain one alone without `quantized`.
  run::ExperimentResult compared;
  std::vector<SizeGain> sizes;  ///< speedups at other tensor sizes, ascending

  /// Time of `plain` / time of `quantized`, which must be present.
  double speedup() const { return plain.time_s / quantized->time_s; }
};

/// Tunes the collective of `config` over scaled formats and the tensor's own type, and analyzes how
/// the choice depends on the chip and the size. `options.formats`: candidate scaled formats; empty:
/// all. With promises both the plain and the quantized collective keep them.
/// @throws InputError if no candidate can run or none is within the limits (naming the nearest)
Advice advise(const config::ExperimentConfig& config, tune::TuneOptions options,
              const run::Progress& progress);

}  // namespace equarx::advise
