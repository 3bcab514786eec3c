// Additions to FP64 rows. Compiled for every instruction set and dispatched at run time, with the
// same bits: no fused multiply-add.
#pragma once

#include <cstddef>

namespace equarx::numerics::kernels {

/// sums[i] += factor * values[i] for i < count; the product is rounded first. The arrays do not
/// overlap.
void add_multiple(double factor, const double* values, std::size_t count, double* sums);

/// sums[i] += values[i] for i < count.
void add_values(const float* values, std::size_t count, double* sums);

}  // namespace equarx::numerics::kernels
