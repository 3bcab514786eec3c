// The "tensor" of a configuration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

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

/// Reads a tensor and opens its files. `ranks`: number of tensors needed. @throws InputError also
/// if the requested size differs from the imposed one.
TensorConfig read_tensor(input::ObjectReader reader, std::uint32_t ranks,
                         const std::optional<ImposedSize>& imposed = std::nullopt);
/// The tensor as configuration JSON, with all defaults filled in.
input::Json tensor_json(const TensorConfig& tensor);

/// Source of a tensor's values: a distribution, or "files".
std::string_view values_name(const TensorConfig& tensor);

}  // namespace equarx::config
