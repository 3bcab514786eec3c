// The "tensor" of a configuration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Alternative keys for the size.
inline constexpr std::array<std::string_view, 2> kTensorSizes = {"shape", "bytes"};

/// More elements than any machine holds, and few enough that their bits can be counted.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

/// A tensor size determined elsewhere: by a workload.
struct ImposedSize {
  std::vector<std::uint64_t> shape;
  double sample = 1.0;  ///< default
};

/// Reads a tensor and opens its files. `ranks`: number of tensors needed. `node_ranks`: ranks of a
/// node, all if 0. @throws InputError also if the requested size differs from the imposed one.
TensorConfig read_tensor(input::ObjectReader reader, std::uint32_t ranks,
                         const std::optional<ImposedSize>& imposed = std::nullopt,
                         std::uint32_t node_ranks = 0);
/// The tensor as configuration JSON, with all defaults filled in.
input::Json tensor_json(const TensorConfig& tensor);

/// True for independent normal values on all ranks, which theories of errors assume.
bool has_normal_values(const TensorConfig& tensor);

/// Reads the keys of "values", without opening files and without finishing the reader.
void read_value_keys(input::ObjectReader& reader, TensorConfig& tensor);

/// Schema of "tensor", with annotations.
input::Json tensor_schema();
/// Schema of an object with the keys of "values", with annotations.
input::Json value_keys_schema();
/// Schema of "sample".
input::Json sample_schema();
/// Schema of "dtype".
input::Json tensor_type_schema();

/// Opens the files of a tensor and returns the shape of one rank's tensor. `pointer`: of the object
/// with "files". @throws InputError if a file is unreadable, or if there is neither one for each rank
/// nor one with a leading rank axis
std::vector<std::uint64_t> open_files(TensorConfig& tensor, std::uint32_t ranks,
                                      const std::string& pointer);

/// Reads "sample", the share of elements to compute, above 0 and up to 1.
double read_sample(input::ObjectReader& reader);

/// Source of a tensor's values: a distribution, or "files".
std::string_view values_name(const TensorConfig& tensor);

}  // namespace equarx::config
