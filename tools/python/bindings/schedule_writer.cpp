#include "tools/python/bindings/schedule_writer.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "models/collectives/contributions.hpp"
#include "models/collectives/divide_up.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"

namespace equarx::python {
namespace {

using namespace collectives;
using input::InputError;

/// Axes that cut the tensor, in this order.
std::vector<std::size_t> cutting_axes(const RankGrid& grid, const ScheduleShape& shape) {
  if (!shape.sharded) return {};
  if (is_of_slices(shape.layout)) return {kChipAxis, kSliceAxis};
  std::vector<std::size_t> axes(grid.axes());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

CutRule rule_of(const ProgramRequest& request, const ScheduleShape& shape) {
  CutRule rule = request.cut;
  if (!rule.microshards) rule.microshards = shape.microshards;
  return rule;
}

/// Cuts of the chunks of a segment, of shards first: between slices for the formats there; chunks
/// that only a ReduceScatter uses for its format; shards for the format with scales.
std::vector<Cut> cuts_of(const ProgramRequest& request, const ScheduleShape& shape,
                         const std::vector<std::size_t>& axes) {
  const ExchangeOptions within{.reduce_scatter = request.reduce_scatter,
                               .all_gather = request.all_gather};
  const ExchangeOptions between{.reduce_scatter = request.reduce_scatter_between,
                                .all_gather = request.all_gather_between};
  const bool slices = is_of_slices(shape.layout);
  const CutRule rule = rule_of(request, shape);
  std::uint64_t chunk = divide_up(request.elements, shape.segments);
  if (axes.empty()) return {choose_cut(rule, cut_format(request.collective, within), chunk)};
  std::vector<Cut> cuts(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    chunk = divide_up(chunk, request.grid.length(axes[i]));
    const bool is_shard = i + 1 == axes.size();
    const numerics::BlockFormat format =
        slices && is_shard ? cut_format(request.collective, between)
        : slices || is_shard || request.collective == Collective::all_gather
            ? cut_format(request.collective, within)
            : request.reduce_scatter;
    cuts[axes.size() - 1 - i] = choose_cut(rule, format, chunk);
  }
  return cuts;
}

Program begin(const ProgramRequest& request, const ScheduleShape& shape) {
  const std::vector<std::size_t> axes = cutting_axes(request.grid, shape);
  const std::vector<Segment> segments(shape.segments, {axes, cuts_of(request, shape, axes)});
  // The own shard of an AllToAll stays as it is.
  const numerics::BlockFormat all_gather = request.collective == Collective::all_to_all
                                               ? numerics::BlockFormat{.element = request.dtype}
                                               : request.all_gather;
  return {request.collective,
          Partition(request.elements, request.grid, segments),
          request.dtype,
          {request.reduce_scatter, all_gather, request.reduce_scatter_between,
           request.all_gather_between},
          {},
          {},
          {},
          {}};
}

bool meet(const RankRange& one, const RankRange& other) {
  return one.first <= other.last && other.first <= one.last;
}

/// True for the same instruction, before and after strands are merged.
bool same(const Instruction& one, const Instruction& other) {
  return one.op == other.op && one.phase == other.phase && one.tile == other.tile &&
         one.buffer == other.buffer && one.origin == other.origin && one.message == other.message &&
         one.ranks == other.ranks;
}

}  // namespace

ScheduleWriter::ScheduleWriter(const ProgramRequest& request, const ScheduleShape& shape)
    : writer_(begin(request, shape)), shape_(shape) {
  if (request.collective == Collective::all_gather) phase_ = Phase::all_gather;
}

void ScheduleWriter::use_phase(Phase phase) {
  const bool between = phase == Phase::reduce_scatter_between || phase == Phase::all_gather_between;
  if (between && !is_of_slices(shape_.layout))
    throw InputError("", "is a phase between slices; define the schedule with layout=\"slices\"");
  phase_ = phase;
}

void ScheduleWriter::use_ranks(Rank first, Rank last) {
  if (first == 0 && last == program().ranks() - 1) {
    ranks_ = {};
    return;
  }
  if (shape_.uniform)
    throw InputError("", "only some ranks execute it; define the schedule with uniform=False");
  if (first > last || last >= program().ranks())
    throw InputError("", fmt::format("there are no ranks {} to {}; there are {}, from 0", first,
                                     last, program().ranks()));
  ranks_ = {first, last};
}

bool ScheduleWriter::has_scales() const { return numerics::sends_scales(program().format(phase_)); }

Cut ScheduleWriter::cut(std::uint32_t segment, std::uint32_t uncut) const {
  if (segment >= shape_.segments)
    throw InputError("", fmt::format("there is no segment {}; define the schedule with segments={}",
                                     segment, segment + 1));
  const std::size_t axes = program().partition.segment(segment).axes.size();
  if (uncut > 0 && uncut >= axes)
    throw InputError("", fmt::format("chunks are cut along {} axes, so that uncut is at most {}",
                                     axes, axes == 0 ? 0 : axes - 1));
  if (uncut > 0 && program().collective == Collective::all_to_all)
    throw InputError("", "an all-to-all moves whole shards; use parts with uncut=0");
  return program().partition.cut(segment, uncut);
}

ChannelId ScheduleWriter::add_channel(Offset offset, const std::string& name) {
  if (offset == 0 || offset >= program().ranks())
    throw InputError("", fmt::format("a channel to the rank at offset {} connects no two of {} "
                                     "ranks; use 1 to {}",
                                     offset, program().ranks(), program().ranks() - 1));
  if (shape_.layout == RankLayout::ring || shape_.layout == RankLayout::grid) {
    std::size_t moves = 0;
    bool next = true;
    for (std::size_t axis = 0; axis < grid().axes(); ++axis) {
      const std::uint32_t steps = grid().coordinate(offset, axis);
      if (steps == 0) continue;
      ++moves;
      next = next && (steps == 1 || steps + 1 == grid().length(axis));
    }
    if (moves != 1 || !next)
      throw InputError("",
                       fmt::format("the rank at offset {} is no neighbour; use a channel to one, "
                                   "or define the schedule with layout=\"any\"",
                                   offset));
  }
  return writer_.add_channel(offset, name);
}

void ScheduleWriter::begin_strand() {
  writer_.begin_strand();
  turn_ = 0.0;
  writer_.due(turn_);
}

void ScheduleWriter::take_turn() { writer_.due(++turn_); }

void ScheduleWriter::note_calls() { calls_.resize(program().instructions.size(), call_); }

void ScheduleWriter::emit(Instruction instruction) {
  instruction.ranks = ranks_;
  writer_.emit(instruction);
  note_calls();
}

std::uint32_t ScheduleWriter::microshards(const Tile& tile) const {
  return program().partition.cut(tile.segment, tile.uncut).microshards;
}

/// Checks a tile of the caller's, and returns it as the program refers to it.
Tile ScheduleWriter::checked(const Tile& tile) const {
  const Cut parts = cut(tile.segment, tile.uncut);
  if (tile.minishard >= parts.minishards)
    throw InputError("", fmt::format("there is no minishard {}; there are {}, from 0",
                                     tile.minishard, parts.minishards));
  if (tile.shard_offset >= program().ranks())
    throw InputError("", fmt::format("there is no rank at offset {}; there are {} ranks",
                                     tile.shard_offset, program().ranks()));
  require_micro(tile, tile.microshard);
  return canonical(tile);
}

/// Checks a tile whose values are read or written: a rank of an AllGather has its own chunk's.
void ScheduleWriter::require_values(const Tile& tile) const {
  const std::vector<std::size_t>& axes = program().partition.segment(tile.segment).axes;
  if (program().collective != Collective::all_gather || axes.empty()) return;
  if (grid().coordinate(tile.shard_offset, axes.front()) != 0)
    throw InputError("",
                     "a rank of an all-gather has values of its own chunk only; forward and "
                     "deliver parts of others as they are");
}

void ScheduleWriter::require_micro(const Tile& tile, std::uint32_t micro) const {
  if (micro >= microshards(tile))
    throw InputError("", fmt::format("there is no microshard {}; the part has {}, from 0", micro,
                                     microshards(tile)));
}

/// The same tile, with the components of its offset that matter.
Tile ScheduleWriter::canonical(Tile tile) const {
  const std::vector<std::size_t>& axes = program().partition.segment(tile.segment).axes;
  Offset offset = 0;
  for (std::size_t i = 0; i + tile.uncut < axes.size(); ++i)
    offset += grid().along(axes[i], grid().coordinate(tile.shard_offset, axes[i]));
  tile.shard_offset = offset;
  return tile;
}

ScheduleWriter::Place ScheduleWriter::place(const Tile& tile) const {
  return {tile.segment, tile.uncut, canonical(tile).shard_offset, tile.minishard, tile.microshard};
}

/// True if chunks cut along different numbers of axes have common elements.
bool ScheduleWriter::overlaps(const Place& one, const Place& other) const {
  const auto& [segment, uncut, offset, minishard, microshard] = one;
  const auto& [other_segment, other_uncut, other_offset, other_minishard, other_microshard] = other;
  if (segment != other_segment) return false;
  const std::vector<std::size_t>& axes = program().partition.segment(segment).axes;
  for (std::size_t i = 0; i + std::max(uncut, other_uncut) < axes.size(); ++i)
    if (grid().coordinate(offset, axes[i]) != grid().coordinate(other_offset, axes[i]))
      return false;
  return true;
}

/// Location of a tile's values: of its sums, if it or a chunk with it has been summed.
Operand ScheduleWriter::operand_of(const Tile& tile) const {
  const Place exact = place(tile);
  if (const auto found = held_.find(exact); found != held_.end())
    for (const Held& one : found->second)
      if (meet(one.ranks, ranks_)) return one.operand;
  for (const auto& [chunk, held] : held_chunks_) {
    if (std::get<1>(chunk) == tile.uncut || !overlaps(chunk, exact)) continue;
    for (const Held& one : held)
      if (meet(one.ranks, ranks_)) return one.operand;
  }
  return Operand::input;
}

void ScheduleWriter::hold(const Tile& tile, Operand operand) {
  const Place exact = place(tile);
  const Place chunk{std::get<0>(exact), std::get<1>(exact), std::get<2>(exact), 0, 0};
  for (std::vector<Held>* all : {&held_[exact], &held_chunks_[chunk]}) {
    const auto found = std::ranges::find(*all, ranks_, &Held::ranks);
    if (found == all->end())
      all->push_back({ranks_, operand});
    else
      found->operand = operand;
  }
}

/// Microshards, from the first, whose values the scales of a tile's minishard cover already.
std::uint32_t ScheduleWriter::microshards_found(const Tile& tile, Phase phase) const {
  const auto found = found_scales_.find(place(at(tile, 0)));
  if (found == found_scales_.end()) return 0;
  const FoundScales& scales = found->second;
  return scales.phase == phase && scales.ranks == ranks_ ? scales.microshards : 0;
}

void ScheduleWriter::note_found(const Tile& tile, Phase phase) {
  found_scales_[place(at(tile, 0))] = {phase, ranks_, tile.microshard + 1};
}

/// Drops scales of values that have changed. `keeps_own`: the change itself finds the tile's scales.
void ScheduleWriter::forget_scales(const Tile& tile, bool keeps_own) {
  const Place own = place(at(tile, 0));
  std::erase_if(found_scales_, [&](const auto& found) {
    if (found.first == own) return !keeps_own;
    return std::get<1>(found.first) != tile.uncut && overlaps(found.first, own);
  });
}

void ScheduleWriter::find_scales(const Tile& given) {
  const Tile tile = checked(given);
  require_values(tile);
  if (!has_scales()) return;
  const std::uint32_t found = microshards_found(tile, phase_);
  if (found == microshards(tile)) return;
  if (tile.microshard != 0 && tile.microshard != found)
    throw InputError("",
                     fmt::format("the scales cover {} microshards; go on with number {}, or begin "
                                 "with 0",
                                 found, found));
  emit({.op = Op::find_scales, .phase = phase_, .operand = operand_of(tile), .tile = tile});
  note_found(tile, phase_);
}

EncodedId ScheduleWriter::encode_scales(const Tile& given) {
  const Tile tile = checked(given);
  require_values(tile);
  Encoded encoded{.tile = tile, .phase = phase_, .payload = {}};
  encoded.payload.resize(microshards(tile));
  if (has_scales()) {
    for (std::uint32_t micro = 0; micro < microshards(tile); ++micro) find_scales(at(tile, micro));
    found_scales_.erase(place(at(tile, 0)));
    encoded.scales = writer_.encode_scales(phase_, tile, ranks_);
    note_calls();
  }
  encoded_.push_back(std::move(encoded));
  return encoded_.size() - 1;
}

void ScheduleWriter::encode_payload(EncodedId id, std::uint32_t micro) {
  Encoded& encoded = encoded_.at(id);
  require_micro(encoded.tile, micro);
  if (encoded.payload[micro])
    throw InputError("", fmt::format("microshard {} is encoded already", micro));
  const Tile tile = at(encoded.tile, micro);
  encoded.payload[micro] = writer_.encode_payload(encoded.phase, tile, operand_of(tile),
                                                  encoded.scales.value_or(0), ranks_);
  note_calls();
}

Tile ScheduleWriter::tile(const Piece& piece) const {
  if (!piece.sent) return encoded_.at(piece.id).tile;
  const Sent& sent = sent_.at(piece.id);
  Tile tile = encoded_.at(sent.encoded).tile;
  tile.shard_offset = grid().move(sent.received.offset, tile.shard_offset);
  return canonical(tile);
}

MessageId ScheduleWriter::send_buffer(Sent& sent, BufferId buffer) {
  const Message message{.buffer = buffer,
                        .channel = sent.channel,
                        .origin = sent.origin,
                        .synchronises = std::exchange(sent.synchronises, false)};
  const MessageId id = writer_.send(encoded_.at(sent.encoded).phase, message, ranks_);
  note_calls();
  return id;
}

SentId ScheduleWriter::send_scales(const Piece& piece, ChannelId channel, AxisSet gathered,
                                   bool begins) {
  if (channel >= program().channels.size()) throw InputError("", "the channel is unknown");
  const EncodedId id = piece.sent ? sent_.at(piece.id).encoded : piece.id;
  const Encoded& encoded = encoded_.at(id);
  Origin origin = piece.sent ? sent_.at(piece.id).received : Origin{};
  if (gathered != 0) origin.gathered = gathered;
  const Origin received{grid().difference(origin.offset, program().channels[channel].offset),
                        origin.gathered, false};
  Sent sent{id, channel, origin, received, begins && program().format(encoded.phase).scaled};
  sent.payload.resize(encoded.payload.size());
  sent.awaited.resize(encoded.payload.size());
  sent.call = call_;
  if (encoded.scales) sent.scales = send_buffer(sent, *encoded.scales);
  sent_.push_back(std::move(sent));
  return sent_.size() - 1;
}

void ScheduleWriter::send_payload(SentId id, std::uint32_t micro) {
  Sent& sent = sent_.at(id);
  const Encoded& encoded = encoded_.at(sent.encoded);
  require_micro(encoded.tile, micro);
  if (!encoded.payload[micro])
    throw InputError("", fmt::format("microshard {} is not encoded yet", micro));
  if (sent.payload[micro])
    throw InputError("", fmt::format("microshard {} is sent already", micro));
  sent.payload[micro] = send_buffer(sent, *encoded.payload[micro]);
}

void ScheduleWriter::wait_scales(SentId id) {
  Sent& sent = sent_.at(id);
  if (!sent.scales || std::ranges::find(sent.scales_awaited, ranks_) != sent.scales_awaited.end())
    return;
  writer_.wait(*sent.scales, ranks_);
  note_calls();
  sent.scales_awaited.push_back(ranks_);
}

void ScheduleWriter::wait_payload(SentId id, std::uint32_t micro) {
  wait_scales(id);
  Sent& sent = sent_.at(id);
  require_micro(encoded_.at(sent.encoded).tile, micro);
  if (!sent.payload[micro])
    throw InputError("", fmt::format("microshard {} has not been sent, so that a wait for it would "
                                     "never end; send it before",
                                     micro));
  writer_.wait(*sent.payload[micro], ranks_);
  note_calls();
  sent.awaited[micro] = true;
}

ScheduleWriter::Source ScheduleWriter::source(const Piece& piece, std::uint32_t micro) const {
  const Encoded& encoded = encoded_.at(piece.sent ? sent_.at(piece.id).encoded : piece.id);
  require_micro(encoded.tile, micro);
  if (!encoded.payload[micro])
    throw InputError("", fmt::format("microshard {} is not encoded yet", micro));
  return {*encoded.payload[micro], encoded.phase, at(tile(piece), micro),
          piece.sent ? sent_.at(piece.id).received : Origin{}};
}

void ScheduleWriter::sum(Op op, const Piece& piece, std::uint32_t micro,
                         std::optional<Phase> scales_for, Operand result) {
  const Source from = source(piece, micro);
  require_values(from.tile);
  const bool finds =
      scales_for && (micro == 0 || micro == microshards_found(from.tile, *scales_for)) &&
      numerics::same_groups(program().format(from.phase), program().format(*scales_for));
  emit({.op = op,
        .phase = from.phase,
        .operand = operand_of(from.tile),
        .finds_scales = finds,
        .tile = from.tile,
        .buffer = from.buffer,
        .origin = from.origin});
  hold(from.tile, result);
  forget_scales(from.tile, finds);
  if (finds) note_found(from.tile, *scales_for);
}

void ScheduleWriter::accumulate(const Piece& piece, std::uint32_t micro,
                                std::optional<Phase> scales_for) {
  sum(Op::accumulate, piece, micro, scales_for, Operand::sums);
}

void ScheduleWriter::add(const Piece& piece, std::uint32_t micro, std::optional<Phase> scales_for) {
  const Encoded& encoded = encoded_.at(piece.sent ? sent_.at(piece.id).encoded : piece.id);
  if (program().format(encoded.phase).scaled) return accumulate(piece, micro, scales_for);
  sum(Op::add, piece, micro, {}, Operand::rounded_sums);
}

void ScheduleWriter::decode(const Piece& piece, std::uint32_t micro) {
  const Source from = source(piece, micro);
  require_values(from.tile);
  emit({.op = Op::decode,
        .phase = from.phase,
        .operand = Operand::sums,
        .tile = from.tile,
        .buffer = from.buffer,
        .origin = from.origin});
  hold(from.tile, Operand::sums);
  forget_scales(from.tile, false);
}

void ScheduleWriter::deliver(const Piece& piece, std::uint32_t micro) {
  const Source from = source(piece, micro);
  note_result(from.tile, from.origin.offset);
  writer_.deliver(from.tile, from.buffer, from.origin, ranks_);
  note_calls();
}

void ScheduleWriter::require_siblings(BufferId own, AxisSet axes) const {
  try {
    siblings(program(), own, axes);
  } catch (const std::logic_error&) {
    throw InputError(
        "",
        "needs parts for all ranks along the axes; encode the own part, and then, in rising order "
        "of offsets, the parts of the others");
  }
}

void ScheduleWriter::reduce(EncodedId id, std::uint32_t micro, AxisSet axes) {
  const Source from = source({false, id}, micro);
  if (axes == 0 || axes > grid().all_axes())
    throw InputError("", fmt::format("there are {} axes, from 0", grid().axes()));
  const std::vector<std::size_t>& cutting = program().partition.segment(from.tile.segment).axes;
  bool shards = false;
  for (std::size_t i = 0; i + from.tile.uncut < cutting.size(); ++i)
    shards = shards || (axes >> cutting[i] & 1U) != 0;
  if (shards) require_siblings(from.buffer, axes);
  emit({.op = shards ? Op::reduce_shards : Op::reduce,
        .phase = from.phase,
        .operand = Operand::sums,
        .tile = from.tile,
        .buffer = from.buffer,
        .origin = {.gathered = axes}});
  hold(from.tile, Operand::sums);
  forget_scales(from.tile, false);
}

/// Each element of the result is written once.
void ScheduleWriter::note_result(const Tile& tile, Offset sender) {
  const bool by_sender = program().collective == Collective::all_to_all;
  std::vector<RankRange>& by = results_[{place(tile), by_sender ? sender : 0}];
  for (const RankRange& one : by)
    if (meet(one, ranks_))
      throw InputError("", fmt::format("microshard {} is in the result already", tile.microshard));
  by.push_back(ranks_);
}

void ScheduleWriter::store(const Tile& given) {
  const Tile tile = checked(given);
  require_values(tile);
  note_result(tile, 0);
  emit({.op = Op::store, .phase = phase_, .operand = operand_of(tile), .tile = tile});
}

void ScheduleWriter::barrier(const Tile& given) {
  const Tile tile = checked(given);
  emit({.op = Op::barrier, .phase = phase_, .tile = at(tile, 0)});
}

/// The call that wrote an instruction of the merged program: among equal ones, in their order.
std::optional<std::size_t> ScheduleWriter::call_of(const Program& merged, std::size_t at) const {
  if (at >= merged.instructions.size()) return std::nullopt;
  const auto is_same = [&](const Instruction& one) { return same(one, merged.instructions[at]); };
  const auto begin = merged.instructions.begin();
  auto before = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(at), is_same);
  for (std::size_t i = 0; i < written_.size(); ++i)
    if (is_same(written_[i]) && before-- == 0) return calls_[i];
  return std::nullopt;
}

/// The first message that no rank waits for.
std::optional<ScheduleWriter::Violation> ScheduleWriter::unawaited() const {
  const auto violation = [&](const Sent& sent, MessageId message) {
    return Violation{sent.call, describe_cargo(program(), message),
                     "no rank waits for this message"};
  };
  for (const Sent& sent : sent_) {
    if (sent.scales && sent.scales_awaited.empty()) return violation(sent, *sent.scales);
    for (std::size_t micro = 0; micro < sent.payload.size(); ++micro)
      if (sent.payload[micro] && !sent.awaited[micro]) return violation(sent, *sent.payload[micro]);
  }
  return std::nullopt;
}

/// Checks, in the merged order, that scales are encoded after a pass over the whole minishard, with
/// no other in between.
void ScheduleWriter::check_scales() const {
  const Program& merged = program();
  const Rank ranks = is_uniform(merged) ? 1 : merged.ranks();
  std::map<std::pair<Rank, Place>, std::uint32_t> found;  // microshards
  for (std::size_t i = 0; i < merged.instructions.size(); ++i) {
    const Instruction& one = merged.instructions[i];
    const bool finds = one.op == Op::find_scales || one.finds_scales;
    if (!finds && one.op != Op::encode_scales) continue;
    for (Rank rank = 0; rank < ranks; ++rank) {
      if (!one.ranks.contains(rank)) continue;
      std::uint32_t& covered = found[{rank, place(at(one.tile, 0))}];
      const std::uint32_t needed = finds ? one.tile.microshard : microshards(one.tile);
      if (covered != needed && !(finds && needed == 0))
        throw InvalidProgram(merged, i,
                             "scales of the part are found twice at once; encode them in the same "
                             "turn of the strand");
      covered = finds ? needed + 1 : 0;
    }
  }
}

std::optional<ScheduleWriter::Violation> ScheduleWriter::finish() {
  if (auto violation = unawaited()) return violation;
  written_ = program().instructions;
  try {
    writer_.begin_part();  // merges the strands
    check_scales();
    finished_ = std::move(writer_).finish();
    check_contributions(*finished_);
  } catch (const InvalidProgram& error) {
    const Program& merged = finished_ ? *finished_ : program();
    const bool at_end = error.at() >= merged.instructions.size();
    return Violation{call_of(merged, error.at()),
                     at_end ? "" : describe(merged, static_cast<InstructionId>(error.at())),
                     error.why()};
  } catch (const std::logic_error& error) {
    return Violation{std::nullopt, "", error.what()};
  }
  return std::nullopt;
}

}  // namespace equarx::python
