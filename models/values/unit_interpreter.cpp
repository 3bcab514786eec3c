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

/// Makes room for `size` elements to be overwritten, and no more: a vector that grows by itself
/// would take up to twice the memory as soon as one unit is larger than the one before.
template <class Vector>
void make_room(Vector& elements, std::size_t size) {
  if (size > elements.capacity()) Vector().swap(elements);
  elements.resize(size);
}

/// Of the random bits of casts, which make no buffer.
constexpr std::uint32_t kCastHop = std::numeric_limits<std::uint32_t>::max() - 1;

/// Of the random bits of a sum: of an instruction, since a rank of a tree adds several ranks' bytes of one buffer.
std::uint32_t sum_hop(const collectives::Program& program, const Instruction& instruction) {
  const auto number = &instruction - program.instructions.data();
  return static_cast<std::uint32_t>(program.buffers.size() + static_cast<std::size_t>(number));
}

/// Names one minishard of a rank.
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
  first_element_ = partition.segment_begin(lane_->segment) + unit.place * chunk + range.begin;
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
  find_exact();
  if (feedback_ != nullptr) add_feedback();
}

/// What earlier steps have lost comes with what ranks bring now; what they lose from here on is for the next step.
void UnitInterpreter::add_feedback() {
  for (Rank rank = 0; rank < program_.ranks(); ++rank) {
    if (real_elements_ == 0) return;  // nothing but padding
    const std::span<float> lost = (*feedback_)[rank].subspan(first_element_, real_elements_);
    for (std::size_t i = 0; i < lost.size(); ++i) values_[rank][i] += std::exchange(lost[i], 0.0F);
  }
}

/// Before values are rounded in place.
void UnitInterpreter::keep_before(std::span<const float> values) {
  if (feedback_ == nullptr) return;
  make_room(before_, values.size());
  std::ranges::copy(values, before_.begin());
}

/// What a rank's rounding of before_ to `after` has lost, where 1 counts for `unit` of the tensor's.
void UnitInterpreter::feed_back(const Place& place, std::span<const float> after, float unit) {
  if (feedback_ == nullptr) return;
  const std::size_t end = std::min<std::size_t>(place.range.end, real_elements_);
  if (place.range.begin >= end) return;  // padding
  const std::span<float> lost =
      (*feedback_)[place.rank].subspan(first_element_ + place.range.begin, end - place.range.begin);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const float loss = (before_[i] - after[i]) * unit;
    if (std::isfinite(loss)) lost[i] += loss;  // else one NaN would spoil all later steps
  }
}

/// What the ranks bring: of a broadcast the root only, of an AllGather each its own shard.
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

/// Reads all ranks' values, and sums them exactly: piece by piece, because a lane of all ranks is more than a
/// cache holds.
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

void UnitInterpreter::find_exact() {
  const std::size_t size = lane_->range.size();
  switch (program_.collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter: return;  // read_and_sum() has
    case Collective::broadcast: std::ranges::copy(values_[0], exact_.begin()); return;
    case Collective::all_to_all:
      for (Rank rank = 0; rank < program_.ranks(); ++rank)
        std::ranges::copy(values_[rank], exact_.begin() + static_cast<std::ptrdiff_t>(rank * size));
      return;
    case Collective::all_gather: break;
  }
  // Each shard as its owner has it; nobody has what is beyond them.
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
  for_each_place(instruction.tile, instruction.ranks,
                 [&](const Place& place) { run_on(instruction, place); });
  if (instruction.op == Op::reduce)
    summed_.emplace_back(instruction.tile, instruction.origin.gathered);
}

void UnitInterpreter::run_on(const Instruction& instruction, const Place& place) {
  switch (instruction.op) {
    case Op::find_scales: {
      const numerics::BlockCodec& format = codec(instruction.phase);
      return format.find_amax(values_of(place), place.in_minishard,
                                amax_of(instruction.tile, place.rank, format));
    }
    case Op::encode_scales: return encode_scales(instruction, place);
    case Op::quantize:
    case Op::lend: return encode(instruction, place);
    case Op::accumulate: return accumulate(instruction, place);
    case Op::add: return add(instruction, place);
    case Op::decode: return decode(instruction, place);
    case Op::reduce: return reduce(instruction, place);
    case Op::reduce_shards: return reduce_shards(instruction, place);
    case Op::cast: return cast(instruction, place);
    case Op::cast_back: return cast_back(place.range);
    case Op::store: {
      const std::span<const float> values = values_of(place);
      make_room(decoded_, values.size());
      std::ranges::copy(values, decoded_.begin());
      return deliver(0, place.range);
    }
    default: return;
  }
}

