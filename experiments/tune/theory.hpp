// What is known of a candidate's error before its values are computed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "experiments/tune/space.hpp"

namespace equarx::tune {

/// What theory says of an algorithm's error.
struct ErrorPrediction {
  double nmse = 0.0;   ///< by docs/numerics.md, without the rounding of plain phases
  double floor = 0.0;  ///< the computed error is not below this
};

/// NMSE of an algorithm times that of quantizing once with as many elements per scale: by a closed form
/// for int8, int6 and int4, by computing a small sample of values for other formats.
///
/// The theory is of independent normal ranks, and of no others: for other values there is no
/// prediction. It misses computed errors by 15 % at most where a quantizer's step is below the spread
/// of one rank's values (docs/numerics.md), because of the sampling, and of power-of-two scales, whose
/// error depends on where sums lie between two powers. Beyond, where few bits meet many ranks, a hop
/// loses what its rank adds and no more. So `floor` counts at most one rank's power for each
/// edge, and is divided by kMargin.
///
/// Any number of threads may ask.
class ErrorTheory {
 public:
  static constexpr double kMargin = 1.2;

  explicit ErrorTheory(const config::ExperimentConfig& config);

  /// None for formats without scales, and for values that are not independent and normal.
  std::optional<ErrorPrediction> predict(const TuneScheme& scheme,
                                         const config::CollectiveConfig& collective);

 private:
  ErrorPrediction predict_segment(const TuneScheme& scheme,
                                  const config::CollectiveConfig& collective,
                                  std::uint32_t segment);
  double quantizer_nmse(const config::NamedBlockFormat& format, std::uint64_t elements);
  /// What one thread finds out, and others wait for.
  struct Known {
    std::once_flag found;
    double nmse = 0.0;
  };
  Known& known_of(const std::pair<std::string, std::uint64_t>& key);

  double measured_nmse(const numerics::BlockFormat& format, std::uint64_t elements) const;

  const config::ExperimentConfig& config_;
  std::mutex lock_;                                               ///< of known_
  std::map<std::pair<std::string, std::uint64_t>, Known> known_;  ///< by format and elements
};

}  // namespace equarx::tune
