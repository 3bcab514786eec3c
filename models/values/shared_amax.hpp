// What ranks find out together before a collective whose format has a scale that they share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {

/// An amax that all ranks agree on.
struct SharedAmax {
  float amax = 0.0F;  ///< +Inf if a tensor holds a NaN or an Inf
  bool ranks_identical = true;
  std::vector<std::uint64_t> sent_bytes;  ///< by channel, of all ranks together
  std::vector<std::uint64_t> received_bytes;
};

/// Runs the instructions of `program` that find it (finds_shared_scale()), for all ranks in lockstep. Reads all of the
/// tensors, with `threads` threads, above 0.
SharedAmax share_amax(const collectives::Program& program, const TensorSource& source,
                      unsigned threads);

}  // namespace equarx::values
