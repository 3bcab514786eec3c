// Encoded bytes of a unit, by buffer and rank.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Encoded bytes; for scales, also the decoded values.
struct Encoded {
  numerics::AlignedVector<std::byte> bytes;
  numerics::AlignedVector<float> scales;
};

/// The buffers of the current unit, which all of its readers share.
class EncodedBuffers {
 public:
  /// Keeps a reference to `geometry`.
  explicit EncodedBuffers(const UnitGeometry& geometry) : geometry_(geometry) {}

  /// Prepares for the current unit. Keeps the memory of the previous one, unless they are parts, which
  /// have different buffers.
  void start();

  /// Frees the bytes of a buffer, of all producers, for other buffers.
  void release(collectives::BufferId buffer);
  /// Returns the buffer that `producer` encodes; it is one of the lane's.
  Encoded& at(collectives::BufferId buffer, collectives::Rank producer);
  /// Returns the bytes of at(), resized to be overwritten.
  numerics::AlignedVector<std::byte>& room(collectives::BufferId buffer, collectives::Rank producer,
                                           std::size_t size);

 private:
  const UnitGeometry& geometry_;
  std::map<std::size_t, std::vector<numerics::AlignedVector<std::byte>>> spare_;  ///< by capacity
  std::vector<Encoded> encoded_;  ///< by index into the lane's buffers and slot of the producer
};

}  // namespace equarx::values
