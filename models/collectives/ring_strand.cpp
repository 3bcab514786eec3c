#include "models/collectives/ring_strand.hpp"

#include <cmath>

namespace equarx::collectives {

void RingStrand::enter(Phase phase, std::size_t stage) {
  phase_ = phase;
  stage_ = stage;
  sent_ = std::exchange(sent_ahead_, {});
  for (auto* steps : {&sent_, &sent_ahead_})
    for (auto& transfers : *steps) transfers.resize(cut().minishards);
}

void RingStrand::not_before(Phase phase, std::size_t stage) {
  time_ = std::max(time_, timetable_.begin(phase, tour_, stage));
  earliest_ = time_ - timetable_.early(phase, tour_, stage);
}

void RingStrand::begin_step(Arrivals arrivals, double send_time) {
  step_begins_.fill(format(phase_).scaled);
  arrivals_ = arrivals;
  send_from_ = time_;
  send_time_ = send_time;
}

void RingStrand::begin_last_arrivals() {
  // After everything that the previous step sent, and before the next arrivals.
  constexpr double kBefore = 63.0 / 64.0;
  const double window = ahead(step_time());
  arrivals_ = {arrived_ - window, window * kBefore};
  send_from_ = -std::numeric_limits<double>::infinity();
  send_time_ = 0.0;
}

void RingStrand::due(std::uint32_t minishard, double position, double micro, double positions) {
  const auto [minishards, microshards] = cut();
  // Part of the minishard that must have arrived: its scales, which come first, some microshards,
  // or all.
  double part = 1.0;
  if (position < StepPosition::kSum) part = 0.5 / microshards;
  if (position == StepPosition::kSum) part = (std::floor(micro) + 1.0) / microshards;
  const double reached = (minishard + part) / minishards;
  const double arrived = arrivals_.from + arrivals_.time * reached;
  const double lead = ahead(std::lerp(step_time(), send_time_, reached));
  const double wanted = send_from_ + send_time_ * reached - lead;
  // Positions follow each other within less than the time of a microshard.
  constexpr double kTurns = 1.0 / 1024.0;
  const double within = (position + positions * micro / microshards) / StepPosition::kEnd;
  const double turn =
      kTurns * step_time() / microshards * (minishard + within) / minishards / minishards;
  last_due_ = std::max(last_due_, std::max({arrived, wanted, earliest_}) + turn);
  writer_.due(last_due_);
}

MessageId RingStrand::send(BufferId buffer, Direction direction, ChannelId channel, Origin origin) {
  const bool begins = std::exchange(step_begins_[index(direction)], false);
  return writer_.send(phase_, {buffer, channel, origin, begins});
}

MessageId RingStrand::forward(MessageId received, Direction direction) {
  const Message& message = writer_.program().messages[received];
  return send(message.buffer, direction, message.channel, writer_.program().received(message));
}

void RingStrand::barrier(std::uint32_t minishard, double position, const Tile& tile) {
  due(minishard, position);
  writer_.emit({.op = Op::barrier, .phase = phase_, .tile = at(tile, 0)});
}

}  // namespace equarx::collectives
