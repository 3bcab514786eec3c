#include "models/values/unit_interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "models/numerics/codec/exponents.hpp"
#include "models/numerics/codec/hadamard.hpp"

namespace equarx::values {

using collectives::BufferId;
using collectives::Collective;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Offset;
using collectives::Op;
using collectives::Origin;
using collectives::Range;
using collectives::Rank;
using collectives::RankGrid;
using collectives::RankRange;
using collectives::Tile;

namespace {

/// Resizes for `size` elements to be overwritten, with exact capacity: geometric growth could take
/// up to twice the memory whenever a unit is larger than the previous one.
template <class Vector>
void make_room(Vector& elements, std::size_t size) {
  if (size > elements.capacity()) Vector().swap(elements);
  elements.resize(size);
}

/// RNG hop id for rounding casts; casts write no buffer.
constexpr std::uint32_t kCastHop = std::numeric_limits<std::uint32_t>::max() - 1;

/// RNG hop id for rounding sums. One per instruction, because a rank of a tree adds the bytes of
/// several ranks for one buffer.
std::uint32_t sum_hop(const collectives::Program& program, const Instruction& instruction) {
  const auto number = &instruction - program.instructions.data();
  return static_cast<std::uint32_t>(program.buffers.size() + static_cast<std::size_t>(number));
}

/// The minishard that contains a tile.
Tile minishard_of(Tile tile) {
  tile.microshard = 0;
  return tile;
}

}  // namespace

std::uint32_t result_rows(const collectives::Program& program) {
  return program.collective == Collective::all_to_all ? program.ranks() : 1;
}

UnitInterpreter::UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                                 std::uint64_t rounding_seed, bool counts,
                                 const numerics::SharedScale* shared,
                                 const std::vector<std::span<float>>* feedback)
    : lanes_(lanes),
      program_(lanes.program()),
      source_(source),
      rounding_seed_(rounding_seed),
      counts_(counts),
      shared_(shared),
      feedback_(feedback),
      codecs_(std::begin(program_.formats), std::end(program_.formats)),
      values_(program_.ranks()),
      amax_(program_.ranks()),
      sent_(program_.channels.size()),
      received_(program_.channels.size()) {}

void UnitInterpreter::run(const Unit& unit) {
  start(unit);
  for (const InstructionId id : lane_->instructions) run(program_.instructions[id]);
}

void UnitInterpreter::start(const Unit& unit) {
  unit_ = unit;
  lane_ = &lanes_.lanes()[unit.lane];
  const collectives::Partition& partition = program_.partition;
  const collectives::Segment& segment = partition.segment(lane_->segment);
  const std::uint64_t chunk = partition.chunk_elements(lane_->segment, top_uncut(segment));
  const Range range = lane_->range;
  first_element_ = partition.segment_begin(lane_->segment) + unit.coordinate * chunk + range.begin;
  const std::uint64_t left = partition.elements() - std::min(partition.elements(), first_element_);
  real_elements_ = std::min(range.size(), left);
  collectives::AxisSet others = program_.grid().all_axes();
  if (!segment.axes.empty()) others &= ~(collectives::AxisSet{1} << segment.axes.front());
  peers_ = program_.grid().offsets(others);
  ranks_identical_ = true;
  std::ranges::fill(sent_, 0);
  std::ranges::fill(received_, 0);
  quantized_ = {};
  summed_.clear();
  at_largest_ = 0;
  for (auto& amax : amax_) amax.clear();
  const std::size_t rows = result_rows(program_);
  make_room(result_, rows * range.size());
  have_result_.assign(rows * range.size(), false);
  have_cast_back_.assign(range.size(), false);
  make_room(exact_, rows * range.size());
  encoded_.resize(lane_->buffers.size() * peers_.size());
  read_inputs();
  compute_exact();
  if (feedback_ != nullptr) add_feedback();
}

/// Adds the losses of earlier steps to the inputs and resets them, to collect this step's losses.
void UnitInterpreter::add_feedback() {
  for (Rank rank = 0; rank < program_.ranks(); ++rank) {
    if (real_elements_ == 0) return;  // padding only
    const std::span<float> lost = (*feedback_)[rank].subspan(first_element_, real_elements_);
    for (std::size_t i = 0; i < lost.size(); ++i) values_[rank][i] += std::exchange(lost[i], 0.0F);
  }
}

