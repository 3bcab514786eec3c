// Quantization error of a single tensor in a stored format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/numerics/errors/metrics.hpp"
#include "models/stored/stored_format.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// Effect of a stored format on a tensor.
struct StoredReport {
  std::vector<std::uint64_t> shape;
  numerics::ErrorMetrics error;
  stored::StoredBits bits;
  std::uint64_t apart = 0;  ///< elements with full values
};

/// The last dimension is the columns, all others are rows.
stored::Shape rows_and_columns(std::span<const std::uint64_t> shape);

/// All values of a file, in FP32.
std::vector<float> all_values(const tensors::TensorFile& file);

/// Checks that importance is given if and only if the format depends on it, in the shape of `file`.
/// @throws InputError at /importance
void check_importance(const tensors::TensorFile& file, const stored::StoredFormat& format,
                      const std::optional<tensors::TensorFile>& importance);

/// Encodes and decodes the whole tensor, in memory. With `output`, writes the decoded values there
/// as a .npy file of float32. @throws InputError for a tensor or `importance` that does not suit
/// the format; tensors::FileError
StoredReport quantize_stored(const tensors::TensorFile& file, const stored::StoredFormat& format,
                             const std::optional<tensors::TensorFile>& importance,
                             const std::optional<std::filesystem::path>& output);

/// The report as a table for people.
std::string to_table(const StoredReport& report);

}  // namespace equarx::inspect
