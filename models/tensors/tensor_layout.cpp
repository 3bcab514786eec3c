#include "models/tensors/tensor_layout.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/tensors/file_error.hpp"

namespace equarx::tensors {

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::uint64_t count_elements(const std::filesystem::path& file,
                             std::span<const std::uint64_t> shape) {
  if (shape.empty())
    throw FileError(file,
                    "holds a single number of shape (); a tensor needs at least one dimension");
  if (shape.size() > kMaxDimensions)
    throw FileError(file, fmt::format("has {} dimensions; at most {} are supported", shape.size(),
                                      kMaxDimensions));
  if (std::ranges::find(shape, 0U) != shape.end())
    throw FileError(file, fmt::format("has shape {} and so no elements", shape_text(shape)));
  constexpr std::uint64_t kMostElements =
      std::numeric_limits<std::int64_t>::max() / element_bytes(FileType::fp32);
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : shape) {
    if (dimension > kMostElements / elements)
      throw FileError(file, fmt::format("has shape {}, more elements than can be addressed",
                                        shape_text(shape)));
    elements *= dimension;
  }
  return elements;
}

}  // namespace equarx::tensors