/// The amax of the tile's minishard, from zeros at its first microshard.
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

/// What a rank brings becomes the program's type, by the scale that ranks share if they do.
void UnitInterpreter::cast(const Instruction& instruction, const Place& place) {
  const std::span<float> values = values_of(place);
  keep_before(values);
  if (shared_ == nullptr) {
    round_to_tensor(program_.tensor_format, values);
    feed_back(place, values);
    if (program_.rotated) numerics::rotate(values);
    return;
  }
  numerics::RoundingKey key = rounding_key(instruction, place);
  key.hop = kCastHop;
  const auto zeros = [&] { return static_cast<std::uint64_t>(std::ranges::count(values, 0.0F)); };
  const std::uint64_t before = counts_ ? zeros() : 0;
  shared_->encode(values, key);
  if (counts_) quantized_ += {.elements = values.size(), .flushed = zeros() - before};
  if (feedback_ == nullptr) return;
  make_room(decoded_, values.size());
  std::ranges::copy(values, decoded_.begin());
  shared_->decode(decoded_);
  feed_back(place, decoded_);
}

void UnitInterpreter::encode_scales(const Instruction& instruction, const Place& place) {
  Encoded& scales = encoded(instruction.buffer, place.rank);
  std::vector<Amax>& all = amax_[place.rank];
  const auto found = std::ranges::find(all, minishard_of(instruction.tile), &Amax::tile);
  make_room(scales.bytes, program_.buffers[instruction.buffer].bytes);
  make_room(scales.scales, found->values.size());
  codec(instruction.phase).encode_scales(found->values, scales.bytes);
  codec(instruction.phase).decode_scales(scales.bytes, scales.scales);
  all.erase(found);
}

void UnitInterpreter::encode(const Instruction& instruction, const Place& place) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<const float> values = values_of(place);
  const std::span<const float> scales = scales_of(instruction.buffer, place.rank);
  Encoded& payload = encoded(instruction.buffer, place.rank);
  make_room(payload.bytes, program_.buffers[instruction.buffer].bytes);
  const numerics::RoundingKey key = rounding_key(instruction, place);
  format.quantize(values, place.in_minishard, scales, payload.bytes, key);
  if (feedback_ != nullptr && instruction.op == Op::quantize &&
      first_to_encode(instruction, place.rank) == place.rank) {
    keep_before(values);
    make_room(decoded_, values.size());
    format.dequantize(payload.bytes, place.in_minishard, scales, decoded_);
    feed_back(place, decoded_, unit());
  }
  if (counts_ && format.format().scaled)
    quantized_ += format.count(values, place.in_minishard, scales, key);
}

void UnitInterpreter::accumulate(const Instruction& instruction, const Place& place) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<float> values = values_of(place);
  const Rank maker = maker_of(instruction.origin, place.rank);
  const numerics::AlignedVector<std::byte>& payload = encoded(instruction.buffer, maker).bytes;
  const std::span<const float> scales = scales_of(instruction.buffer, maker);
  if (instruction.finds_scales)
    format.dequantize_add_amax(payload, place.in_minishard, scales, values, values,
                                 amax_of(instruction.tile, place.rank, format));
  else
    format.dequantize_add(payload, place.in_minishard, scales, values, values);
}

/// The sum of two codes is itself rounded, by random bits of its own.
void UnitInterpreter::add_by_code(const Instruction& instruction, const Place& place) {
  const std::span<float> values = values_of(place);
  const Rank maker = maker_of(instruction.origin, place.rank);
  const numerics::AlignedVector<std::byte>& payload = encoded(instruction.buffer, maker).bytes;
  if (feedback_ != nullptr) {
    make_room(before_, values.size());
    codec(instruction.phase).dequantize(payload, place.in_minishard, {}, before_);
    for (std::size_t i = 0; i < values.size(); ++i) before_[i] += values[i];
  }
  numerics::RoundingKey key = rounding_key(instruction, place);
  key.hop = sum_hop(program_, instruction);
  const numerics::QuantizeCounts counts = numerics::exponents::add(payload, values, key);
  if (counts_) quantized_ += counts;
  feed_back(place, values, unit());
}

