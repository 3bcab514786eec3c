// Files of quantized weights in the layouts of engines.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "models/checkpoints/layout.hpp"
#include "models/checkpoints/weight.hpp"

namespace equarx::checkpoints {

/// Writes a stored tensor as `weight` into a .safetensors file of its own. Decoding it gives the
/// values of `packed`, bit for bit. @throws std::invalid_argument as check_layout(), and for zero
/// points that the layout cannot store; tensors::FileError
void write_layout(const std::filesystem::path& file, Layout layout, std::string_view weight,
                  const stored::StoredFormat& format, const stored::Packed& packed);

/// A weight of a checkpoint.
struct LayoutTensor {
  std::string weight;
  Layout layout;
  Stored stored;
};

/// Reads a weight of a .safetensors file: `weight`, with or without ".weight" at its end, or the
/// only one. Without `layout`, names and types of the tensors give it; of two GPTQ layouts, gptq.
/// Throws FileError for files without it, with several, with tensors that are missing, of other
/// types or do not fit together, and with scales that are not finite; NoTensorNamed for several
/// weights.
LayoutTensor read_layout(const std::filesystem::path& file, std::optional<Layout> layout,
                         std::optional<std::string_view> weight);

/// Name of a weight without ".weight" at its end.
std::string_view without_suffix(std::string_view weight);

}  // namespace equarx::checkpoints
