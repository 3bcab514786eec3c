// Layouts of quantized weights that inference engines read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/stored/stored_format.hpp"

namespace equarx::checkpoints {

enum class Layout : std::uint8_t {
  gptq,
  gptq_v2,
  awq,
  pack_quantized,
  int_quantized,
  float_quantized,
  mxfp4_pack_quantized,
  nvfp4_pack_quantized,  ///< can only be read
  modelopt_nvfp4
};

/// Names in the order of Layout.
inline constexpr std::array<std::string_view, 9> kLayoutNames = {"gptq",
                                                                 "gptq-v2",
                                                                 "awq",
                                                                 "pack-quantized",
                                                                 "int-quantized",
                                                                 "float-quantized",
                                                                 "mxfp4-pack-quantized",
                                                                 "nvfp4-pack-quantized",
                                                                 "modelopt-nvfp4"};

/// std::nullopt for other names.
std::optional<Layout> layout_named(std::string_view name);
std::string_view name(Layout layout);

/// Checks that a layout can store tensors of a format and a shape. @throws std::invalid_argument
void check_layout(Layout layout, const stored::StoredFormat& format, const stored::Shape& shape);

}  // namespace equarx::checkpoints
