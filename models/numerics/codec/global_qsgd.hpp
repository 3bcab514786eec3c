// ScaleRule::global_qsgd: one scale with enough headroom to add the codes of N ranks directly, in
// FP32. Source: sands-lab/global-qsgd (MIT), gqsgd/ddphook.py.
//
// int8, standard_dithering_hook: s = (N amax) * (1 / 127); code = x / s, rounded stochastically
// without bias to one of the two neighbouring integers; value = code * s. Sums of codes wrap as
// 8-bit two's complement: the code 127 / N of every rank may round up, and if all do, for N that
// does not divide 127, the sum reaches 128 or more. The reference computes a mean, codes times amax
// / 127: for N a power of two, which its tree requires, the same bits as the sum here over N. An
// amax of 0 gives codes of 0, where the reference divides by it; a non-finite amax gives NaN
// everywhere. The codec accepts sums of codes, i.e. integers, only.
//
// exp8, exponential_dithering_hook: s = amax (2 N); code = x / s, rounded stochastically to a power
// of two (exponents.hpp); value = code * s. The reference divides that by N.
#pragma once

#include <memory>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

/// Returns the codec of a format of ScaleRule::global_qsgd. That of exp8 throws std::logic_error
/// from dequantize_add(), as exponents::add() adds its codes.
/// @throws std::invalid_argument for anything but int8 and exp8 without scales of groups, rounded
/// to nearest
std::unique_ptr<const RuleCodec> make_global_qsgd(const BlockFormat& format);

}  // namespace equarx::numerics
