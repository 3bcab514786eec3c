// File storage for the tensors of a run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/tensors/safetensors_writer.hpp"

namespace equarx::run {

/// A tensor to store.
struct StoredTensor {
  std::string group;  ///< subfolder, or "group/" before the name in a single file; empty: none
  tensors::NewTensor tensor;
};

/// Memory-mapped tensor files, which may be filled in any order. They appear at their final paths
/// only with keep().
class TensorStore {
 public:
  virtual ~TensorStore() = default;

  /// Elements of the tensor with this index, little-endian, initially zero.
  virtual std::span<std::byte> data(std::size_t tensor) = 0;
  /// Final path of the file with this tensor.
  virtual std::filesystem::path path(std::size_t tensor) const = 0;
  /// Moves the files to their final paths. @throws tensors::FileError if not all could be written
  virtual void keep() = 0;
};

/// Allocates tensors whose names with their groups are distinct: in one file if `path` ends in
/// .safetensors, else as .npy files in the folder `path`, which is created. Characters that need
/// quoting become '_' in names of files and folders; equal ones get another '_'.
/// @throws input::UserError if that cannot be written
std::unique_ptr<TensorStore> make_tensor_store(const std::filesystem::path& path,
                                               std::span<const StoredTensor> tensors);

}  // namespace equarx::run
