#include "models/values/unit_interpreter.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/collectives/with_arithmetic.hpp"
#include "models/numerics/codec/exponents.hpp"
#include "models/numerics/codec/hadamard.hpp"
#include "models/values/make_room.hpp"

namespace equarx::values {
namespace {

RangeTrace::Place place_of(const collectives::Instruction& instruction, const RankTile& tile) {
  return {instruction.op, tile.rank, static_cast<std::size_t>(tile.range.begin)};
}

/// True for a tensor type, rounded to nearest, without scales.
bool is_plain_type(const numerics::BlockFormat& format) {
  return !format.scaled && format.rule == numerics::ScaleRule::amax &&
         format.rounding == numerics::Rounding::nearest &&
         std::ranges::find(numerics::kTensorFormats, format.element) !=
             numerics::kTensorFormats.end();
}

/// Codecs of the formats for units of some columns.
std::vector<numerics::BlockCodec> codecs_of(const collectives::Program& program,
                                            std::uint64_t columns,
                                            const std::shared_ptr<const numerics::RuleCodec>& own) {
  std::vector<numerics::BlockCodec> codecs;
  for (numerics::BlockFormat format : program.formats) {
    format.columns = columns;
    codecs.emplace_back(format, own);
  }
  return codecs;
}

}  // namespace

using collectives::BufferId;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Offset;
using collectives::Op;
using collectives::Range;
using collectives::Rank;
using collectives::RankGrid;
using collectives::RankRange;

UnitInterpreter::UnitInterpreter(const LaneTable& lanes, const TensorSource& source,
                                 const UnitOptions& options)
    : program_(lanes.program()),
      counts_(options.counts),
      counts_traffic_(options.traffic),
      ranges_(options.ranges),
      may_release_(!options.ranges && options.feedback == nullptr && options.record == nullptr),
      shared_(options.shared),
      own_codec_(options.own_codec),
      codecs_(codecs_of(program_, columns_, own_codec_)),
      arithmetic_(program_.arithmetic, options.ranges),
      geometry_(lanes),
      input_(geometry_, source, options.residual),
      feedback_(geometry_, options.feedback),
      buffers_(geometry_),
      scales_(geometry_, buffers_),
      keys_(geometry_, options.rounding_seed),
      traffic_(geometry_, buffers_),
      result_(geometry_, options.shared) {
  if (options.record != nullptr) recorder_.emplace(geometry_, options.shared, *options.record);
}

void UnitInterpreter::run(const Unit& unit) {
  start(unit);
  if (holds_what_is_used())
    run_on_demand();
  else
    for (const InstructionId id : geometry_.lane().instructions) run(program_.instructions[id]);
  result_.finish();
  if (recorder_) recorder_->finish(input_.exact(0));
}

/// Runs the instructions and releases what none of the following uses.
void UnitInterpreter::run_on_demand() {
  const LaneUses uses = uses_of(geometry_);
  const std::vector<InstructionId>& instructions = geometry_.lane().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    run(program_.instructions[instructions[i]]);
    for (const Rank rank : uses.ranks[i]) input_.release(rank);
    for (const BufferId buffer : uses.buffers[i]) buffers_.release(buffer);
  }
}

void UnitInterpreter::start(const Unit& unit) {
  geometry_.start(unit);
  if (geometry_.columns().size() != columns_) {
    columns_ = geometry_.columns().size();
    codecs_ = codecs_of(program_, columns_, own_codec_);
  }
  quantized_ = {};
  scales_.start();
  keys_.start();
  traffic_.start();
  result_.start();
  if (recorder_) recorder_->start();
  buffers_.start();
  input_.read(holds_what_is_used() ? Reading::on_demand : Reading::at_once);
  arithmetic_.start(geometry_.first_element(), geometry_.real_elements());
  for (Rank rank = 0; ranges_ && rank < program_.ranks(); ++rank)
    arithmetic_.trace_input(input_.values(rank));
  feedback_.add_to(input_);
}

