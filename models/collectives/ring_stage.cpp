#include "models/collectives/ring_stage.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace equarx::collectives {

RingStages::RingStages(ProgramWriter& writer, RingStyle style, std::uint32_t segment,
                       std::vector<Direction> directions, std::uint32_t axes_beyond)
    : grid_(writer.program().partition.grid()),
      style_(style),
      segment_(segment),
      axes_(writer.program().partition.segment(segment).axes),
      directions_(std::move(directions)),
      axes_beyond_(axes_beyond) {
  for (std::size_t stage = 0; stage < count(); ++stage) add_channels(writer, stage);
}

void RingStages::add_channels(ProgramWriter& writer, std::size_t stage) {
  const std::size_t axis = axes_[stage];
  auto& channels = channels_.emplace_back();
  for (const Direction direction : directions_) {
    if (steps(direction, stage) == 0) continue;
    const Offset offset =
        grid_.along(axis, direction == Direction::forward ? 1 : grid_.length(axis) - 1);
    channels[index(direction)] = writer.add_channel(
        offset, axes_.size() == 1 ? std::string(name(direction))
                                  : fmt::format("{} along axis {}", name(direction), axis));
  }
}

std::uint32_t RingStages::steps(Direction direction, std::size_t stage) const {
  if (std::ranges::find(directions_, direction) == directions_.end()) return 0;
  return ring_steps(grid_.length(axes_[stage]), style_)[index(direction)];
}

std::uint32_t RingStages::longest(std::size_t stage) const {
  return std::max(steps(Direction::forward, stage), steps(Direction::backward, stage));
}

std::vector<Direction> RingStages::directions_with(std::uint32_t steps, std::size_t stage) const {
  std::vector<Direction> found;
  for (const Direction direction : directions_)
    if (this->steps(direction, stage) >= steps) found.push_back(direction);
  return found;
}

Offset RingStages::offset_by(Direction direction, std::uint32_t hops, std::size_t stage) const {
  const std::size_t axis = axes_[stage];
  const std::uint32_t length = grid_.length(axis);
  return grid_.along(axis, direction == Direction::forward ? hops : length - hops % length);
}

AxisSet RingStages::later_axes(std::size_t stage) const {
  AxisSet axes = 0;
  for (std::size_t later = stage + 1; later < count(); ++later) axes |= AxisSet{1} << axes_[later];
  return axes;
}

}  // namespace equarx::collectives
