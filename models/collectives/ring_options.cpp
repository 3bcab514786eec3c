#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

std::string_view name(Direction direction) {
  return direction == Direction::forward ? "forward" : "backward";
}

std::string_view name(RingStyle style) {
  return style == RingStyle::full_loop ? "full-loop" : "semi-loop";
}

std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t length, RingStyle style) {
  if (style == RingStyle::full_loop) return {length - 1, length - 1};
  return {length / 2, (length + 1) / 2 - 1};
}

double RingOptions::link_chunks(std::size_t axis, std::uint32_t length) const {
  const auto [forward, backward] = ring_steps(length, style);
  if (!shares_links(axis, length)) return forward;  // never the shorter direction
  return (forward + backward) / (is_folded(axis) ? folded_rate : 1.0);
}

std::uint32_t ring_segments(RingStyle style) { return style == RingStyle::full_loop ? 2 : 1; }

std::vector<Direction> directions_of(RingStyle style, std::uint32_t segment) {
  if (style == RingStyle::semi_loop) return {kBothDirections.begin(), kBothDirections.end()};
  return {kBothDirections[segment % kDirections]};
}

}  // namespace equarx::collectives
