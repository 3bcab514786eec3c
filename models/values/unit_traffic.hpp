// Bytes that ranks send and receive for a unit.
#pragma once

#include <cstdint>
#include <vector>

#include "models/values/encoded_buffers.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Encoded bytes by channel, summed over all ranks.
class UnitTraffic {
 public:
  /// Keeps references to both.
  UnitTraffic(const UnitGeometry& geometry, EncodedBuffers& buffers);

  /// Resets both counts.
  void start();
  /// Adds the bytes of a send, or of a wait for them.
  void count(const collectives::Instruction& transfer);

  const std::vector<std::uint64_t>& sent() const { return sent_; }
  const std::vector<std::uint64_t>& received() const { return received_; }

 private:
  std::uint64_t bytes_of(const collectives::Message& message, collectives::RankRange producers);

  const UnitGeometry& geometry_;
  EncodedBuffers& buffers_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

}  // namespace equarx::values
