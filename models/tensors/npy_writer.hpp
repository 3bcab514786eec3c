#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// Fills `values` with the elements first, first + 1, ... of a tensor.
using ValueProducer = std::function<void(std::uint64_t first, std::span<float> values)>;

/// Writes a tensor as a .npy file of version 1.0, type '<f4', C order. Calls `produce` for
/// consecutive pieces that cover every element once. An existing file is replaced atomically at the
/// end: readers see either the old tensor or the new one, and the old one after an error.
/// Throws FileError if the name does not end in .npy, the shape is invalid, or the file cannot be
/// written, for example because the disk is full; and whatever `produce` throws.
void write_npy(const std::filesystem::path& file, std::span<const std::uint64_t> shape,
               const ValueProducer& produce);

class ReplacementFile;

/// A .npy file of version 1.0, C order, whose elements may be filled in any order. It appears under
/// its name only once keep() has succeeded.
class NpyFile {
 public:
  /// Reserves the disk space. Elements are little-endian `type`; bf16 and FP8, which .npy lacks,
  /// are stored as '<u2' and '|u1'. Throws FileError as write_npy().
  NpyFile(const std::filesystem::path& file, FileType type, std::span<const std::uint64_t> shape);
  NpyFile(NpyFile&&) noexcept;
  ~NpyFile();

  /// Elements, initially 0. Threads may fill disjoint parts concurrently.
  std::span<std::byte> data() { return data_; }
  /// Moves the file to its final name. Throws FileError if it could not be written completely.
  void keep();

 private:
  std::unique_ptr<ReplacementFile> file_;
  std::span<std::byte> data_;
};

}  // namespace equarx::tensors
