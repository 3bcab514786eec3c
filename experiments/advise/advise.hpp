// The decision that a simulation is run for: whether to quantize, how, what it gains and loses, and what that
// rests on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/sizes.hpp"
#include "experiments/advise/turning_points.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::advise {

/// What is advised.
enum class Verdict : std::uint8_t {
  yes,      ///< quantize: it is faster, and its error within the limits
  no,       ///< do not: nothing quantized is both
  unclear,  ///< the chip is not known well enough: on some chips that it may be the plain way is faster
};
std::string_view name(Verdict verdict);

/// Advice for one collective, or one workload, on one machine.
struct Advice {
  tune::TuneResult tuned;
  Verdict verdict = Verdict::no;
  tune::TunedCandidate plain;                     ///< the fastest without scales
  std::optional<tune::TunedCandidate> quantized;  ///< the fastest with scales within the limits
  /// If there is none: the quantized one with the smallest error of all.
  std::optional<tune::TunedCandidate> nearest;
  /// Of the quantized way over the plain one. None without `quantized`, and where nothing of the chip is
  /// uncertain.
  std::optional<run::Uncertainty> uncertainty;
  /// What follows is of one AllReduce of the workload, because its phase takes long to simulate.
  bool of_one_allreduce = false;
  std::vector<TurningPoint> turning_points;  ///< at most two: those that need the smallest change
  std::vector<SizeGain> sizes;  ///< by rising size: what the two ways take at other sizes

  /// The plain way's time / the quantized one's. Only with `quantized`.
  double speedup() const { return plain.time_s / quantized->time_s; }
};

/// Tunes the collective of `config` with formats that have scales and with the tensor's own type, and finds out
/// what the choice rests on. `options.formats`: those with scales to choose among; empty: all.
/// @throws InputError if nothing can run, or nothing is within the limits (naming what is nearest)
Advice advise(const config::ExperimentConfig& config, tune::TuneOptions options,
              const run::Progress& progress);

}  // namespace equarx::advise
