// How ranks form the sums of a collective: the arithmetic that its wire formats leave open.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/formats/block_format.hpp"

namespace equarx::collectives {

/// The value that the owner of a shard keeps, if the AllGather rounds sums.
enum class OwnerKeeps : std::uint8_t {
  sent,    ///< the encoded sum, as all others decode it: all ranks end with the same bits
  summed,  ///< its own sum in the tensor's type, which never was on the wire: ranks differ
};

/// Subnormal operands and results of additions.
enum class Subnormals : std::uint8_t {
  keep,
  flush,  ///< to zero of their sign, as by -ftz=true and -prec=daz
};

/// Finite values beyond the largest of a type without scales that they are rounded to.
enum class Overflow : std::uint8_t {
  by_type,   ///< Inf in bf16 and fp16; the largest code in FP8 (OFP8's saturating conversion)
  saturate,  ///< the largest finite value
  infinity,  ///< Inf, or NaN in a type without Inf (OFP8's non-saturating conversion)
};

/// Order in which the owner of a shard adds the terms of all ranks, where it has them all.
enum class SumOrder : std::uint8_t {
  arrival,  ///< its own first, then each as it arrives: the program's order
  ranks,    ///< from rank 0 on, the same for all shards; the sum waits for the last term
  owner,    ///< its own first, then the ranks that follow it, cyclically; the sum waits as well
};

/// Where a fused residual, the same on all ranks, is added.
enum class Residual : std::uint8_t {
  none,
  before,  ///< to the sum of all terms, in the accumulator, before it is rounded
  after,   ///< to the rounded result, which is then rounded again
};

/// Arithmetic of sums. The default adds in FP32, and rounds where the program encodes.
struct Arithmetic {
  /// Type of the accumulator, a tensor type: terms are converted to it, and every addition is
  /// rounded to it. std::nullopt: FP32, except where Op::reduce_shards adds in the wire format.
  std::optional<numerics::ElementFormat> accumulate = std::nullopt;
  SumOrder order = SumOrder::arrival;
  OwnerKeeps owner = OwnerKeeps::sent;
  Subnormals subnormals = Subnormals::keep;
  Overflow overflow = Overflow::by_type;
  Residual residual = Residual::none;

  bool operator==(const Arithmetic&) const = default;
};

std::string_view name(OwnerKeeps owner);
std::string_view name(Subnormals subnormals);
std::string_view name(Overflow overflow);
std::string_view name(SumOrder order);
std::string_view name(Residual residual);

}  // namespace equarx::collectives
