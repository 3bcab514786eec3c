// Error metrics of results relative to exact values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "models/numerics/kernels/error_sums.hpp"

namespace equarx::numerics {

/// Signal-to-quantization-noise ratio in dB: -10 log10(nmse); +Inf for 0.
double sqnr_db(double nmse);

/// Formats an SQNR for people: "36.04 dB"; "exact" for +Inf, and "-" if there is none.
std::string sqnr_text(double sqnr_db, int decimals = 2);

/// Error of values relative to exact values. Elements whose value or exact value is NaN or Inf are
/// counted and left out of the errors; without any other element, the errors are NaN. Without
/// elements the errors are 0, sqnr_db is +Inf and cosine_similarity is 1.
struct ErrorMetrics {
  std::uint64_t count = 0;            ///< all elements
  std::uint64_t nonfinite = 0;        ///< elements left out of the errors
  std::uint64_t nonfinite_exact = 0;  ///< of these, elements whose exact value is NaN or Inf
  double mse = 0.0;                   ///< mean squared error
  /// Sum of squared errors / sum of squared exact values; 0/0 is 0, x/0 is +Inf.
  double nmse = 0.0;
  double sqnr_db = 0.0;  ///< +Inf without error, -Inf without signal
  double max_abs_error = 0.0;
  double mean_signed_error = 0.0;  ///< bias: mean of value - exact
  double cosine_similarity = 0.0;  ///< 1 if both are all zero, 0 if only one of them is

  /// The NMSE for comparisons of accuracy: +Inf if a value is NaN or Inf although its exact value is
  /// finite, and if no element is finite.
  double comparable_nmse() const;
};

/// Accumulates errors in double in a fixed order: the n-th element enters partial sum n mod 8, so
/// the result does not depend on how a sequence is split into calls. Accumulators filled by
/// separate threads and merged in a fixed order give the same bits for any number of threads.
class ErrorAccumulator {
 public:
  /// Throws std::invalid_argument if the spans differ in length.
  void add(std::span<const float> values, std::span<const double> exact);
  void add(std::span<const float> values, std::span<const float> exact);

  /// Adds the elements of `other`; partial sums are added lane by lane.
  void merge(const ErrorAccumulator& other);

  ErrorMetrics metrics() const;

 private:
  static constexpr std::size_t kLanes = kernels::kErrorLanes;

  template <class Exact>
  void add_any(std::span<const float> values, std::span<const Exact> exact);
  template <class Exact>
  void add_finite(std::span<const float> values, std::span<const Exact> exact);

  std::uint64_t count_ = 0;
  std::uint64_t nonfinite_ = 0;
  std::uint64_t nonfinite_exact_ = 0;
  std::size_t lane_ = 0;  // lane of the next element
  kernels::ErrorSums sums_;
};

}  // namespace equarx::numerics
