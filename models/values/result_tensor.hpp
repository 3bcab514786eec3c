#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "base/os/huge_pages.hpp"
#include "models/collectives/partition.hpp"
#include "models/formats/block_format.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::values {

/// Result of a collective in the tensor's type, the same on all ranks. Possibly only partly
/// written.
class ResultTensor {
 public:
  /// Allocates memory of zeros, resident only where elements are written. Throws std::invalid_argument if
  /// `format` is not stored without scales, std::bad_alloc if there is not enough.
  ResultTensor(std::uint64_t elements, numerics::ElementFormat format);
  /// Uses the caller's memory, which must outlive this object and hold whole elements.
  ResultTensor(numerics::ElementFormat format, std::span<std::byte> stored);

  std::uint64_t elements() const { return elements_; }
  /// Thread-safe for ranges that do not overlap.
  void write(std::uint64_t first, std::span<const float> values);
  void read(std::uint64_t first, std::span<float> values) const;

  /// Returns the written parts of a range, in order. Not thread-safe with respect to write().
  std::vector<collectives::Range> written(collectives::Range range) const;

 private:
  std::size_t offset(std::uint64_t elements) const;

  std::uint64_t elements_;
  numerics::BlockCodec codec_;
  os::ZeroedPages own_;  ///< none if the caller owns the memory
  std::span<std::byte> stored_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> written_;  ///< begin -> end, merged where they touch
};

}  // namespace equarx::values
