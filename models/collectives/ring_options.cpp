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

std::uint32_t RingOptions::chunks_on_link(std::size_t axis, std::uint32_t length) const {
  const auto [forward, backward] = ring_steps(length, style);
  return shares_links(axis, length) ? forward + backward
                                    : forward;  // which is never the shorter way
}

std::uint32_t ring_segments(RingStyle style) { return style == RingStyle::full_loop ? 2 : 1; }

}  // namespace equarx::collectives
