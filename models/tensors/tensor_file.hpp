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

/// A tensor in a memory-mapped .npy or .safetensors file. Opening reads the header only; values are
/// read from the disk when they are asked for. The file must not be changed meanwhile.
class TensorFile {
 public:
  /// The format follows from the end of the file's name. `tensor` chooses one of a .safetensors file
  /// and may be left out if that has only one; a .npy file holds one without a name. FileError if the
  /// file is anything but a whole, well-formed, non-empty tensor of a supported type.
  static TensorFile open(const std::filesystem::path& file,
                         std::optional<std::string_view> tensor = std::nullopt);

  /// At least one dimension, none of them 0. The last one varies fastest.
  std::span<const std::uint64_t> shape() const { return layout_.shape; }
  FileType dtype() const { return layout_.type; }
  /// The product of the shape.
  std::uint64_t elements() const { return layout_.elements; }

  /// Elements first, first + 1, ... in the order of the file, exact. All of them must be in the
  /// tensor; std::out_of_range otherwise. Thread-safe.
  void read(std::uint64_t first, std::span<float> values) const;

 private:
  TensorFile(std::unique_ptr<const MappedFile> file, TensorLayout layout);

  std::unique_ptr<const MappedFile> file_;
  TensorLayout layout_;
};

/// Tensors in files: one file for each rank, or one for all, whose leading axis counts ranks.
using TensorFiles = std::vector<std::shared_ptr<const TensorFile>>;

}  // namespace equarx::tensors
