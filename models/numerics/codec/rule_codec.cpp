#include "models/numerics/codec/rule_codec.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/numerics/codec/amax_scale.hpp"
#include "models/numerics/codec/fp8lm.hpp"
#include "models/numerics/codec/global_qsgd.hpp"
#include "models/numerics/codec/quickreduce.hpp"
#include "models/numerics/codec/sdp4bit.hpp"
#include "models/numerics/codec/zeropp.hpp"

namespace equarx::numerics {
namespace {

/// A rule and the factory of its codecs.
struct Rule {
  ScaleRule rule;
  std::unique_ptr<const RuleCodec> (*make)(const BlockFormat& format);
};

constexpr std::array kRules = {
    Rule{ScaleRule::amax, make_amax_scale}, Rule{ScaleRule::quickreduce, make_quickreduce},
    Rule{ScaleRule::zeropp, make_zeropp},   Rule{ScaleRule::sdp4bit, make_sdp4bit},
    Rule{ScaleRule::fp8lm, make_fp8lm},     Rule{ScaleRule::global_qsgd, make_global_qsgd},
};

}  // namespace

QuantizeCounts RuleCodec::quantize_and_count(const ScaledPiece& piece,
                                             std::span<const float> values,
                                             std::span<std::byte> payload) const {
  quantize(piece, values, payload);
  return count(piece, values);
}

std::unique_ptr<const SharedCodes> RuleCodec::share(float /*amax*/, std::uint32_t /*ranks*/) const {
  throw std::logic_error("share: the rule has no shared scale");
}

std::unique_ptr<const RuleCodec> make_rule_codec(const BlockFormat& format) {
  if (format.rule == ScaleRule::own)
    throw std::invalid_argument("is computed by functions of its user, which are not given");
  const auto found = std::ranges::find(kRules, format.rule, &Rule::rule);
  if (found == kRules.end()) throw std::logic_error("make_rule_codec: not a scale rule");
  return found->make(format);
}

}  // namespace equarx::numerics
