// Origin of a number in a hardware file.
#pragma once

#include <cstdint>
#include <string_view>

namespace equarx::hardware {

/// Separates calibration from prediction: results show which parameters were fitted, and to what.
enum class Provenance : std::uint8_t {
  datasheet,   ///< published by the vendor
  measured,    ///< measured on a real chip
  calibrated,  ///< fitted to a named observation
  assumed,     ///< estimate, with its rationale
};

std::string_view name(Provenance provenance);

}  // namespace equarx::hardware
