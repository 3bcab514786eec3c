// Error of a single GEMM under a scheme.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/input/object_reader.hpp"
#include "models/gemm/scheme.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/stored/stored_format.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// Files of a product Y = X W^T. All dimensions but the last are rows.
struct ProductFiles {
  const tensors::TensorFile& x;
  const tensors::TensorFile& w;
  std::optional<tensors::TensorFile> importance = {};  ///< of each weight
  std::optional<std::filesystem::path> output = {};    ///< .npy file for Y, float32
};

/// Effect of a scheme on a product.
struct ProductReport {
  std::uint64_t tokens = 0;
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  double weight_bits = 0.0;  ///< per weight, all side data included; 0: without a format
  double activation_bits = 0.0;
  numerics::ErrorMetrics error = {};  ///< against the product of the unquantized operands in FP64
};

/// Multiplies, in memory, on all cores. @throws InputError for operands that do not suit the scheme;
/// tensors::FileError
ProductReport multiply(const ProductFiles& files, const gemm::Scheme& scheme);

/// The report as a table for people.
std::string to_table(const ProductReport& report);

/// The report as JSON.
input::Json to_json(const ProductReport& report);

}  // namespace equarx::inspect
