// Quantization error of a single tensor in a stored format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/output/table.hpp"
#include "models/checkpoints/layout.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/stored/stored_format.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// Effect of a stored format on a tensor.
struct StoredReport {
  std::vector<std::uint64_t> shape;
  numerics::ErrorMetrics error;
  stored::StoredBits bits;
  std::uint64_t apart = 0;                  ///< elements with full values
  std::optional<double> output_error = {};  ///< of the layer, if its inputs are known
  std::vector<int> widths = {};             ///< bits of groups of columns, if they differ
};

/// Files that belong to a tensor. Inputs of a layer: tokens in rows, or their Hessian X^T X up to a
/// factor.
struct StoredFiles {
  std::optional<tensors::TensorFile> importance = {};
  std::optional<tensors::TensorFile> inputs = {};
  std::optional<tensors::TensorFile> hessian = {};
};

/// A file to write, and its layout; none: decoded values as .npy of float32.
struct StoredOutput {
  std::filesystem::path file;
  std::optional<checkpoints::Layout> layout = std::nullopt;
  std::string weight = {};  ///< name of the weight in the layout
};

/// Checks that importance is given if and only if the format depends on it, in the shape of `file`.
/// @throws InputError at /importance
void check_importance(const tensors::TensorFile& file, const stored::StoredFormat& format,
                      const std::optional<tensors::TensorFile>& importance);

/// Encodes and decodes the tensor, as round_tensor(), and writes `output`; `share` is called with the
/// completed fraction. @throws InputError for a tensor or files that do not suit the format,
/// and a format that does not suit the layout; tensors::FileError
StoredReport quantize_stored(const tensors::TensorFile& file, const stored::StoredFormat& format,
                             const StoredFiles& files, const std::optional<StoredOutput>& output,
                             const std::function<void(double)>& share = {});

/// Writes decoded values as .npy. @throws tensors::FileError
void write_values(const std::filesystem::path& file, std::span<const std::uint64_t> shape,
                  std::span<const float> values);

/// Lines of a table for people: size and bits.
std::vector<output::TableRow> bits_rows(std::span<const std::uint64_t> shape,
                                        const stored::StoredBits& bits);
/// Lines of a table for people: errors.
std::vector<output::TableRow> error_rows(const numerics::ErrorMetrics& error);

/// The report as a table for people.
std::string to_table(const StoredReport& report);

}  // namespace equarx::inspect
