// Where a number of a hardware file comes from.
#pragma once

#include <cstdint>
#include <string_view>

namespace equarx::hardware {

/// Calibration and prediction never mix: whoever reads a result can see which parameters were fitted,
/// and to what.
enum class Provenance : std::uint8_t {
  datasheet,   ///< published by the maker
  measured,    ///< read off a real chip
  calibrated,  ///< fitted, so that a named observation comes out
  assumed,     ///< a guess, with its reasoning
};

std::string_view name(Provenance provenance);

}  // namespace equarx::hardware
