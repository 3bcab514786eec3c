// Agreement of all ranks on one amax, before a collective whose format has a shared scale.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {

/// Amax over the tensors of all ranks.
struct SharedAmax {
  float amax = 0.0F;  ///< +Inf if a tensor holds a NaN or an Inf
  bool ranks_identical = true;
  std::vector<std::uint64_t> sent_bytes;  ///< by channel, summed over all ranks
  std::vector<std::uint64_t> received_bytes;
};

/// Runs the instructions of `program` that compute the shared amax (finds_shared_scale()), for all
/// ranks in lockstep. Reads all tensors in full, on `threads` >= 1 threads.
SharedAmax share_amax(const collectives::Program& program, const TensorSource& source,
                      unsigned threads);

}  // namespace equarx::values
