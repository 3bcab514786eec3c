// Sums for error metrics, compiled for every instruction set and dispatched at run time. All give the
// same bits: IEEE operations in the same order, no fused multiply-add.
#pragma once

#include <array>
#include <cstddef>

namespace equarx::numerics::kernels {

/// Partial sums of each quantity.
inline constexpr std::size_t kErrorLanes = 8;
/// One number per partial sum.
using ErrorLanes = std::array<double, kErrorLanes>;

/// Sums over elements, where error = value - exact.
struct ErrorSums {
  ErrorLanes squared_error{};
  ErrorLanes squared_exact{};
  ErrorLanes squared_value{};
  ErrorLanes product{};  ///< value times exact
  ErrorLanes signed_error{};
  ErrorLanes max_abs_error{};  ///< NaN is ignored
};

/// Adds `count` elements, a multiple of kErrorLanes: element n to partial sum n mod kErrorLanes.
void add_errors(const float* values, const double* exact, std::size_t count, ErrorSums& sums);
/// Likewise, with exact values in FP32.
void add_errors(const float* values, const float* exact, std::size_t count, ErrorSums& sums);

}  // namespace equarx::numerics::kernels
