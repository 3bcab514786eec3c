#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {

/// The layout of the tensor called `name`, or of the only one, in a .safetensors file whose whole
/// contents are `bytes`. Types F32, F16 and BF16; other tensors of the file may have any. FileError
/// about `file` otherwise, and if the file breaks a rule of the format (the description in the
/// repository huggingface/safetensors): a header of at most 100 MB, an object of objects without
/// duplicate keys; tensors that fill the data without holes or overlaps, each as long as its shape.
/// Names of tensors are only compared, and shown in errors.
TensorLayout read_safetensors_header(const std::filesystem::path& file,
                                     std::span<const std::byte> bytes,
                                     std::optional<std::string_view> name);

}  // namespace equarx::tensors
