// Tensors of any type in a .safetensors file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "models/tensors/mapped_file.hpp"
#include "models/tensors/safetensors_header.hpp"

namespace equarx::tensors {

/// A memory-mapped .safetensors file. Opening reads only the header. The file must not change while
/// it is open.
class SafetensorsReader {
 public:
  /// Throws FileError if the file is missing or breaks a rule of the format.
  explicit SafetensorsReader(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return path_; }
  std::span<const SafetensorsEntry> tensors() const { return header_.tensors; }
  /// Null if the file has no such tensor.
  const SafetensorsEntry* find(std::string_view name) const;
  /// Elements as stored, at any alignment. Throws FileError unless they are `element_bytes` for
  /// each element of the shape.
  std::span<const std::byte> elements(const SafetensorsEntry& entry,
                                      std::size_t element_bytes) const;

 private:
  std::filesystem::path path_;
  MappedFile file_;
  SafetensorsHeader header_;
};

}  // namespace equarx::tensors