/// Saves values that are about to be rounded in place.
void UnitInterpreter::save_unrounded(std::span<const float> values) {
  if (feedback_ == nullptr) return;
  make_room(unrounded_, values.size());
  std::ranges::copy(values, unrounded_.begin());
}

/// Records the loss of rounding unrounded_ to `after`; `unit` is the value of 1 in units of the
/// tensor.
void UnitInterpreter::record_loss(const RankTile& tile, std::span<const float> after, float unit) {
  if (feedback_ == nullptr) return;
  const std::size_t end = std::min<std::size_t>(tile.range.end, real_elements_);
  if (tile.range.begin >= end) return;  // padding
  const std::span<float> lost =
      (*feedback_)[tile.rank].subspan(first_element_ + tile.range.begin, end - tile.range.begin);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const float loss = (unrounded_[i] - after[i]) * unit;
    if (std::isfinite(loss)) lost[i] += loss;  // NaN and Inf would corrupt all later steps
  }
}

/// Reads the inputs: only the root's for a broadcast, only the own shards for an AllGather.
void UnitInterpreter::read_inputs() {
  const auto read = [&](Rank rank) {
    make_room(values_[rank], lane_->range.size());
    source_.read(rank, first_element_, values_[rank]);
  };
  switch (program_.collective) {
    case Collective::broadcast: return read(0);
    case Collective::all_gather:
      for (const Offset peer : peers_)
        read(program_.grid().move(first_rank({.segment = lane_->segment}), peer));
      return;
    case Collective::all_to_all:
      for (Rank rank = 0; rank < program_.ranks(); ++rank) read(rank);
      return;
    default: return read_and_sum();
  }
}

/// Reads and sums all ranks' inputs piece by piece, because a lane of all ranks exceeds the cache.
void UnitInterpreter::read_and_sum() {
  constexpr std::size_t kPiece = 1 << 14;
  const std::size_t size = lane_->range.size();
  for (numerics::AlignedVector<float>& values : values_) make_room(values, size);
  for (std::size_t begin = 0; begin < size; begin += kPiece) {
    const std::span<double> sums = std::span(exact_).subspan(begin, std::min(kPiece, size - begin));
    std::ranges::fill(sums, 0.0);
    for (Rank rank = 0; rank < program_.ranks(); ++rank) {
      const std::span<float> values = std::span(values_[rank]).subspan(begin, sums.size());
      source_.read(rank, first_element_ + begin, values);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += double{values[i]};
    }
  }
}

void UnitInterpreter::compute_exact() {
  const std::size_t size = lane_->range.size();
  switch (program_.collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter: return;  // computed by read_and_sum()
    case Collective::broadcast: std::ranges::copy(values_[0], exact_.begin()); return;
    case Collective::all_to_all:
      for (Rank rank = 0; rank < program_.ranks(); ++rank)
        std::ranges::copy(values_[rank], exact_.begin() + static_cast<std::ptrdiff_t>(rank * size));
      return;
    case Collective::all_gather: break;
  }
  // Take each shard from its owner; the padding past the last shard stays 0.
  std::ranges::fill(exact_, 0.0);
  const std::uint64_t shard = program_.partition.chunk_elements(lane_->segment);
  const std::uint64_t lane_begin =
      first_element_ - program_.partition.segment_begin(lane_->segment);
  for (const Offset peer : peers_) {
    const Rank owner = program_.grid().move(first_rank({.segment = lane_->segment}), peer);
    const std::uint64_t begin = program_.partition.chunk_begin(lane_->segment, 0, owner);
    const std::uint64_t from = std::max(begin, lane_begin);
    const std::uint64_t to = std::min(begin + shard, lane_begin + size);
    for (std::uint64_t i = from; i < to; ++i)
      exact_[i - lane_begin] = double{values_[owner][i - lane_begin]};
  }
}

void UnitInterpreter::run(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::barrier: return;
    case Op::send: return count(sent_, instruction);
    case Op::wait: return count(received_, instruction);
    case Op::dequantize:
    case Op::deliver: return deliver_buffers(instruction);
    default: break;
  }
  for_each_tile(instruction.tile, instruction.ranks,
                [&](const RankTile& tile) { run_on(instruction, tile); });
  if (instruction.op == Op::reduce)
    summed_.emplace_back(instruction.tile, instruction.origin.gathered);
}

