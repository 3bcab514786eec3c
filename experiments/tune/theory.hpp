// Error predictions for candidates, made without computing their values.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "experiments/tune/space.hpp"

namespace equarx::tune {

/// Predicted error of an algorithm.
struct ErrorPrediction {
  double nmse = 0.0;   ///< per docs/numerics.md, without the rounding of plain phases
  double floor = 0.0;  ///< lower bound on the computed error
};

/// Error amplification of the algorithm times the NMSE of quantizing once with the same elements
/// per scale: closed form for int8, int6 and int4, a small sample of values for other formats.
///
/// The theory covers independent normal ranks only; other values have no prediction. Its error is
/// at most 15 % while a quantizer's step is below the spread of one rank's values
/// (docs/numerics.md), due to sampling and to power-of-two scales, whose error depends on the
/// position of sums between two powers. Beyond that (few bits, many ranks) a hop loses at most the
/// contribution of its rank. `floor` therefore counts at most one rank's power per edge and is
/// divided by kMargin.
///
/// Thread-safe.
class ErrorTheory {
 public:
  static constexpr double kMargin = 1.2;

  explicit ErrorTheory(const config::ExperimentConfig& config);

  /// Returns std::nullopt for formats without scales and for values that are not independent
  /// normal.
  std::optional<ErrorPrediction> predict(const TuneScheme& scheme,
                                         const config::CollectiveConfig& collective);

 private:
  ErrorPrediction predict_segment(const TuneScheme& scheme,
                                  const config::CollectiveConfig& collective,
                                  std::uint32_t segment);
  double quantizer_nmse(const config::NamedBlockFormat& format, std::uint64_t elements);
  /// Memoized NMSE; computed by one thread while the others wait.
  struct Known {
    std::once_flag found;
    double nmse = 0.0;
  };
  Known& known_of(const std::pair<std::string, std::uint64_t>& key);

  const config::ExperimentConfig& config_;
  std::mutex lock_;  ///< guards known_
  std::map<std::pair<std::string, std::uint64_t>, Known>
      known_;  ///< key: format, elements per scale
};

}  // namespace equarx::tune
