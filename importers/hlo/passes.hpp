// Passes of a fusion over its operands.
#pragma once

#include <vector>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// On-chip memory for data that a fusion reuses, in bytes: shared memory of an SM (228 KiB, CUDA C++
/// Programming Guide, compute capability 9.0), or the VMEM that XLA gives to a fusion of a TPU
/// (xla_tpu_scoped_vmem_limit_kib, 16 MiB).
double reuse_bytes(bool is_gpu);

/// How often a fused computation reads a parameter, by instruction; 1 for other instructions. A
/// result of a reduction that is combined with the data it reduced, as in a normalization, needs the
/// data of the reduced row again: from on-chip memory if the row fits there, otherwise in another
/// pass.
/// @param on_chip  bytes
std::vector<double> passes_of(const Computation& computation, double on_chip);

}  // namespace equarx::hlo