void UnitInterpreter::run_on(const Instruction& instruction, const RankTile& tile) {
  switch (instruction.op) {
    case Op::find_scales: {
      const numerics::BlockCodec& format = codec(instruction.phase);
      return format.find_amax(values_of(tile), tile.in_minishard,
                              amax_of(instruction.tile, tile.rank, format));
    }
    case Op::encode_scales: return encode_scales(instruction, tile);
    case Op::quantize:
    case Op::lend: return encode(instruction, tile);
    case Op::accumulate: return accumulate(instruction, tile);
    case Op::add: return add(instruction, tile);
    case Op::decode: return decode(instruction, tile);
    case Op::reduce: return reduce(instruction, tile);
    case Op::reduce_shards: return reduce_shards(instruction, tile);
    case Op::cast: return cast(instruction, tile);
    case Op::cast_back: return cast_back(tile.range);
    case Op::store: {
      const std::span<const float> values = values_of(tile);
      make_room(decoded_, values.size());
      std::ranges::copy(values, decoded_.begin());
      return deliver(0, tile.range);
    }
    default: return;
  }
}

/// Amax accumulators of the tile's minishard, reset at its first microshard.
numerics::AlignedVector<float>& UnitInterpreter::amax_of(const Tile& tile, Rank rank,
                                                         const numerics::BlockCodec& format) {
  std::vector<Amax>& all = amax_[rank];
  const Tile minishard = minishard_of(tile);
  auto found = std::ranges::find(all, minishard, &Amax::tile);
  if (found == all.end()) found = all.insert(all.end(), {minishard, {}});
  if (tile.microshard == 0) {
    const std::size_t elements = program_.partition.minishard(tile).size();
    found->values.assign(numerics::scale_count(format.format(), elements), 0.0F);
  }
  return found->values;
}

/// Casts a rank's input to the program's type, by the shared scale if the format has one.
void UnitInterpreter::cast(const Instruction& instruction, const RankTile& tile) {
  const std::span<float> values = values_of(tile);
  save_unrounded(values);
  if (shared_ == nullptr) {
    round_to_tensor(program_.tensor_format, values);
    record_loss(tile, values);
    if (program_.rotated) numerics::rotate(values);
    return;
  }
  numerics::RoundingKey key = rounding_key(instruction, tile);
  key.hop = kCastHop;
  const auto zeros = [&] { return static_cast<std::uint64_t>(std::ranges::count(values, 0.0F)); };
  const std::uint64_t before = counts_ ? zeros() : 0;
  shared_->encode(values, key);
  if (counts_) quantized_ += {.elements = values.size(), .flushed = zeros() - before};
  if (feedback_ == nullptr) return;
  make_room(decoded_, values.size());
  std::ranges::copy(values, decoded_.begin());
  shared_->decode(decoded_);
  record_loss(tile, decoded_);
}

void UnitInterpreter::encode_scales(const Instruction& instruction, const RankTile& tile) {
  Encoded& scales = encoded(instruction.buffer, tile.rank);
  std::vector<Amax>& all = amax_[tile.rank];
  const auto found = std::ranges::find(all, minishard_of(instruction.tile), &Amax::tile);
  make_room(scales.bytes, program_.buffers[instruction.buffer].bytes);
  make_room(scales.scales, found->values.size());
  codec(instruction.phase).encode_scales(found->values, scales.bytes);
  codec(instruction.phase).decode_scales(scales.bytes, scales.scales);
  all.erase(found);
}

void UnitInterpreter::encode(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<const float> values = values_of(tile);
  const std::span<const float> scales = scales_of(instruction.buffer, tile.rank);
  Encoded& payload = encoded(instruction.buffer, tile.rank);
  make_room(payload.bytes, program_.buffers[instruction.buffer].bytes);
  const numerics::RoundingKey key = rounding_key(instruction, tile);
  format.quantize(values, tile.in_minishard, scales, payload.bytes, key);
  if (feedback_ != nullptr && instruction.op == Op::quantize &&
      first_to_encode(instruction, tile.rank) == tile.rank) {
    save_unrounded(values);
    make_room(decoded_, values.size());
    format.dequantize(payload.bytes, tile.in_minishard, scales, decoded_);
    record_loss(tile, decoded_, unit());
  }
  if (counts_ && format.format().scaled)
    quantized_ += format.count(values, tile.in_minishard, scales, key);
}