void UnitInterpreter::run(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::barrier: return;
    case Op::send:
    case Op::wait:
      if (counts_traffic_) traffic_.count(instruction);
      return;
    case Op::dequantize:
    case Op::deliver: return deliver_buffers(instruction);
    default: break;
  }
  geometry_.for_each_tile(
      instruction.tile, instruction.ranks, [&](const RankTile& tile) { run_on(instruction, tile); },
      instruction.op == Op::encode_scales ? Extent::minishard : Extent::microshard);
  if (instruction.op == Op::reduce || instruction.op == Op::switch_reduce)
    keys_.note_sums(instruction);
}

void UnitInterpreter::run_on(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  switch (instruction.op) {
    case Op::find_scales:
      return format.find_amax(input_.values(tile), tile.in_minishard,
                              scales_.amax_of(instruction.tile, tile, format.format()));
    case Op::encode_scales: return encode_scales(instruction, tile);
    case Op::quantize:
    case Op::lend: return encode(instruction, tile);
    case Op::scale: return scale(tile);
    case Op::accumulate: return accumulate(instruction, tile);
    case Op::add: return add(instruction, tile);
    case Op::decode: return decode(instruction, tile);
    case Op::reduce: return reduce(instruction, tile);
    case Op::switch_reduce:
      return program_.partition.segment(instruction.tile.segment).axes.empty()
                 ? reduce(instruction, tile)
                 : reduce_shards(instruction, tile);
    case Op::reduce_shards: return reduce_shards(instruction, tile);
    case Op::cast: return cast(instruction, tile);
    case Op::cast_back: return cast_back(tile);
    case Op::store: return store(instruction, tile);
    case Op::add_residual: return add_residual(instruction, tile);
    case Op::add_residual_after: return add_residual_after(instruction, tile);
    default: return;
  }
}

/// Copies values to decoded_.
std::span<float> UnitInterpreter::copy_to_scratch(std::span<const float> values) {
  make_room(decoded_, values.size());
  std::ranges::copy(values, decoded_.begin());
  return decoded_;
}

/// Casts a rank's input to the program's type, by the shared scale if the format has one.
void UnitInterpreter::cast(const Instruction& instruction, const RankTile& tile) {
  const std::span<float> values = input_.values(tile);
  feedback_.save(values);
  if (shared_ != nullptr) {
    cast_to_codes(instruction, tile);
  } else {
    round_to_tensor(program_.tensor_format, values);
    feedback_.record(tile, values);
    if (program_.rotated) numerics::rotate(values);
  }
  if (recorder_) recorder_->step(StepKind::cast, instruction, tile, values);
}

void UnitInterpreter::cast_to_codes(const Instruction& instruction, const RankTile& tile) {
  const std::span<float> values = input_.values(tile);
  const auto zeros = [&] { return static_cast<std::uint64_t>(std::ranges::count(values, 0.0F)); };
  const std::uint64_t before = counts_ ? zeros() : 0;
  shared_->encode(values, keys_.of_cast(instruction, tile));
  if (counts_) quantized_ += {.elements = values.size(), .flushed = zeros() - before};
  if (!feedback_.enabled()) return;
  const std::span<float> decoded = copy_to_scratch(values);
  shared_->decode(decoded);
  feedback_.record(tile, decoded);
}

void UnitInterpreter::encode_scales(const Instruction& instruction, const RankTile& tile) {
  scales_.encode(instruction.buffer, instruction.tile, tile.rank, codec(instruction.phase));
  if (recorder_)
    recorder_->step(StepKind::scales, instruction, tile,
                    buffers_.at(instruction.buffer, tile.rank).scales);
}

void UnitInterpreter::encode(const Instruction& instruction, const RankTile& tile) {
  encode_values(instruction, tile);
  if (recorder_) record_message(instruction, tile);
}

/// Records what readers decode; lent values are there already.
void UnitInterpreter::record_message(const Instruction& instruction, const RankTile& tile) {
  if (instruction.op == Op::lend) return recorder_->lend(instruction, tile);
  make_room(decoded_, tile.range.size());
  codec(instruction.phase)
      .dequantize(buffers_.at(instruction.buffer, tile.rank).bytes, tile.in_minishard,
                  scales_.scales_of(instruction.buffer, tile.rank), decoded_);
  recorder_->encode(instruction, tile, decoded_);
}