void UnitInterpreter::add(const Instruction& instruction, const Place& place) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  if (numerics::adds_by_code(format.format())) return add_by_code(instruction, place);
  const std::span<float> values = values_of(place);
  const Rank maker = maker_of(instruction.origin, place.rank);
  format.dequantize_add(encoded(instruction.buffer, maker).bytes, place.in_minishard, {}, values,
                        values);
  if (counts_ && shared_ != nullptr) quantized_ += format.count(values, place.in_minishard, {});
  keep_before(values);
  round_to_wire(format, place.in_minishard, values);
  feed_back(place, values, unit());
}

/// What others have summed, or the rank itself as it has told it to others, in place of what it had.
void UnitInterpreter::decode(const Instruction& instruction, const Place& place) {
  const Rank maker = maker_of(instruction.origin, place.rank);
  codec(instruction.phase)
      .dequantize(encoded(instruction.buffer, maker).bytes, place.in_minishard,
                  scales_of(instruction.buffer, maker), values_of(place));
}

/// Of a format without scales.
void UnitInterpreter::round_to_wire(const numerics::BlockCodec& format, std::size_t in_minishard,
                                    std::span<float> values) {
  make_room(rounded_, numerics::payload_bytes(format.format(), values.size()));
  format.quantize(values, in_minishard, {}, rounded_);
  format.dequantize(rounded_, in_minishard, {}, values);
}

/// By rank from rank 0, whoever sums: so every rank of the sum has the same bits, and they need to be
/// found for the first of them only.
void UnitInterpreter::reduce(const Instruction& instruction, const Place& place) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const RankGrid& grid = program_.grid();
  std::vector<Rank> makers;
  for (const Offset peer : grid.offsets(instruction.origin.gathered))
    makers.push_back(grid.move(maker_of(instruction.origin, place.rank), peer));
  std::ranges::sort(makers);
  const auto sum = values_of(place);
  if (place.rank != makers.front()) {
    const Place first{makers.front(), place.range, place.in_minishard};
    return void(std::ranges::copy(values_of(first), sum.begin()));
  }
  std::ranges::fill(sum, 0.0F);
  for (const Rank maker : makers)
    format.dequantize_add(encoded(instruction.buffer, maker).bytes, place.in_minishard,
                          scales_of(instruction.buffer, maker), sum, sum);
}

/// By rank, whoever owns the shard.
void UnitInterpreter::reduce_shards(const Instruction& instruction, const Place& place) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const RankGrid& grid = program_.grid();
  const std::vector<Offset> offsets = grid.offsets(instruction.origin.gathered);
  const std::vector<BufferId> buffers =
      collectives::siblings(program_, instruction.buffer, instruction.origin.gathered);
  std::vector<std::pair<Rank, BufferId>> terms;  // whoever made one, this rank is so far from it
  for (std::size_t i = 0; i < buffers.size(); ++i)
    terms.emplace_back(grid.move(place.rank, grid.reverse(offsets[i])), buffers[i]);
  std::ranges::sort(terms);
  const auto sum = values_of(place);
  std::ranges::fill(sum, 0.0F);
  for (const auto& [maker, buffer] : terms) {
    format.dequantize_add(encoded(buffer, maker).bytes, place.in_minishard,
                          scales_of(buffer, maker), sum, sum);
    if (format.format().scaled) continue;
    keep_before(sum);
    round_to_wire(format, place.in_minishard, sum);
    feed_back(place, sum, unit());
  }
}

/// The buffers of one maker after the other; whoever reads them decodes the same bytes.
void UnitInterpreter::deliver_buffers(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  for_each_maker(instruction.buffer, instruction.origin, [&](const Place& maker) {
    make_room(decoded_, maker.range.size());
    format.dequantize(encoded(instruction.buffer, maker.rank).bytes, maker.in_minishard,
                      scales_of(instruction.buffer, maker.rank), decoded_);
    deliver(result_rows(program_) > 1 ? maker.rank : 0, maker.range);
  });
}