void UnitInterpreter::accumulate(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<float> values = values_of(tile);
  const Rank producer = producer_of(instruction.origin, tile.rank);
  const numerics::AlignedVector<std::byte>& payload = encoded(instruction.buffer, producer).bytes;
  const std::span<const float> scales = scales_of(instruction.buffer, producer);
  if (instruction.finds_scales)
    format.dequantize_add_amax(payload, tile.in_minishard, scales, values, values,
                               amax_of(instruction.tile, tile.rank, format));
  else
    format.dequantize_add(payload, tile.in_minishard, scales, values, values);
}

/// The sum of two codes is itself rounded, with its own random bits.
void UnitInterpreter::add_by_code(const Instruction& instruction, const RankTile& tile) {
  const std::span<float> values = values_of(tile);
  const Rank producer = producer_of(instruction.origin, tile.rank);
  const numerics::AlignedVector<std::byte>& payload = encoded(instruction.buffer, producer).bytes;
  if (feedback_ != nullptr) {
    make_room(unrounded_, values.size());
    codec(instruction.phase).dequantize(payload, tile.in_minishard, {}, unrounded_);
    for (std::size_t i = 0; i < values.size(); ++i) unrounded_[i] += values[i];
  }
  numerics::RoundingKey key = rounding_key(instruction, tile);
  key.hop = sum_hop(program_, instruction);
  const numerics::QuantizeCounts counts = numerics::exponents::add(payload, values, key);
  if (counts_) quantized_ += counts;
  record_loss(tile, values, unit());
}

void UnitInterpreter::add(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  if (numerics::adds_by_code(format.format())) return add_by_code(instruction, tile);
  const std::span<float> values = values_of(tile);
  const Rank producer = producer_of(instruction.origin, tile.rank);
  format.dequantize_add(encoded(instruction.buffer, producer).bytes, tile.in_minishard, {}, values,
                        values);
  if (counts_ && shared_ != nullptr) quantized_ += format.count(values, tile.in_minishard, {});
  save_unrounded(values);
  round_to_wire(format, tile.in_minishard, values);
  record_loss(tile, values, unit());
}

/// Overwrites the local values with the decoded sum. The owner decodes its own encoding too, so all
/// ranks agree bit for bit.
void UnitInterpreter::decode(const Instruction& instruction, const RankTile& tile) {
  const Rank producer = producer_of(instruction.origin, tile.rank);
  codec(instruction.phase)
      .dequantize(encoded(instruction.buffer, producer).bytes, tile.in_minishard,
                  scales_of(instruction.buffer, producer), values_of(tile));
}

/// Rounds to `format`, which has no scales.
void UnitInterpreter::round_to_wire(const numerics::BlockCodec& format, std::size_t in_minishard,
                                    std::span<float> values) {
  make_room(rounded_, numerics::payload_bytes(format.format(), values.size()));
  format.quantize(values, in_minishard, {}, rounded_);
  format.dequantize(rounded_, in_minishard, {}, values);
}

/// Sums in the order of ranks, so that all ranks of the sum get the same bits; computed for the
/// first of them and copied to the others.
void UnitInterpreter::reduce(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const RankGrid& grid = program_.grid();
  std::vector<Rank> producers;
  for (const Offset peer : grid.offsets(instruction.origin.gathered))
    producers.push_back(grid.move(producer_of(instruction.origin, tile.rank), peer));
  std::ranges::sort(producers);
  const auto sum = values_of(tile);
  if (tile.rank != producers.front()) {
    const RankTile first{producers.front(), tile.range, tile.in_minishard};
    return void(std::ranges::copy(values_of(first), sum.begin()));
  }
  std::ranges::fill(sum, 0.0F);
  for (const Rank producer : producers)
    format.dequantize_add(encoded(instruction.buffer, producer).bytes, tile.in_minishard,
                          scales_of(instruction.buffer, producer), sum, sum);
}

/// Sums in the order of ranks, independent of the shard's owner.
void UnitInterpreter::reduce_shards(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const RankGrid& grid = program_.grid();
  const std::vector<Offset> offsets = grid.offsets(instruction.origin.gathered);
  const std::vector<BufferId> buffers =
      collectives::siblings(program_, instruction.buffer, instruction.origin.gathered);
  // By producer: the buffer of its part of this rank's shard
  std::vector<std::pair<Rank, BufferId>> terms;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    terms.emplace_back(grid.move(tile.rank, grid.reverse(offsets[i])), buffers[i]);
  std::ranges::sort(terms);
  const auto sum = values_of(tile);
  std::ranges::fill(sum, 0.0F);
  for (const auto& [producer, buffer] : terms) {
    format.dequantize_add(encoded(buffer, producer).bytes, tile.in_minishard,
                          scales_of(buffer, producer), sum, sum);
    if (format.format().scaled) continue;
    save_unrounded(sum);
    round_to_wire(format, tile.in_minishard, sum);
    record_loss(tile, sum, unit());
  }
}

