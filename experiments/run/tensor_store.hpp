// Files for the tensors of a run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "models/tensors/safetensors_writer.hpp"

namespace equarx::run {

/// Some tensors in files, filled in any order: not held in memory, and there, once they are kept, or not at all.
class TensorStore {
 public:
  virtual ~TensorStore() = default;

  /// The elements of a tensor, by its place in the list, little-endian; zeros at first.
  virtual std::span<std::byte> data(std::size_t tensor) = 0;
  /// The file that a tensor will be in.
  virtual std::filesystem::path path(std::size_t tensor) const = 0;
  /// Puts the files in place. @throws InputError if not all of them could be written
  virtual void keep() = 0;
};

/// Makes room for tensors whose names differ: in one file, if `path` ends in .safetensors; else in a folder, which is
/// made, each as a .npy file with its name, in which what would need quotes is replaced.
/// @throws InputError if that cannot be written
std::unique_ptr<TensorStore> make_tensor_store(const std::filesystem::path& path,
                                               std::span<const tensors::NewTensor> tensors);

}  // namespace equarx::run
