#include "models/collectives/rank_grid.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace equarx::collectives {

RankGrid::RankGrid(std::vector<std::uint32_t> lengths,
                   const std::vector<std::vector<std::uint32_t>>& factors)
    : lengths_(std::move(lengths)), axes_(lengths_.size()) {
  if (lengths_.empty() || lengths_.size() > std::numeric_limits<AxisSet>::digits)
    throw std::invalid_argument("ranks need 1 to 32 axes");
  for (std::size_t axis = lengths_.size(); axis-- > 0;) {
    if (lengths_[axis] < 2)
      throw std::invalid_argument("a collective needs at least two chips along every axis");
    if (lengths_[axis] > kMaxRanks / ranks_)
      throw std::invalid_argument(fmt::format("a collective can have at most {} ranks", kMaxRanks));
    const bool has_bits = std::has_single_bit(lengths_[axis]) && std::has_single_bit(ranks_);
    axes_[axis] = {.length = lengths_[axis],
                   .stride = ranks_,
                   .shift = static_cast<std::uint32_t>(std::countr_zero(ranks_)),
                   .mask = has_bits ? lengths_[axis] - 1 : 0};
    ranks_ *= lengths_[axis];
  }
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis)
    add_factors(axis, axis < factors.size() && !factors[axis].empty()
                          ? factors[axis]
                          : std::vector{lengths_[axis]});
}

void RankGrid::add_factors(std::size_t axis, const std::vector<std::uint32_t>& lengths) {
  std::uint32_t stride = axes_[axis].stride * lengths_[axis];
  for (const std::uint32_t length : lengths) {
    if (length < 2 || stride % length != 0)
      throw std::invalid_argument("factors of an axis must divide its length");
    stride /= length;
    const bool has_bits = std::has_single_bit(length) && std::has_single_bit(stride);
    factors_.push_back({length, stride, has_bits ? (length - 1) * stride : 0});
  }
  if (stride != axes_[axis].stride)
    throw std::invalid_argument("factors of an axis must multiply to its length");
}

Offset RankGrid::along(std::size_t axis, std::uint32_t steps) const {
  return steps % lengths_[axis] * axes_[axis].stride;
}

Offset RankGrid::difference(Rank to, Rank from) const {
  Offset offset = 0;
  for (const auto& [length, stride, bits] : factors_)
    offset += bits != 0
                  ? ((to & bits) - (from & bits)) & bits
                  : (to / stride % length + length - from / stride % length) % length * stride;
  return offset;
}

std::uint32_t RankGrid::span(AxisSet axes) const {
  std::uint32_t ranks = 1;
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis)
    if ((axes >> axis & 1U) != 0) ranks *= lengths_[axis];
  return ranks;
}

std::vector<Offset> RankGrid::offsets(AxisSet axes) const {
  std::vector<Offset> found = {0};
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
    if ((axes >> axis & 1U) == 0) continue;
    std::vector<Offset> further;
    further.reserve(found.size() * lengths_[axis]);
    for (const Offset offset : found)
      for (std::uint32_t steps = 0; steps < lengths_[axis]; ++steps)
        further.push_back(offset + along(axis, steps));
    found = std::move(further);
  }
  return found;
}

RankGrid RankGrid::of_factors() const {
  std::vector<std::uint32_t> lengths;
  for (const Factor& factor : factors_) lengths.push_back(factor.length);
  return RankGrid(std::move(lengths));
}

AxisSet RankGrid::all_axes() const {
  return static_cast<AxisSet>((std::uint64_t{1} << lengths_.size()) - 1);
}

}  // namespace equarx::collectives
