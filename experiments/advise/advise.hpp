// Advice whether and how to quantize, with speedup, error and the assumptions it depends on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/sizes.hpp"
#include "experiments/advise/turning_points.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::advise {

/// The recommendation.
enum class Verdict : std::uint8_t {
  yes,      ///< quantize: faster than plain, with an error within the limits
  no,       ///< do not quantize: no quantized candidate is both
  unclear,  ///< the speedup interval includes 1, given the chip's parameter uncertainty
};
std::string_view name(Verdict verdict);

/// Advice for one collective, or one workload, on one machine.
struct Advice {
  tune::TuneResult tuned;
  Verdict verdict = Verdict::no;
  tune::TunedCandidate plain;                     ///< the fastest unscaled candidate
  std::optional<tune::TunedCandidate> quantized;  ///< the fastest scaled one within the limits
  /// The quantized candidate with the smallest error, if `quantized` is absent.
  std::optional<tune::TunedCandidate> nearest;
  /// Interval of speedup(). std::nullopt without `quantized` and for chips without uncertain
  /// parameters.
  std::optional<run::Uncertainty> uncertainty;
  /// True if `uncertainty` and `turning_points` refer to a single AllReduce of the workload because
  /// its phase takes long to simulate.
  bool of_one_allreduce = false;
  std::vector<TurningPoint> turning_points;  ///< at most two, smallest relative change first
  std::vector<SizeGain> sizes;               ///< speedups at other tensor sizes, ascending

  /// Time of `plain` / time of `quantized`, which must be present.
  double speedup() const { return plain.time_s / quantized->time_s; }
};

/// Tunes the collective of `config` over scaled formats and the tensor's own type, and analyzes how
/// the choice depends on the chip and the size. `options.formats`: candidate scaled formats; empty:
/// all.
/// @throws InputError if no candidate can run or none is within the limits (naming the nearest)
Advice advise(const config::ExperimentConfig& config, tune::TuneOptions options,
              const run::Progress& progress);

}  // namespace equarx::advise
