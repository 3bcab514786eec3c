// Quantizes one tensor once, and says what that did to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// How a tensor file is quantized.
struct QuantizeOptions {
  numerics::BlockFormat format;
  /// Of a strided scale group; a minishard has 1024 times as many elements, the last one fewer.
  std::uint32_t elements_per_scale = 128;
};

/// Reads format, scale, layout, block, rounding and elements_per_scale. @throws InputError.
QuantizeOptions read_quantize_options(const input::Json& json);

/// What quantizing a tensor file does to its values.
struct QuantizeReport {
  std::vector<std::uint64_t> shape;
  numerics::ErrorMetrics error;     ///< of the dequantized values against those of the file
  numerics::QuantizeCounts counts;  ///< all zero for a format without scales
  double bits_per_element = 0.0;    ///< payload and scales
};

/// Quantizes and dequantizes the whole tensor, piece by piece, on all cores; neither the report nor what is
/// written depends on how many there are. With `output`, writes the dequantized values there as a .npy file
/// of float32. @throws tensors::FileError.
QuantizeReport quantize_file(const tensors::TensorFile& file, const QuantizeOptions& options,
                             const std::optional<std::filesystem::path>& output);

/// The report as a table for people.
std::string to_table(const QuantizeReport& report);

}  // namespace equarx::inspect
