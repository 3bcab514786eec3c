#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/tensors/safetensors_json.hpp"
#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {

/// All tensors of a .safetensors file.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  ///< in the order of the data
  std::size_t data_start = 0;             ///< bytes from the start of the file
};

/// Reads and checks a header, except that sizes and shapes of tensors agree. Throws FileError as
/// read_safetensors_header().
SafetensorsHeader read_safetensors_entries(const std::filesystem::path& file,
                                           std::span<const std::byte> bytes);

/// Throws FileError unless a tensor has `element_bytes` of data for each element of its shape.
void check_size(const std::filesystem::path& file, const SafetensorsEntry& entry,
                std::size_t element_bytes);

/// Reads the layout of tensor `name`, or of the only tensor, from a .safetensors file with contents
/// `bytes`. Supports F32, F16, BF16, F8_E4M3 and F8_E5M2; other tensors in the file may have any
/// type. Throws FileError, naming `file`, otherwise, and if the file breaks a rule of the format
/// (as described in the repository huggingface/safetensors): a header of at most 100 MB, an object
/// of objects without duplicate keys; tensors that fill the data without gaps or overlaps, each of
/// the size of its shape. Tensor names are only compared, and shown in errors.
TensorLayout read_safetensors_header(const std::filesystem::path& file,
                                     std::span<const std::byte> bytes,
                                     std::optional<std::string_view> name);

}  // namespace equarx::tensors