void UnitInterpreter::deliver(std::uint32_t row, const Range& range) {
  if (shared_ == nullptr)
    round_to_tensor(program_.tensor_format, decoded_);
  else  // sums of codes
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

/// Ranks whose results are the same share one here, which the first of them casts.
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
  const auto add = [&](RankRange makers, std::uint64_t times) {
    for_each_place(program_.buffers[message.buffer].tile, makers, [&](const Place& maker) {
      bytes[message.channel] += times * encoded(message.buffer, maker.rank).bytes.size();
    });
  };
  const Rank last = std::min(transfer.ranks.last, program_.ranks() - 1);
  if (message.origin.root) return add({0, 0}, last - transfer.ranks.first + 1);
  if (transfer.ranks == RankRange{}) return add({}, program_.grid().span(message.origin.gathered));
  // Of some ranks only: what each of them sends or gets.
  const Origin origin = transfer.op == Op::send ? message.origin : program_.received(message);
  for (Rank rank = transfer.ranks.first; rank <= last; ++rank) {
    const Rank maker = maker_of(origin, rank);
    add({maker, maker}, 1);
  }
}

collectives::AxisSet UnitInterpreter::summed_along(const Tile& tile) const {
  collectives::AxisSet axes = 0;
  for (const auto& [summed, gathered] : summed_)
    if (summed == tile) axes |= gathered;
  return axes;
}

/// Ranks that some axes do not cut the chunk among encode the same sums for an AllGather, and those that have summed
/// alike for the next round of a recursive doubling: the first of them.
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

/// One for every quantization of every element: a rank makes a buffer once. The same sums are rounded alike.
numerics::RoundingKey UnitInterpreter::rounding_key(const Instruction& instruction,
                                                    const Place& place) const {
  return {.seed = rounding_seed_,
          .rank = first_to_encode(instruction, place.rank),
          .hop = instruction.buffer,
          .first_element = first_element_ + place.range.begin};
}

/// Calls `visit` with every rank whose tile lies in this unit.
template <typename Visit>
void UnitInterpreter::for_each_place(const Tile& tile, RankRange ranks, Visit visit) {
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
    visit(Place{rank,
                {begin - unit_begin, begin - unit_begin + range.size()},
                range.begin - minishard.begin});
  }
}

/// Calls `visit` with every rank whose buffer lies in this unit; `range` is that of its tile.
template <typename Visit>
void UnitInterpreter::for_each_maker(BufferId buffer, const Origin& origin, Visit visit) {
  const RankRange makers = origin.root ? RankRange{0, 0} : RankRange{};
  for_each_place(program_.buffers[buffer].tile, makers, visit);
}

/// The first of the ranks whose tile lies in this unit's chunk.
Rank UnitInterpreter::first_rank(const Tile& tile) const {
  const std::vector<std::size_t>& axes = program_.partition.segment(lane_->segment).axes;
  if (axes.empty()) return 0;
  const RankGrid& grid = program_.grid();
  const std::uint32_t length = grid.length(axes.front());
  const std::uint32_t offset = grid.coordinate(tile.shard_offset, axes.front());
  return grid.along(axes.front(), unit_.place + length - offset);
}

std::size_t UnitInterpreter::slot_of(Rank rank) const {
  const std::vector<std::size_t>& axes = program_.partition.segment(lane_->segment).axes;
  if (axes.empty()) return rank;
  const RankGrid& grid = program_.grid();
  const Rank stride = grid.along(axes.front(), 1);
  return rank / (stride * grid.length(axes.front())) * stride + rank % stride;
}

Rank UnitInterpreter::maker_of(const Origin& origin, Rank reader) const {
  return origin.root ? 0 : program_.grid().move(reader, origin.offset);
}

std::span<float> UnitInterpreter::values_of(const Place& place) {
  return std::span(values_[place.rank]).subspan(place.range.begin, place.range.size());
}

const numerics::BlockCodec& UnitInterpreter::codec(collectives::Phase phase) const {
  return codecs_[static_cast<std::size_t>(phase)];
}

UnitInterpreter::Encoded& UnitInterpreter::encoded(BufferId buffer, Rank maker) {
  const auto place = std::ranges::lower_bound(lane_->buffers, buffer) - lane_->buffers.begin();
  return encoded_[static_cast<std::size_t>(place) * peers_.size() + slot_of(maker)];
}

std::span<const float> UnitInterpreter::scales_of(BufferId payload, Rank maker) {
  const collectives::Buffer& buffer = program_.buffers[payload];
  if (!program_.format(buffer.phase).scaled) return {};
  return encoded(buffer.scales, maker).scales;
}

}  // namespace equarx::values
