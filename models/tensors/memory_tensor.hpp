#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// A tensor that lies in memory: an array of another program's, for one. It is not copied, and must neither move nor
/// change while it is read.
class MemoryTensor {
 public:
  /// `stored` holds whole elements, little-endian, at any alignment; std::invalid_argument otherwise.
  MemoryTensor(FileType type, std::span<const std::byte> stored);

  FileType dtype() const { return type_; }
  std::uint64_t elements() const { return stored_.size() / element_bytes(type_); }

  /// Elements first, first + 1, ..., exact. All of them must be in the tensor; std::out_of_range otherwise.
  /// Thread-safe.
  void read(std::uint64_t first, std::span<float> values) const;

 private:
  FileType type_;
  std::span<const std::byte> stored_;
};

}  // namespace equarx::tensors
