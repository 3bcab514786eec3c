#include "models/values/value_cache.hpp"

#include <algorithm>
#include <utility>

namespace equarx::values {

ValueCache::ValueCache(std::uint64_t most_bytes, Make make)
    : most_in_stripe_(most_bytes / (kPiece * sizeof(float) * kStripes)), make_(std::move(make)) {}

void ValueCache::read(std::uint32_t rank, std::uint64_t first, std::span<float> values) {
  while (!values.empty()) {
    const std::uint64_t offset = first % kPiece;
    const auto count = std::min<std::uint64_t>(values.size(), kPiece - offset);
    const Piece piece = find(rank, first / kPiece);
    std::copy_n(piece.get() + offset, count, values.begin());
    values = values.subspan(count);
    first += count;
  }
}

/// Two threads may compute the same piece concurrently; both copies are identical.
ValueCache::Piece ValueCache::find(std::uint32_t rank, std::uint64_t number) {
  constexpr unsigned kRankShift = 40;  // exceeds the number of pieces of a 4 PiB tensor
  const std::uint64_t key = (std::uint64_t{rank} << kRankShift) + number;
  Stripe& stripe = stripes_[(number + rank) % kStripes];
  {
    const std::scoped_lock locked(stripe.lock);
    const auto found = stripe.pieces.find(key);
    if (found != stripe.pieces.end()) return found->second;
  }
  const auto made = std::make_shared_for_overwrite<float[]>(kPiece);
  make_(rank, number * kPiece, std::span(made.get(), kPiece));
  const std::scoped_lock locked(stripe.lock);
  if (stripe.pieces.size() < most_in_stripe_) stripe.pieces.emplace(key, made);
  return made;
}

}  // namespace equarx::values
