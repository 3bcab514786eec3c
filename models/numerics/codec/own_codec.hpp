// ScaleRule::own: codes computed by functions of the user.
//
// Blocks begin at the first element of each message, so that every message decodes on its own.
// Encoding and decoding are pure functions of a block; hence a message is decoded once, where it is
// encoded, and its readers share the decoded values, which equal their own decoding bit for bit.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Writes the decoding of the encoded `values` to `decoded`, which has the same size and
/// does not overlap it. Called by several threads at once. May throw.
using RoundTrip = std::function<void(std::span<const float> values, std::span<float> decoded)>;

/// Returns a codec whose payloads are decoded values, 4 bytes each (held_bytes()).
std::shared_ptr<const RuleCodec> make_own_codec(RoundTrip round_trip);

}  // namespace equarx::numerics