/// Decodes each producer's buffer once; all of its readers would decode the same bytes.
void UnitInterpreter::deliver_buffers(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  for_each_producer(instruction.buffer, instruction.origin, [&](const RankTile& producer) {
    make_room(decoded_, producer.range.size());
    format.dequantize(encoded(instruction.buffer, producer.rank).bytes, producer.in_minishard,
                      scales_of(instruction.buffer, producer.rank), decoded_);
    deliver(result_rows(program_) > 1 ? producer.rank : 0, producer.range);
  });
}

void UnitInterpreter::deliver(std::uint32_t row, const Range& range) {
  if (shared_ == nullptr)
    round_to_tensor(program_.tensor_format, decoded_);
  else  // the values are sums of codes
    round_to_wire(codec(collectives::Phase::all_gather), 0, decoded_);
  const std::size_t begin = row * lane_->range.size() + range.begin;
  const std::span<float> first = std::span(result_).subspan(begin, range.size());
  if (!have_result_[begin]) {
    have_result_[begin] = true;
    std::ranges::copy(decoded_, first.begin());
  } else if (std::memcmp(first.data(), decoded_.data(), first.size_bytes()) != 0) {
    ranks_identical_ = false;
  }
}

/// Casts a result once; ranks with the same result share it.
void UnitInterpreter::cast_back(const Range& range) {
  if (have_cast_back_[range.begin]) return;
  have_cast_back_[range.begin] = true;
  if (shared_ != nullptr) count_largest(range);
  for (std::uint32_t row = 0; row < result_rows(program_); ++row) {
    const auto values =
        std::span<float>(result_).subspan(row * lane_->range.size() + range.begin, range.size());
    if (shared_ != nullptr) shared_->decode(values);
    if (program_.rotated) numerics::rotate_back(values);
    round_to_tensor(program_.cast_from.value(), values);
  }
}

void UnitInterpreter::count_largest(const Range& range) {
  const float largest = shared_->largest_code();
  const std::size_t end = std::min<std::size_t>(range.end, real_elements_);
  for (std::size_t i = range.begin; i < end; ++i)
    if (std::fabs(result_[i]) >= largest) ++at_largest_;
}

void UnitInterpreter::count(std::vector<std::uint64_t>& bytes, const Instruction& transfer) {
  const collectives::Message& message = program_.messages[transfer.message];
  const auto add = [&](RankRange producers, std::uint64_t times) {
    for_each_tile(program_.buffers[message.buffer].tile, producers, [&](const RankTile& producer) {
      bytes[message.channel] += times * encoded(message.buffer, producer.rank).bytes.size();
    });
  };
  const Rank last = std::min(transfer.ranks.last, program_.ranks() - 1);
  if (message.origin.root) return add({0, 0}, last - transfer.ranks.first + 1);
  if (transfer.ranks == RankRange{}) return add({}, program_.grid().span(message.origin.gathered));
  // A subset of ranks: count the bytes that each of them sends or receives.
  const Origin origin = transfer.op == Op::send ? message.origin : program_.received(message);
  for (Rank rank = transfer.ranks.first; rank <= last; ++rank) {
    const Rank producer = producer_of(origin, rank);
    add({producer, producer}, 1);
  }
}

collectives::AxisSet UnitInterpreter::summed_along(const Tile& tile) const {
  collectives::AxisSet axes = 0;
  for (const auto& [summed, gathered] : summed_)
    if (summed == tile) axes |= gathered;
  return axes;
}

/// Returns the first of the ranks that encode the same values: in an AllGather, the ranks along
/// axes that do not cut the chunk; in recursive doubling, the ranks that already have the same
/// sums.
Rank UnitInterpreter::first_to_encode(const Instruction& instruction, Rank rank) const {
  const RankGrid& grid = program_.grid();
  const auto to_first = [&](std::size_t axis) {
    return grid.move(rank, grid.reverse(grid.along(axis, grid.coordinate(rank, axis))));
  };
  if (!collectives::gathers(instruction.phase)) {
    const collectives::AxisSet alike = summed_along(instruction.tile);
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      if ((alike >> axis & 1U) != 0) rank = to_first(axis);
    return rank;
  }
  const std::vector<std::size_t>& axes = program_.partition.segment(lane_->segment).axes;
  for (std::uint32_t uncut = 0; uncut < instruction.tile.uncut; ++uncut)
    rank = to_first(axes[axes.size() - 1 - uncut]);
  return rank;
}

