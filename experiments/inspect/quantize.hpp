// Quantization error of a single tensor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// Options for quantizing a tensor file.
struct QuantizeOptions {
  numerics::BlockFormat format;
  /// Elements per strided scale group; a minishard has 1024 times as many, the last one fewer.
  std::uint32_t elements_per_scale = 128;
};

/// Reads format, scale, scale_rounding, layout, block, rounding and elements_per_scale.
/// @throws InputError.
QuantizeOptions read_quantize_options(const input::Json& json);

/// Effect of quantization on a tensor file.
struct QuantizeReport {
  std::vector<std::uint64_t> shape;
  numerics::ErrorMetrics error;     ///< of the dequantized values relative to the file
  numerics::QuantizeCounts counts;  ///< all zero for a format without scales
  double bits_per_element = 0.0;    ///< payload and scales
};

/// Quantizes and dequantizes the whole tensor, in pieces, on all cores; neither the report nor the
/// output depends on the number of cores. With `output`, writes the dequantized values there as a
/// .npy file of float32. @throws tensors::FileError.
QuantizeReport quantize_file(const tensors::TensorFile& file, const QuantizeOptions& options,
                             const std::optional<std::filesystem::path>& output);

/// The report as a table for people.
std::string to_table(const QuantizeReport& report);

}  // namespace equarx::inspect
