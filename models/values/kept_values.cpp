#include "models/values/kept_values.hpp"

#include <algorithm>
#include <utility>

namespace equarx::values {

KeptValues::KeptValues(std::uint64_t most_bytes, Make make)
    : most_in_shelf_(most_bytes / (kPiece * sizeof(float) * kShelves)), make_(std::move(make)) {}

void KeptValues::read(std::uint32_t rank, std::uint64_t first, std::span<float> values) {
  while (!values.empty()) {
    const std::uint64_t offset = first % kPiece;
    const auto count = std::min<std::uint64_t>(values.size(), kPiece - offset);
    const Piece piece = find(rank, first / kPiece);
    std::copy_n(piece->begin() + static_cast<std::ptrdiff_t>(offset), count, values.begin());
    values = values.subspan(count);
    first += count;
  }
}

/// Two threads may make the same piece at once; both are right.
KeptValues::Piece KeptValues::find(std::uint32_t rank, std::uint64_t number) {
  constexpr unsigned kRankShift = 40;  // more pieces than a tensor of 4 PiB has
  const std::uint64_t key = (std::uint64_t{rank} << kRankShift) + number;
  Shelf& shelf = shelves_[(number + rank) % kShelves];
  {
    const std::scoped_lock locked(shelf.lock);
    const auto found = shelf.pieces.find(key);
    if (found != shelf.pieces.end()) return found->second;
  }
  auto made = std::make_shared<std::vector<float>>(kPiece);
  make_(rank, number * kPiece, *made);
  const std::scoped_lock locked(shelf.lock);
  if (shelf.pieces.size() < most_in_shelf_) shelf.pieces.emplace(key, made);
  return made;
}

}  // namespace equarx::values
