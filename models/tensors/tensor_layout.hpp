#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// Where a tensor lies in its file, as the file's header says. All of it lies inside the file.
struct TensorLayout {
  FileType type = FileType::fp32;
  std::vector<std::uint64_t> shape;  ///< 1 to kMaxDimensions of them, none is 0
  std::uint64_t elements = 0;        ///< product of the shape
  std::size_t offset = 0;            ///< bytes from the start of the file; any alignment
};

/// More than numpy can hold (64), and few enough to be shown.
inline constexpr std::size_t kMaxDimensions = 64;

/// A shape as numpy writes it, for example (3, 4) or (3,).
std::string shape_text(std::span<const std::uint64_t> shape);

/// Elements of a tensor of that shape. FileError about `file` if it has no dimensions, too many, no
/// elements, or more than can be addressed as fp32.
std::uint64_t count_elements(const std::filesystem::path& file,
                             std::span<const std::uint64_t> shape);

}  // namespace equarx::tensors
