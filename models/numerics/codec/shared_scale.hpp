// A scale shared by the tensors of all ranks, so that codes can be added directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/shared_codes.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Scale of a format with has_shared_scale(), computed by its rule (fp8lm.hpp, global_qsgd.hpp)
/// from amax, the largest magnitude in the tensors of all ranks. Immutable.
class SharedScale {
 public:
  /// @throws std::invalid_argument if the format has no shared scale, amax is negative or NaN, or
  /// `ranks` is 0 or exceeds most_ranks()
  SharedScale(const BlockFormat& format, float amax, std::uint32_t ranks);

  /// Replaces the values of a rank with codes, as floats, in place.
  /// @param key random stream of a rule that rounds stochastically
  void encode(std::span<float> values, const RoundingKey& key) const {
    codes_->encode(values, key);
  }
  /// Replaces codes, or sums of codes, with their values, in place.
  void decode(std::span<float> values) const;

  /// Value of code 1.
  float step() const { return codes_->step(); }
  /// Largest code of one rank.
  float largest_code() const { return codes_->largest(); }

 private:
  std::unique_ptr<const SharedCodes> codes_;
};

/// Checks properties common to all formats with a shared scale.
/// @throws std::invalid_argument for scales of groups or stochastic rounding of sums
void check_shared(const BlockFormat& format);

}  // namespace equarx::numerics