void UnitInterpreter::encode_values(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const std::span<const float> values = input_.values(tile);
  const std::span<const float> scales = scales_.scales_of(instruction.buffer, tile.rank);
  const std::span<std::byte> payload = buffers_.room(
      instruction.buffer, tile.rank, numerics::held_bytes(format.format(), tile.range.size()));
  const numerics::RoundingKey key = keys_.of_buffer(instruction, tile);
  if (arithmetic_.changes_conversions() && is_plain_type(format.format())) {
    const std::span<float> converted = copy_to_scratch(values);
    arithmetic_.convert(place_of(instruction, tile), format.format().element, converted);
    return format.quantize(converted, tile.in_minishard, scales, payload, key);
  }
  if (counts_ && numerics::sends_scales(format.format()))
    quantized_ += format.quantize_and_count(values, tile.in_minishard, scales, payload, key);
  else
    format.quantize(values, tile.in_minishard, scales, payload, key);
  if (feedback_.enabled() && instruction.op == Op::quantize &&
      keys_.first_to_encode(instruction, tile.rank) == tile.rank) {
    feedback_.save(values);
    make_room(decoded_, values.size());
    format.dequantize(payload, tile.in_minishard, scales, decoded_);
    feedback_.record(tile, decoded_, unit());
  }
}

EncodedTerm UnitInterpreter::term_of(BufferId buffer, Rank producer, const RankTile& tile) {
  return {buffers_.at(buffer, producer).bytes, tile.in_minishard,
          scales_.scales_of(buffer, producer)};
}

void UnitInterpreter::scale(const RankTile& tile) {
  const float weight = program_.graph.value().own_weight(tile.rank);
  for (float& value : input_.values(tile)) value *= weight;
}

void UnitInterpreter::accumulate(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const Rank producer = geometry_.producer_of(instruction.origin, tile.rank);
  const EncodedTerm term = term_of(instruction.buffer, producer, tile);
  const std::span<float> values = input_.values(tile);
  if (program_.graph)
    return arithmetic_.add_weighted(format, term, program_.graph->weight(tile.rank, producer),
                                    values);
  if (instruction.finds_scales)
    arithmetic_.add_and_find_amax(place_of(instruction, tile), format, term, values,
                                  scales_.amax_of(instruction.tile, tile, format.format()));
  else
    arithmetic_.add(place_of(instruction, tile), format, term, values);
  if (recorder_) recorder_->add(instruction, tile, {instruction.buffer, producer}, values);
}

void UnitInterpreter::add_residual(const Instruction& instruction, const RankTile& tile) {
  const std::span<float> sums = input_.values(tile);
  arithmetic_.add(place_of(instruction, tile), input_.residual(tile.range), sums);
  if (recorder_) recorder_->step(StepKind::residual, instruction, tile, sums);
  if (!instruction.finds_scales) return;
  const numerics::BlockCodec& format = codec(instruction.phase);
  format.find_amax(sums, tile.in_minishard,
                   scales_.amax_of(instruction.tile, tile, format.format()));
}

void UnitInterpreter::add_residual_after(const Instruction& instruction, const RankTile& tile) {
  for (const UnitResult::Sums& sums : result_.sums_once(tile.range)) {
    RangeTrace::Place place = place_of(instruction, tile);
    place.ranks = sums.ranks;
    arithmetic_.add_tensor(place, program_.tensor_format, input_.residual(tile.range), sums.values);
  }
  if (!recorder_) return;
  RangeTrace::Place uncounted = place_of(instruction, tile);
  uncounted.ranks = 0;
  for (const UnitResult::Sums& sums : recorder_->result(tile.rank).sums_once(tile.range))
    arithmetic_.add_tensor(uncounted, program_.tensor_format, input_.residual(tile.range),
                           sums.values);
}

/// The sum of two codes is itself rounded, with its own random bits.
void UnitInterpreter::add_by_code(const Instruction& instruction, const RankTile& tile) {
  const std::span<float> values = input_.values(tile);
  const Rank producer = geometry_.producer_of(instruction.origin, tile.rank);
  const std::span<const std::byte> payload = buffers_.at(instruction.buffer, producer).bytes;
  if (feedback_.enabled()) {
    const std::span<float> unrounded = feedback_.unrounded(values.size());
    codec(instruction.phase).dequantize(payload, tile.in_minishard, {}, unrounded);
    for (std::size_t i = 0; i < values.size(); ++i) unrounded[i] += values[i];
  }
  const numerics::QuantizeCounts counts =
      numerics::exponents::add(payload, values, keys_.of_sum(instruction, tile));
  if (counts_) quantized_ += counts;
  if (recorder_) recorder_->add(instruction, tile, {instruction.buffer, producer}, values);
  feedback_.record(tile, values, unit());
}

