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

/// Writes a tensor as a .npy file of version 1.0, type '<f4', C order. `produce` is asked for all
/// elements once, in order, a piece at a time. A file of that name is replaced at the end, in one
/// step: whoever reads it sees the old tensor or the new one, and after an error the old one.
/// FileError if the name does not end in .npy, the shape is not that of a tensor, or the file cannot
/// be written, for example because the disk is full. Throws what `produce` throws.
void write_npy(const std::filesystem::path& file, std::span<const std::uint64_t> shape,
               const ValueProducer& produce);

class ReplacementFile;

/// A .npy file of version 1.0, C order, whose elements are filled in any order. It is there whole, once it is kept,
/// or not at all.
class NpyFile {
 public:
  /// Reserves the file's room. Elements are of `type`, little-endian; .npy has neither bf16 nor FP8, which are written
  /// as their bits: '<u2', '|u1'. FileError as of write_npy().
  NpyFile(const std::filesystem::path& file, FileType type, std::span<const std::uint64_t> shape);
  NpyFile(NpyFile&&) noexcept;
  ~NpyFile();

  /// The elements, zeros at first. Different parts may be filled by different threads.
  std::span<std::byte> data() { return data_; }
  /// Puts the file in its place. FileError if not all of it could be written.
  void keep();

 private:
  std::unique_ptr<ReplacementFile> file_;
  std::span<std::byte> data_;
};

}  // namespace equarx::tensors
