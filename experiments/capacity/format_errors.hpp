// Errors of formats on drawn values.
#pragma once

#include <cstdint>

#include "experiments/config/serving.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::capacity {

/// NMSE of a stored format on 64 rows of 4096 normal values.
/// @throws std::invalid_argument for formats that need more than the values
double stored_nmse(const stored::StoredFormat& format);

/// NMSE of attention over the KV cache of a chip of the pool, drawn by attention::DrawnCache; 0 in
/// bf16. @throws std::invalid_argument as stored_nmse()
double attention_nmse(const config::PoolConfig& pool);

/// NMSE of the AllReduces of a pool on normal values, in a step of 64 positions; 0 on one chip.
double sums_nmse(const config::PoolConfig& pool);

}  // namespace equarx::capacity