/// Unique for each quantization of each element, because a rank writes a buffer once. Ranks that
/// encode the same sums share a key, so that they round alike.
numerics::RoundingKey UnitInterpreter::rounding_key(const Instruction& instruction,
                                                    const RankTile& tile) const {
  return {.seed = rounding_seed_,
          .rank = first_to_encode(instruction, tile.rank),
          .hop = instruction.buffer,
          .first_element = first_element_ + tile.range.begin};
}

/// Calls `visit` for every rank whose tile lies in this unit.
template <typename Visit>
void UnitInterpreter::for_each_tile(const Tile& tile, RankRange ranks, Visit visit) {
  const collectives::Partition& partition = program_.partition;
  const RankGrid& grid = program_.grid();
  const Range minishard = partition.minishard(tile);
  const Range range = partition.microshard(tile);
  const std::uint64_t unit_begin = first_element_ - partition.segment_begin(lane_->segment);
  const Rank first = first_rank(tile);
  for (const Offset peer : peers_) {
    const Rank rank = grid.move(first, peer);
    if (!ranks.contains(rank)) continue;
    const std::uint64_t begin =
        partition.chunk_begin(lane_->segment, tile.uncut, grid.move(rank, tile.shard_offset)) +
        range.begin;
    if (begin < unit_begin || begin >= unit_begin + lane_->range.size()) continue;
    visit(RankTile{rank,
                   {begin - unit_begin, begin - unit_begin + range.size()},
                   range.begin - minishard.begin});
  }
}

/// Calls `visit` for every rank whose buffer lies in this unit, with the range of the buffer's
/// tile.
template <typename Visit>
void UnitInterpreter::for_each_producer(BufferId buffer, const Origin& origin, Visit visit) {
  const RankRange producers = origin.root ? RankRange{0, 0} : RankRange{};
  for_each_tile(program_.buffers[buffer].tile, producers, visit);
}

/// Returns the first of the ranks whose tile lies in this unit's chunk.
Rank UnitInterpreter::first_rank(const Tile& tile) const {
  const std::vector<std::size_t>& axes = program_.partition.segment(lane_->segment).axes;
  if (axes.empty()) return 0;
  const RankGrid& grid = program_.grid();
  const std::uint32_t length = grid.length(axes.front());
  const std::uint32_t offset = grid.coordinate(tile.shard_offset, axes.front());
  return grid.along(axes.front(), unit_.coordinate + length - offset);
}

std::size_t UnitInterpreter::slot_of(Rank rank) const {
  const std::vector<std::size_t>& axes = program_.partition.segment(lane_->segment).axes;
  if (axes.empty()) return rank;
  const RankGrid& grid = program_.grid();
  const Rank stride = grid.along(axes.front(), 1);
  return rank / (stride * grid.length(axes.front())) * stride + rank % stride;
}

Rank UnitInterpreter::producer_of(const Origin& origin, Rank reader) const {
  return origin.root ? 0 : program_.grid().move(reader, origin.offset);
}

std::span<float> UnitInterpreter::values_of(const RankTile& tile) {
  return std::span(values_[tile.rank]).subspan(tile.range.begin, tile.range.size());
}

const numerics::BlockCodec& UnitInterpreter::codec(collectives::Phase phase) const {
  return codecs_[static_cast<std::size_t>(phase)];
}

UnitInterpreter::Encoded& UnitInterpreter::encoded(BufferId buffer, Rank producer) {
  const auto index = std::ranges::lower_bound(lane_->buffers, buffer) - lane_->buffers.begin();
  return encoded_[static_cast<std::size_t>(index) * peers_.size() + slot_of(producer)];
}

std::span<const float> UnitInterpreter::scales_of(BufferId payload, Rank producer) {
  const collectives::Buffer& buffer = program_.buffers[payload];
  if (!program_.format(buffer.phase).scaled) return {};
  return encoded(buffer.scales, producer).scales;
}

}  // namespace equarx::values
