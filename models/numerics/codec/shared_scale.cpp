#include "models/numerics/codec/shared_scale.hpp"

#include <stdexcept>

#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

SharedScale::SharedScale(const BlockFormat& format, float amax, std::uint32_t ranks) {
  if (!has_shared_scale(format)) throw std::invalid_argument("not a format with a shared scale");
  if (!(amax >= 0.0F)) throw std::invalid_argument("amax must be a number >= 0");
  if (ranks == 0 || ranks > most_ranks(format))
    throw std::invalid_argument("codes of that many ranks cannot be added");
  codes_ = make_rule_codec(format)->share(amax, ranks);
}

void SharedScale::decode(std::span<float> values) const {
  // 0 x Inf is NaN, so non-finite values do not vanish.
  const float step = codes_->step();
  for (float& value : values) value *= step;
}

void check_shared(const BlockFormat& format) {
  if (format.scaled || format.tensor_scale || format.rounding != Rounding::nearest)
    throw std::invalid_argument(
        "a shared scale excludes scales of groups and stochastic rounding of sums");
}

}  // namespace equarx::numerics