void UnitInterpreter::add(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  if (numerics::adds_by_code(format.format())) return add_by_code(instruction, tile);
  const std::span<float> values = input_.values(tile);
  const Rank producer = geometry_.producer_of(instruction.origin, tile.rank);
  arithmetic_.add(place_of(instruction, tile), format, term_of(instruction.buffer, producer, tile),
                  values);
  if (recorder_) recorder_->add(instruction, tile, {instruction.buffer, producer}, values);
  if (counts_ && shared_ != nullptr) quantized_ += format.count(values, tile.in_minishard, {});
  feedback_.save(values);
  round_to_wire(format, place_of(instruction, tile), tile.in_minishard, values,
                keys_.of_sum(instruction, tile));
  if (recorder_) recorder_->step(StepKind::rounded, instruction, tile, values);
  feedback_.record(tile, values, unit());
}

/// Overwrites the local values with the decoded sum. The owner decodes its own encoding too, so all
/// ranks agree bit for bit.
void UnitInterpreter::decode(const Instruction& instruction, const RankTile& tile) {
  const Rank producer = geometry_.producer_of(instruction.origin, tile.rank);
  const std::span<float> values = input_.values(tile);
  codec(instruction.phase)
      .dequantize(buffers_.at(instruction.buffer, producer).bytes, tile.in_minishard,
                  scales_.scales_of(instruction.buffer, producer), values);
  if (recorder_) recorder_->decode(instruction, tile, {instruction.buffer, producer}, values);
}

/// Rounds to `format`, which has no scales.
void UnitInterpreter::round_to_wire(const numerics::BlockCodec& format,
                                    const RangeTrace::Place& place, std::size_t in_minishard,
                                    std::span<float> values, const numerics::RoundingKey& key) {
  if (is_plain_type(format.format()))
    return arithmetic_.convert(place, format.format().element, values);
  make_room(rounded_, numerics::payload_bytes(format.format(), values.size()));
  format.quantize(values, in_minishard, {}, rounded_, key);
  format.dequantize(rounded_, in_minishard, {}, values);
}

/// Sums in the order of ranks, so that all ranks of the sum get the same bits; computed for the
/// first of them and copied to the others.
void UnitInterpreter::reduce(const Instruction& instruction, const RankTile& tile) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  const RankGrid& grid = program_.grid();
  std::vector<Rank> producers;
  for (const Offset peer : grid.offsets(instruction.origin.gathered))
    producers.push_back(grid.move(geometry_.producer_of(instruction.origin, tile.rank), peer));
  std::ranges::sort(producers);
  const auto sum = input_.values(tile);
  if (tile.rank != producers.front()) {
    const RankTile first{producers.front(), tile.range, tile.in_minishard};
    if (recorder_) recorder_->copy(first.rank, tile);
    return void(std::ranges::copy(input_.values(first), sum.begin()));
  }
  std::ranges::fill(sum, 0.0F);
  if (recorder_) recorder_->clear(tile);
  for (const Rank producer : producers) {
    arithmetic_.add(place_of(instruction, tile), format,
                    term_of(instruction.buffer, producer, tile), sum);
    if (recorder_)
      recorder_->add(instruction, tile, {instruction.buffer, producer}, sum, producers);
  }
}

/// Sums in the order of ranks, independent of the shard's owner, or from the owner on.
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
  const Rank first = program_.arithmetic.order == collectives::SumOrder::owner ? tile.rank : 0;
  std::ranges::sort(terms, {}, [&](const auto& term) {
    return (term.first + program_.ranks() - first) % program_.ranks();
  });
  const auto sum = input_.values(tile);
  std::ranges::fill(sum, 0.0F);
  if (recorder_) recorder_->clear(tile);
  const bool rounds = collectives::rounds_terms(program_, instruction);
  for (const auto& [producer, buffer] : terms) {
    arithmetic_.add(place_of(instruction, tile), format, term_of(buffer, producer, tile), sum);
    if (recorder_) recorder_->add(instruction, tile, {buffer, producer}, sum);
    if (!rounds) continue;
    feedback_.save(sum);
    numerics::RoundingKey key = keys_.of_sum(instruction, tile);
    key.rank = producer;  // other bits after each term
    round_to_wire(format, place_of(instruction, tile), tile.in_minishard, sum, key);
    if (recorder_) recorder_->step(StepKind::rounded, instruction, tile, sum);
    feedback_.record(tile, sum, unit());
  }
}

