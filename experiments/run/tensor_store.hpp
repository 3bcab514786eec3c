// File storage for the tensors of a run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "models/tensors/safetensors_writer.hpp"

namespace equarx::run {

/// Memory-mapped tensor files, which may be filled in any order. They appear at their final paths
/// only with keep().
class TensorStore {
 public:
  virtual ~TensorStore() = default;

  /// Elements of the tensor with this index, little-endian, initially zero.
  virtual std::span<std::byte> data(std::size_t tensor) = 0;
  /// Final path of the file with this tensor.
  virtual std::filesystem::path path(std::size_t tensor) const = 0;
  /// Moves the files to their final paths. @throws InputError if not all could be written
  virtual void keep() = 0;
};

/// Allocates tensors with distinct names: in one file if `path` ends in .safetensors, else as .npy
/// files in the folder `path`, which is created. Characters that need quoting become '_' in file
/// names.
/// @throws InputError if that cannot be written
std::unique_ptr<TensorStore> make_tensor_store(const std::filesystem::path& path,
                                               std::span<const tensors::NewTensor> tensors);

}  // namespace equarx::run
