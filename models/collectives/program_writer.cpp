#include "models/collectives/program_writer.hpp"

#include <algorithm>
#include <utility>

#include "models/collectives/validate.hpp"

namespace equarx::collectives {

ChannelId ProgramWriter::add_channel(Offset offset, std::string name, Ports ports) {
  program_.channels.push_back({offset, std::move(name), ports});
  return static_cast<ChannelId>(program_.channels.size() - 1);
}

void ProgramWriter::emit(const Instruction& instruction) {
  program_.instructions.push_back(instruction);
  program_.instructions.back().stream =
      minishard_streams_ == 1 ? stream_ : stream_of(program_.tile(instruction));
  dues_.push_back({due_, strand_});
}

BufferId ProgramWriter::make_buffer(Content content, Phase phase, const Tile& tile,
                                    BufferId scales) {
  const Partition& partition = program_.partition;
  const numerics::BlockFormat& format = program_.format(phase);
  const std::uint64_t bytes =
      content == Content::payload
          ? numerics::payload_bytes(format, partition.microshard(tile).size())
          : numerics::scales_bytes(format,
                                   numerics::scale_count(format, partition.minishard(tile).size()));
  program_.buffers.push_back({content, phase, tile, bytes, scales});
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

MessageId ProgramWriter::make_message(const Message& message) {
  program_.messages.push_back(message);
  return static_cast<MessageId>(program_.messages.size() - 1);
}

MessageId ProgramWriter::send(Phase phase, const Message& message, RankRange ranks) {
  const MessageId id = make_message(message);
  emit({.op = Op::send, .phase = phase, .message = id, .ranks = ranks});
  return id;
}

void ProgramWriter::wait(MessageId message, RankRange ranks) {
  const Phase phase = program_.buffers[program_.messages[message].buffer].phase;
  emit({.op = Op::wait, .phase = phase, .message = message, .ranks = ranks});
}

void ProgramWriter::find_scales(Phase phase, const Tile& tile, Operand operand, RankRange ranks) {
  for_each_microshard(tile, [&](std::uint32_t micro) {
    emit({.op = Op::find_scales,
          .phase = phase,
          .operand = operand,
          .tile = at(tile, micro),
          .ranks = ranks});
  });
}

BufferId ProgramWriter::encode_scales(Phase phase, const Tile& tile, RankRange ranks) {
  const BufferId scales = make_buffer(Content::scales, phase, at(tile, 0));
  emit({.op = Op::encode_scales,
        .phase = phase,
        .tile = at(tile, 0),
        .buffer = scales,
        .ranks = ranks});
  return scales;
}

BufferId ProgramWriter::encode_payload(Phase phase, const Tile& tile, Operand operand,
                                       BufferId scales, RankRange ranks) {
  const BufferId payload = make_buffer(Content::payload, phase, tile, scales);
  encode_into(payload, phase, tile, operand, ranks);
  return payload;
}

void ProgramWriter::encode_into(BufferId payload, Phase phase, const Tile& tile, Operand operand,
                                RankRange ranks) {
  emit({.op = lies_in_wire_format(phase, operand) ? Op::lend : Op::quantize,
        .phase = phase,
        .operand = operand,
        .tile = tile,
        .buffer = payload,
        .ranks = ranks});
}

bool ProgramWriter::lies_in_wire_format(Phase phase, Operand operand) const {
  const numerics::BlockFormat& wire = program_.format(phase);
  if (wire.scaled) return false;
  switch (operand) {
    case Operand::input: return wire.element == program_.tensor_format;
    case Operand::sums: return wire.element == numerics::ElementFormat::fp32;
    case Operand::rounded_sums: return wire == program_.format(Phase::reduce_scatter);
  }
  return false;
}

void ProgramWriter::deliver(const Tile& tile, BufferId payload, Origin origin, RankRange ranks) {
  const Phase phase = program_.buffers[payload].phase;
  const numerics::BlockFormat& wire = program_.format(phase);
  const bool in_place = !wire.scaled && wire.element == program_.tensor_format;
  emit({.op = in_place ? Op::deliver : Op::dequantize,
        .phase = phase,
        .tile = tile,
        .buffer = payload,
        .origin = origin,
        .ranks = ranks});
}

std::vector<ProgramWriter::Strand> ProgramWriter::strands() const {
  std::vector<Strand> strands;
  for (std::size_t at = 0; at < dues_.size(); ++at) {
    if (at == 0 || dues_[at].strand != dues_[at - 1].strand) strands.push_back({at, at});
    ++strands.back().end;
  }
  return strands;
}

void ProgramWriter::merge_strands() {
  std::vector<Strand> left = strands();
  const auto part = program_.instructions.begin() + static_cast<std::ptrdiff_t>(part_begin_);
  const std::vector<Instruction> written(part, program_.instructions.end());
  program_.instructions.erase(part, program_.instructions.end());
  std::size_t before = 0;
  for (std::size_t merged = 0; merged < written.size(); ++merged) {
    const auto next = std::ranges::min_element(
        left, {}, [&](const Strand& strand) { return dues_[strand.next].time; });
    const std::size_t id = next->next++;
    if (next->next == next->end) left.erase(next);
    const bool same_barrier = merged > 0 && dues_[before].time == dues_[id].time &&
                              dues_[before].strand != dues_[id].strand &&
                              written[id].op == Op::barrier && written[before].op == Op::barrier;
    if (!same_barrier) program_.instructions.push_back(written[id]);
    before = id;
  }
}

void ProgramWriter::begin_part() {
  if (strand_ > 1) merge_strands();  // a single strand is already in order
  part_begin_ = program_.instructions.size();
  dues_.clear();
  strand_ = 0;
  due_ = 0.0;
}

Program ProgramWriter::finish() && {
  begin_part();
  std::vector<Due>().swap(dues_);
  program_.instructions.shrink_to_fit();
  program_.messages.shrink_to_fit();
  program_.buffers.shrink_to_fit();
  validate(program_);
  return std::move(program_);
}

}  // namespace equarx::collectives
