#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/tensors/element_type.hpp"
#include "models/tensors/mapped_file.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {

/// A tensor in a memory-mapped .npy or .safetensors file. Opening reads only the header; values are
/// loaded on demand. The file must not change while it is open.
class TensorFile {
 public:
  /// Opens a file; its extension selects the format. `tensor` names a tensor of a .safetensors file
  /// and may be omitted if there is only one; the tensor of a .npy file has no name. Throws
  /// FileError unless the file is complete and well-formed, and the tensor non-empty and of a
  /// supported type.
  static TensorFile open(const std::filesystem::path& file,
                         std::optional<std::string_view> tensor = std::nullopt);

  /// At least one dimension, none of them 0; row-major order.
  std::span<const std::uint64_t> shape() const { return layout_.shape; }
  FileType dtype() const { return layout_.type; }
  /// The product of the shape.
  std::uint64_t elements() const { return layout_.elements; }

  /// Reads elements first, first + 1, ... in file order, exactly. Throws std::out_of_range if any
  /// lies outside the tensor. Thread-safe.
  void read(std::uint64_t first, std::span<float> values) const;

 private:
  TensorFile(std::unique_ptr<const MappedFile> file, TensorLayout layout);

  std::unique_ptr<const MappedFile> file_;
  TensorLayout layout_;
};

/// Tensor files: one per rank, or a single one whose leading axis is the rank.
using TensorFiles = std::vector<std::shared_ptr<const TensorFile>>;

}  // namespace equarx::tensors