/// Decodes each producer's buffer once; all of its readers would decode the same bytes.
void UnitInterpreter::deliver_buffers(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  if (instruction.ranks != RankRange{} && !instruction.origin.root)
    return deliver_to_readers(instruction);
  const RankRange producers = instruction.origin.root ? RankRange{0, 0} : RankRange{};
  geometry_.for_each_tile(
      program_.buffers[instruction.buffer].tile, producers, [&](const RankTile& producer) {
        make_room(decoded_, producer.range.size());
        format.dequantize(buffers_.at(instruction.buffer, producer.rank).bytes,
                          producer.in_minishard,
                          scales_.scales_of(instruction.buffer, producer.rank), decoded_);
        deliver(result_rows(program_) > 1 ? producer.rank : 0, producer.range,
                place_of(instruction, producer));
        if (recorder_) record_readers(instruction, producer);
      });
}

/// Records decoded_ as the result of all readers of this buffer.
void UnitInterpreter::record_readers(const Instruction& instruction, const RankTile& producer) {
  const RankGrid& grid = program_.grid();
  if (!instruction.origin.root) {
    const Rank reader = grid.move(producer.rank, grid.reverse(instruction.origin.offset));
    for (const Offset peer : grid.offsets(instruction.origin.gathered))
      recorder_->deliver(grid.move(reader, peer), producer.range, decoded_);
    return;
  }
  for (Rank rank = 0; rank < program_.ranks(); ++rank)
    if (instruction.ranks.contains(rank)) recorder_->deliver(rank, producer.range, decoded_);
}

/// Decodes the buffer of each of some readers.
void UnitInterpreter::deliver_to_readers(const Instruction& instruction) {
  const numerics::BlockCodec& format = codec(instruction.phase);
  geometry_.for_each_tile(instruction.tile, instruction.ranks, [&](const RankTile& reader) {
    const Rank producer = geometry_.producer_of(instruction.origin, reader.rank);
    make_room(decoded_, reader.range.size());
    format.dequantize(buffers_.at(instruction.buffer, producer).bytes, reader.in_minishard,
                      scales_.scales_of(instruction.buffer, producer), decoded_);
    deliver(0, reader.range, place_of(instruction, reader));
    if (recorder_) recorder_->deliver(reader.rank, reader.range, decoded_);
  });
}

/// Delivers the local values, or compares them with the values of the others.
void UnitInterpreter::store(const Instruction& instruction, const RankTile& tile) {
  copy_to_scratch(input_.values(tile));
  const RangeTrace::Place place = place_of(instruction, tile);
  round_decoded(place);
  if (program_.arithmetic.owner == collectives::OwnerKeeps::sent)
    result_.deliver(result_rows(program_) > 1 ? tile.rank : 0, tile.range, decoded_);
  else
    result_.keep(tile.range, decoded_);
  if (recorder_) recorder_->deliver(tile.rank, tile.range, decoded_);
}

void UnitInterpreter::cast_back(const RankTile& tile) {
  result_.cast_back(tile.range);
  if (recorder_) recorder_->result(tile.rank).cast_back(tile.range);
}

/// Rounds decoded_ to the type of the program.
void UnitInterpreter::round_decoded(const RangeTrace::Place& place) {
  if (shared_ != nullptr)  // the values are sums of codes
    return round_to_wire(codec(collectives::Phase::all_gather), place, 0, decoded_, {});
  arithmetic_.convert(place, program_.tensor_format, decoded_);
}

/// Delivers decoded_.
void UnitInterpreter::deliver(std::uint32_t row, const Range& range,
                              const RangeTrace::Place& place) {
  round_decoded(place);
  result_.deliver(row, range, decoded_);
}

}  // namespace equarx::values
