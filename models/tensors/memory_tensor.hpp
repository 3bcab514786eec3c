#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// A tensor in memory, such as an array owned by another program. Not copied: the array must
/// neither move nor change while it is read.
class MemoryTensor {
 public:
  /// `stored` holds little-endian elements at any alignment. Throws std::invalid_argument unless it
  /// is a whole number of elements.
  MemoryTensor(FileType type, std::span<const std::byte> stored);

  FileType dtype() const { return type_; }
  std::uint64_t elements() const { return stored_.size() / element_bytes(type_); }

  /// Reads elements first, first + 1, ..., exactly. Throws std::out_of_range if any lies outside
  /// the tensor. Thread-safe.
  void read(std::uint64_t first, std::span<float> values) const;

 private:
  FileType type_;
  std::span<const std::byte> stored_;
};

}  // namespace equarx::tensors
