// Codes under a scale shared by all ranks: the interface that rules with such a scale implement.
#pragma once

#include <span>

#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Codes of the values of one rank, for one amax and number of ranks. Immutable.
class SharedCodes {
 public:
  SharedCodes() = default;
  virtual ~SharedCodes() = default;
  SharedCodes(const SharedCodes&) = delete;
  SharedCodes& operator=(const SharedCodes&) = delete;

  /// Value of code 1.
  virtual float step() const = 0;
  /// Largest code of one rank.
  virtual float largest() const = 0;
  /// Replaces values with codes, as floats, in place. `key`: stream of the stochastic rounding.
  virtual void encode(std::span<float> values, const RoundingKey& key) const = 0;
};

}  // namespace equarx::numerics
