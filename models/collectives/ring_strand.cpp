#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

void RingStrand::enter(Phase phase, std::size_t stage) {
  phase_ = phase;
  stage_ = stage;
  sent_ = std::exchange(sent_ahead_, {});
  for (auto* steps : {&sent_, &sent_ahead_})
    for (auto& transfers : *steps) transfers.resize(cut().minishards);
}

void RingStrand::due(std::uint32_t minishard, double place, double micro, double places) {
  const double within = (place + places * micro / cut().microshards) / StepPlace::kEnd;
  writer_.due(time_ + step_time() * (minishard + within) / cut().minishards);
}

/// Chunks of the AllGather grow from stage to stage: as many shards lie beside each other.
double RingStrand::step_time() const {
  return pace_ *
         static_cast<double>(partition().chunk_elements(stages_.segment(), stages_.uncut(stage_)));
}

MessageId RingStrand::send(BufferId buffer, Direction direction, ChannelId channel, Origin origin) {
  const bool begins = std::exchange(step_begins_[index(direction)], false);
  return writer_.send(phase_, {buffer, channel, origin, begins});
}

MessageId RingStrand::forward(MessageId received, Direction direction) {
  const Message& message = writer_.program().messages[received];
  return send(message.buffer, direction, message.channel, writer_.program().received(message));
}

void RingStrand::barrier(std::uint32_t minishard, const Tile& tile) {
  due(minishard, StepPlace::kBarrier);
  writer_.emit({.op = Op::barrier, .phase = phase_, .tile = at(tile, 0)});
}

}  // namespace equarx::collectives
