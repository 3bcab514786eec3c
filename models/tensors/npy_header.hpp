#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "models/tensors/tensor_layout.hpp"

namespace equarx::tensors {

/// The layout of a .npy file of versions 1.0, 2.0 or 3.0 (numpy.lib.format), whose whole contents
/// are `bytes`. Types '<f4', '<f2' and '<u2', which is taken for bf16; C order only. FileError about
/// `file` otherwise, and if the header is malformed or the data are not of the size that it says.
TensorLayout read_npy_header(const std::filesystem::path& file, std::span<const std::byte> bytes);

}  // namespace equarx::tensors
