// Advice for each group of a step's collectives, and for the step.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/sizes.hpp"
#include "experiments/tune_step/tune.hpp"
#include "experiments/variation/confidence.hpp"

namespace equarx::advise {

/// Advice for one group of collectives.
struct GroupAdvice {
  std::string name;  ///< of the group of tasks
  variation::Verdict verdict = variation::Verdict::no;
  std::string reason;  ///< why nothing is quantized; empty if `candidate` is set
  /// The quantized candidate that shortens the step most, within the error limit. Its speedup and
  /// interval compare steps that differ in this group only, all others as advised.
  std::optional<tune_step::StepCandidate> candidate;
  double speedup = 1.0;
  std::optional<variation::Interval> interval;
  double share = 0.0;  ///< of the step's bytes of all quantizable collectives
  std::optional<std::uint64_t>
      break_even;  ///< size in bytes of its largest collective in isolation
};

/// Advice for a step.
struct StepAdvice {
  tune_step::StepTuneResult tuned;
  variation::Verdict verdict = variation::Verdict::no;
  std::vector<GroupAdvice> groups;
  /// Steps as configured and as advised; the baseline alone if nothing is to be quantized.
  step::StepResult compared;
  variation::Confidence confidence;  ///< in the speedup of the step as advised
  double worst_nmse = 0.0;           ///< largest over the quantized groups
  double mean_nmse = 0.0;            ///< over all quantizable collectives, weighted by their bytes

  bool quantizes() const { return compared.runs.size() > 1; }
  double speedup() const { return compared.runs.back().speedup.value(); }
};

/// Tunes the groups over scaled formats, and analyzes how the choice depends on the machine. The
/// reference is the unquantized step with the fastest algorithms, so that no gain of an algorithm
/// counts as one of quantization; if the collectives have several types, the one with default
/// algorithms. The variants of `config` are ignored. `options`: as for advise().
/// @throws InputError for a step without collectives, and as tune_step()
StepAdvice advise_step(const config::StepConfig& config, const tune::TuneOptions& options,
                       const tune_step::Progress& progress);

}  // namespace equarx::advise
