// The paged KV cache of a replica, by its bytes on one chip.
#pragma once

#include <cstdint>

#include "models/workloads/attention.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::serving {

/// Sizes of cached sequences. A sequence occupies whole blocks; local layers keep their window if
/// the method skips keys outside of it.
class KvCache {
 public:
  /// `chips`: of a tensor-parallel group. `block`: positions, at least 1. `capacity_bytes`: of one
  /// chip. @throws std::invalid_argument if the model does not divide over the chips
  KvCache(const workloads::Transformer& model, const workloads::AttentionMethod& method,
          std::uint32_t chips, std::uint64_t block, double capacity_bytes);

  /// Bytes of a sequence on one chip.
  double bytes(std::uint64_t positions) const;

  double capacity_bytes() const { return capacity_bytes_; }
  /// Blocks of one chip, with all layers; below 2^32.
  std::uint64_t blocks() const;
  /// True if some layers keep less than all positions.
  bool has_windows() const;
  std::uint64_t block() const { return block_; }

 private:
  double everywhere_bytes_ = 0.0;  ///< per position, of layers that keep all
  double windowed_bytes_ = 0.0;    ///< per position, of layers that keep their window
  std::uint64_t window_ = 0;
  std::uint64_t block_ = 1;
  double capacity_bytes_ = 0.0;
};

}  // namespace equarx::serving
