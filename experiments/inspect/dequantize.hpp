// Decoding of a quantized weight in the layout of an engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/checkpoints/layout_file.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// A decoded weight.
struct Dequantized {
  checkpoints::LayoutTensor tensor;
  std::vector<float> values;
  std::optional<numerics::ErrorMetrics> error;  ///< against the original
};

/// Reads a weight as checkpoints::read_layout(), and decodes it. With `original`, of the same rows
/// and columns, computes errors; with `output`, writes the values as .npy of float32.
/// @throws InputError for an original of another shape; tensors::FileError
Dequantized dequantize(const std::filesystem::path& file, std::optional<checkpoints::Layout> layout,
                       std::optional<std::string_view> weight,
                       const std::optional<tensors::TensorFile>& original,
                       const std::optional<std::filesystem::path>& output);

/// Rows and columns of a decoded weight.
std::vector<std::uint64_t> shape_of(const Dequantized& dequantized);

/// The report as a table for people.
std::string to_table(const Dequantized& dequantized);

}  // namespace equarx::inspect
