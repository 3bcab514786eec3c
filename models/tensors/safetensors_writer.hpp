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

/// Description of a tensor to write.
struct NewTensor {
  std::string name;                  ///< UTF-8
  FileType type = FileType::fp32;    ///< stored little-endian
  std::vector<std::uint64_t> shape;  ///< valid for count_elements()
};

class ReplacementFile;

/// A .safetensors file (as described in the repository huggingface/safetensors) whose tensors may
/// be filled in any order. It appears under its name only once keep() has succeeded.
class SafetensorsFile {
 public:
  /// Reserves the disk space. Throws std::logic_error for duplicate names or the name
  /// "__metadata__"; FileError if the file's name does not end in .safetensors, a shape is invalid,
  /// the header exceeds the format's limit, or the file cannot be written.
  SafetensorsFile(const std::filesystem::path& file, std::span<const NewTensor> tensors);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  /// Elements of a tensor, by index, initially 0 and aligned for their type. Threads may fill
  /// disjoint parts concurrently.
  std::span<std::byte> data(std::size_t tensor) { return data_.at(tensor); }
  /// Moves the file to its final name. Throws FileError if it could not be written completely.
  void keep();

 private:
  std::unique_ptr<ReplacementFile> file_;
  std::vector<std::span<std::byte>> data_;  ///< by tensor
};

}  // namespace equarx::tensors
