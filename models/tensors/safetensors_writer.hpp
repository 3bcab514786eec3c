#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// A tensor that is to be written.
struct NewTensor {
  std::string name;                  ///< UTF-8
  FileType type = FileType::fp32;    ///< stored little-endian
  std::vector<std::uint64_t> shape;  ///< as count_elements() takes it
};

class ReplacementFile;

/// A .safetensors file (the description in the repository huggingface/safetensors) whose tensors are filled in any
/// order. It is there whole, once it is kept, or not at all.
class SafetensorsFile {
 public:
  /// Reserves the file's room. Names must differ, and none is "__metadata__": std::logic_error. FileError if the file's
  /// name does not end in .safetensors, a shape is that of no tensor, the header would be longer than readers take, or
  /// the file cannot be written.
  SafetensorsFile(const std::filesystem::path& file, std::span<const NewTensor> tensors);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  /// The elements of a tensor, by its place in the list, zeros at first. Aligned as its type wants it. Different parts
  /// may be filled by different threads.
  std::span<std::byte> data(std::size_t tensor) { return data_.at(tensor); }
  /// Puts the file in its place. FileError if not all of it could be written.
  void keep();

 private:
  std::unique_ptr<ReplacementFile> file_;
  std::vector<std::span<std::byte>> data_;  ///< by tensor
};

}  // namespace equarx::tensors
