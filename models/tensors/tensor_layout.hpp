#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "models/tensors/element_type.hpp"

namespace equarx::tensors {

/// Location of a tensor in its file, as given by the header; entirely inside the file.
struct TensorLayout {
  FileType type = FileType::fp32;
  std::vector<std::uint64_t> shape;  ///< 1 to kMaxDimensions dimensions, none of them 0
  std::uint64_t elements = 0;        ///< product of the shape
  std::size_t offset = 0;            ///< bytes from the start of the file; any alignment
};

/// Maximum number of dimensions, the same as numpy's; few enough to print.
inline constexpr std::size_t kMaxDimensions = 64;

/// Formats a shape as numpy does, for example (3, 4) or (3,).
std::string shape_text(std::span<const std::uint64_t> shape);

/// Returns the number of elements of a shape. Throws FileError, naming `file`, if it has no
/// dimensions, too many, no elements, or more than can be addressed as fp32.
std::uint64_t count_elements(const std::filesystem::path& file,
                             std::span<const std::uint64_t> shape);

}  // namespace equarx::tensors
