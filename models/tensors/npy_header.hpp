#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {

/// Reads the layout of a .npy file (numpy.lib.format, versions 1.0, 2.0 and 3.0) with contents
/// `bytes`. Supports '<f4', '<f2' and '<u2' (read as bf16), in C order. Throws FileError, naming
/// `file`, for anything else, for a malformed header, and if the data do not have the size that the
/// header implies.
TensorLayout read_npy_header(const std::filesystem::path& file, std::span<const std::byte> bytes);

}  // namespace equarx::tensors
