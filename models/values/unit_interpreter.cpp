#include "models/values/unit_interpreter.hpp"

#include <algorithm>
#include <cstring>

namespace equarx::values {

using collectives::BufferId;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Op;
using collectives::Range;
using collectives::Tile;

namespace {

/// Makes room for `size` elements to be overwritten, and no more: a vector that grows by itself
/// would take up to twice the memory as soon as one unit is larger than the one before.
template <typename T>
void make_room(std::vector<T>& elements, std::size_t size) {
  if (size > elements.capacity()) std::vector<T>().swap(elements);
  elements.resize(size);
}

}  // namespace

UnitInterpreter::UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                                 std::uint64_t rounding_seed)
    : lanes_(lanes),
      program_(lanes.program()),
      source_(source),
      rounding_seed_(rounding_seed),
      codecs_{numerics::BlockCodec(program_.formats[0]), numerics::BlockCodec(program_.formats[1])},
      values_(program_.ranks),
      absmax_(program_.ranks) {}

void UnitInterpreter::run(const Unit& unit) {
  start(unit);
  for (const InstructionId id : lane_->instructions) run(program_.instructions[id]);
}

void UnitInterpreter::start(const Unit& unit) {
  unit_ = unit;
  lane_ = &lanes_.lanes()[unit.lane];
  const collectives::Partition& partition = program_.partition;
  const Range range = lane_->range;
  first_element_ = partition.segment_begin(unit.shard, lane_->segment) + range.begin;
  const std::uint64_t left = partition.elements() - std::min(partition.elements(), first_element_);
  real_elements_ = std::min(range.size(), left);
  ranks_identical_ = true;
  sent_ = received_ = {};
  quantized_ = {};
  make_room(result_, range.size());
  have_result_.assign(partition.microshards(), false);
  exact_.assign(range.size(), 0.0);
  encoded_.resize(lane_->buffers.size());
  for (std::uint32_t rank = 0; rank < program_.ranks; ++rank) {
    make_room(values_[rank], range.size());
    source_.read(rank, first_element_, values_[rank]);
    for (std::size_t i = 0; i < range.size(); ++i) exact_[i] += double{values_[rank][i]};
  }
}

void UnitInterpreter::run(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::find_scales: return find_scales(instruction);
    case Op::encode_scales: return encode_scales(instruction);
    case Op::quantize:
    case Op::lend: return encode(instruction);
    case Op::accumulate: return accumulate(instruction);
    case Op::add: return add(instruction);
    case Op::dequantize:
    case Op::deliver: return deliver(instruction);
    case Op::barrier: return;
    case Op::send: return count(sent_, instruction.message);
    case Op::wait: return count(received_, instruction.message);
  }
}

void UnitInterpreter::find_scales(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  format.find_absmax(values_of(instruction.tile), range_of(instruction.tile).begin,
                     absmax_of(instruction.tile, format));
}

/// The abs-max of the tile's minishard, from zeros at its first microshard.
std::vector<float>& UnitInterpreter::absmax_of(const Tile& tile,
                                               const numerics::BlockCodec& format) {
  std::vector<float>& absmax = absmax_[rank_of(tile)];
  if (tile.microshard == 0)
    absmax.assign(numerics::scale_count(format.format(), result_.size()), 0.0F);
  return absmax;
}

void UnitInterpreter::encode_scales(const Instruction& instruction) {
  Encoded& scales = encoded(instruction.buffer);
  const std::vector<float>& absmax = absmax_[rank_of(instruction.tile)];
  make_room(scales.bytes, program_.buffers[instruction.buffer].bytes);
  make_room(scales.scales, absmax.size());
  codec(instruction.phase).encode_scales(absmax, scales.bytes);
  codec(instruction.phase).decode_scales(scales.bytes, scales.scales);
}

void UnitInterpreter::encode(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<const float> values = values_of(instruction.tile);
  const std::size_t begin = range_of(instruction.tile).begin;
  const std::span<const float> scales = scales_of(instruction.buffer);
  Encoded& payload = encoded(instruction.buffer);
  make_room(payload.bytes, program_.buffers[instruction.buffer].bytes);
  const numerics::RoundingKey key = rounding_key(instruction);
  format.quantize(values, begin, scales, payload.bytes, key);
  if (format.format().scaled) quantized_ += format.count(values, begin, scales, key);
}

void UnitInterpreter::accumulate(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<float> values = values_of(instruction.tile);
  const std::vector<std::byte>& payload = encoded(instruction.buffer).bytes;
  const std::size_t begin = range_of(instruction.tile).begin;
  const std::span<const float> scales = scales_of(instruction.buffer);
  if (instruction.finds_scales)
    format.dequantize_add_absmax(payload, begin, scales, values, values,
                                 absmax_of(instruction.tile, format));
  else
    format.dequantize_add(payload, begin, scales, values, values);
}

void UnitInterpreter::add(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<float> values = values_of(instruction.tile);
  const std::size_t begin = range_of(instruction.tile).begin;
  format.dequantize_add(encoded(instruction.buffer).bytes, begin, {}, values, values);
  make_room(rounded_, numerics::payload_bytes(format.format(), values.size()));
  format.quantize(values, begin, {}, rounded_);
  format.dequantize(rounded_, begin, {}, values);
}

void UnitInterpreter::deliver(const Instruction& instruction) {
  const Range range = range_of(instruction.tile);
  make_room(decoded_, range.size());
  codec(instruction.phase)
      .dequantize(encoded(instruction.buffer).bytes, range.begin, scales_of(instruction.buffer),
                  decoded_);
  round_to_tensor(program_.tensor_format, decoded_);
  const std::span<float> first = std::span(result_).subspan(range.begin, range.size());
  if (!have_result_[instruction.tile.microshard]) {
    have_result_[instruction.tile.microshard] = true;
    std::ranges::copy(decoded_, first.begin());
  } else if (std::memcmp(first.data(), decoded_.data(), first.size_bytes()) != 0) {
    ranks_identical_ = false;
  }
}

void UnitInterpreter::count(std::array<std::uint64_t, collectives::kDirections>& bytes,
                            collectives::MessageId message) {
  const collectives::Message& what = program_.messages[message];
  bytes[static_cast<std::size_t>(what.direction)] += encoded(what.buffer).bytes.size();
}

/// One for every quantization of every element: a rank makes a buffer once.
numerics::RoundingKey UnitInterpreter::rounding_key(const Instruction& instruction) const {
  return {.seed = rounding_seed_,
          .rank = rank_of(instruction.tile),
          .hop = instruction.buffer,
          .first_element = first_element_ + range_of(instruction.tile).begin};
}

std::uint32_t UnitInterpreter::rank_of(const Tile& tile) const {
  return (unit_.shard + program_.ranks - tile.shard_offset) % program_.ranks;
}

Range UnitInterpreter::range_of(const Tile& tile) const {
  const Range range = program_.partition.microshard(tile.minishard, tile.microshard);
  return {range.begin - lane_->in_minishard, range.end - lane_->in_minishard};
}

std::span<float> UnitInterpreter::values_of(const Tile& tile) {
  const Range range = range_of(tile);
  return std::span(values_[rank_of(tile)]).subspan(range.begin, range.size());
}

const numerics::BlockCodec& UnitInterpreter::codec(collectives::Phase phase) const {
  return codecs_[static_cast<std::size_t>(phase)];
}

std::span<const float> UnitInterpreter::scales_of(BufferId payload) {
  const collectives::Buffer& buffer = program_.buffers[payload];
  if (!program_.format(buffer.phase).scaled) return {};
  return encoded(buffer.scales).scales;
}

}  // namespace equarx::values
