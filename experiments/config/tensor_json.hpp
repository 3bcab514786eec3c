// "tensor" of a configuration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Keys of which one is given.
inline constexpr std::array<std::string_view, 2> kTensorSizes = {"shape", "bytes"};

/// More elements than any machine holds, and few enough to be counted in bits.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

/// A tensor's size that is not asked for but follows from something else: a workload.
struct ImposedSize {
  std::vector<std::uint64_t> shape;
  double sample = 1.0;  ///< if the configuration has none
};

/// Opens the tensor's files, if it has some. `ranks`: as many tensors are needed.
/// @throws InputError also if another size is asked for than the imposed one.
TensorConfig read_tensor(input::ObjectReader reader, std::uint32_t ranks,
                         const std::optional<ImposedSize>& imposed = std::nullopt);
/// A tensor as a configuration has it, with every default filled in.
input::Json tensor_json(const TensorConfig& tensor);

/// What a tensor's values are: their distribution, or "files".
std::string_view values_name(const TensorConfig& tensor);

}  // namespace equarx::config
