// "tensor" of a configuration.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Keys of which one is given.
inline constexpr std::array<std::string_view, 2> kTensorSizes = {"shape", "bytes"};

/// More elements than any machine holds, and few enough to be counted in bits.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

/// Opens the tensor's files, if it has some. `ranks`: as many tensors are needed.
TensorConfig read_tensor(input::ObjectReader reader, std::uint32_t ranks);
input::Json tensor_json(const TensorConfig& tensor);

/// What a tensor's values are: their distribution, or "files".
std::string_view values_name(const TensorConfig& tensor);

}  // namespace equarx::config
