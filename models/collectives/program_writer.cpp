#include "models/collectives/program_writer.hpp"

#include <algorithm>
#include <utility>

#include "models/collectives/validate.hpp"

namespace equarx::collectives {
namespace {

/// Instructions of a strand that are not yet merged, as indices of the last part.
struct Strand {
  double due = 0.0;  ///< of the next one
  std::size_t next = 0;
  std::size_t end = 0;
  std::size_t number = 0;
};

/// Strands that have instructions, in the order of their beginning.
std::vector<Strand> strands_of(const std::vector<double>& dues,
                               const std::vector<std::size_t>& begins) {
  std::vector<Strand> strands;
  for (std::size_t number = 0; number < begins.size(); ++number) {
    const std::size_t begin = begins[number];
    const std::size_t end = number + 1 < begins.size() ? begins[number + 1] : dues.size();
    if (begin < end) strands.push_back({dues[begin], begin, end, number});
  }
  return strands;
}

/// Frees room that is worth the copy.
template <typename T>
void shrink(std::vector<T>& list) {
  constexpr std::size_t kWorth = 8;  // times
  if (list.capacity() - list.size() > list.size() / kWorth) list.shrink_to_fit();
}

}  // namespace

ChannelId ProgramWriter::add_channel(Offset offset, std::string name, Ports ports) {
  program_.channels.push_back({offset, std::move(name), ports});
  return static_cast<ChannelId>(program_.channels.size() - 1);
}

void ProgramWriter::emit(const Instruction& instruction) {
  program_.instructions.push_back(instruction);
  program_.instructions.back().stream =
      minishard_streams_ == 1 ? stream_ : stream_of(program_.tile(instruction));
  dues_.push_back(due_);
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

void ProgramWriter::reserve_strands(std::size_t strands) {
  const auto reserve = [&](auto& list) { list.reserve(list.size() * strands); };
  reserve(program_.instructions);
  reserve(program_.messages);
  reserve(program_.buffers);
  reserve(dues_);
}

void ProgramWriter::merge_strands() {
  const auto first = program_.instructions.begin() + static_cast<std::ptrdiff_t>(part_begin_);
  std::vector<Instruction> merged;
  merged.reserve(program_.instructions.size());
  merged.assign(program_.instructions.begin(), first);
  std::vector<Strand> left = strands_of(dues_, strands_);
  const auto written = [&](const Strand& strand) -> const Instruction& {
    return first[static_cast<std::ptrdiff_t>(strand.next)];
  };
  std::optional<Strand> before;  // as it was when it gave the last instruction
  while (!left.empty()) {
    const auto next = std::ranges::min_element(left, {}, &Strand::due);
    const bool same_barrier =
        before && before->due == next->due && before->number != next->number &&
        written(*before).op == Op::barrier && written(*next).op == Op::barrier;
    if (!same_barrier) merged.push_back(written(*next));
    before = *next;
    if (++next->next == next->end)
      left.erase(next);
    else
      next->due = dues_[next->next];
  }
  program_.instructions = std::move(merged);
}

void ProgramWriter::begin_part() {
  if (strands_.size() > 1) merge_strands();  // a single strand is already in order
  part_begin_ = program_.instructions.size();
  dues_.clear();
  strands_.clear();
  due_ = 0.0;
}

Program ProgramWriter::finish() && {
  begin_part();
  std::vector<double>().swap(dues_);
  shrink(program_.instructions);
  shrink(program_.messages);
  shrink(program_.buffers);
  validate(program_);
  return std::move(program_);
}

}  // namespace equarx::collectives
