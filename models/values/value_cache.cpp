#include "models/values/value_cache.hpp"

#include <algorithm>
#include <utility>

#include "models/numerics/codec/round_values.hpp"
#include "models/values/make_room.hpp"

namespace equarx::values {

ValueCache::ValueCache(std::uint64_t most_bytes, numerics::ElementFormat format, Make make)
    : codec_({.element = format}),
      most_in_stripe_(most_bytes / (numerics::payload_bytes(codec_.format(), kPiece) * kStripes)),
      make_(std::move(make)) {}

void ValueCache::read(std::uint32_t rank, std::uint64_t first, std::span<float> values) {
  while (!values.empty()) {
    const std::uint64_t offset = first % kPiece;
    const std::span<float> here =
        values.first(std::min<std::uint64_t>(values.size(), kPiece - offset));
    const std::span<const std::byte> piece = find(rank, first / kPiece);
    const auto bytes = [&](std::uint64_t elements) {
      return numerics::payload_bytes(codec_.format(), elements);
    };
    if (piece.empty()) {
      make_(rank, first, here);
      numerics::round_to_element(codec_.format().element, here);
    } else {
      codec_.dequantize(piece.subspan(bytes(offset), bytes(here.size())), 0, {}, here);
    }
    values = values.subspan(here.size());
    first += here.size();
  }
}

/// Returns a piece, or nothing if it exceeds the limit. Pieces stay where they are once they are held.
/// Two threads may compute the same piece concurrently; both copies are identical.
std::span<const std::byte> ValueCache::find(std::uint32_t rank, std::uint64_t number) {
  constexpr unsigned kRankShift = 40;  // exceeds the number of pieces of a 4 PiB tensor
  const std::uint64_t key = (std::uint64_t{rank} << kRankShift) + number;
  Stripe& stripe = stripes_[(number + rank) % kStripes];
  {
    const std::scoped_lock locked(stripe.lock);
    const auto found = stripe.pieces.find(key);
    if (found != stripe.pieces.end()) return found->second;
    if (stripe.pieces.size() >= most_in_stripe_) return {};
  }
  std::array<float, kPiece> values;
  make_(rank, number * kPiece, values);
  Piece made;
  make_room(made, numerics::payload_bytes(codec_.format(), kPiece));
  codec_.quantize(values, 0, {}, made);
  const std::scoped_lock locked(stripe.lock);
  if (stripe.pieces.size() >= most_in_stripe_ && !stripe.pieces.contains(key)) return {};
  return stripe.pieces.emplace(key, std::move(made)).first->second;
}

}  // namespace equarx::values
