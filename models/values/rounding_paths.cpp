#include "models/values/rounding_paths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "models/collectives/with_arithmetic.hpp"
#include "models/formats/float_type.hpp"
#include "models/values/lanes.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {
namespace {

using collectives::BufferId;
using collectives::Instruction;
using collectives::Offset;
using collectives::Op;
using collectives::Rank;
using collectives::RankRange;
using numerics::BlockFormat;
using numerics::ElementFormat;
using Kind = Roundings::Kind;

/// One rounding, and the earlier ones.
struct Node {
  Kind kind;
  BlockFormat format;
  std::shared_ptr<const Node> before;
};

/// History of the values of a cell.
struct State {
  std::shared_ptr<const Node> last;  ///< the longest path to it
  std::uint32_t depth = 0;           ///< length of that path
  std::uint32_t terms = 0;
  bool partial_rounded = false;  ///< a sum of some terms was rounded, or added in another type
  double noise = 0.0;            ///< sum over all roundings: NMSE x terms
  /// Type that holds the values exactly.
  ElementFormat type = ElementFormat::fp32;
};

/// True if every value of `type` is one of `other`.
bool holds(ElementFormat other, ElementFormat type) {
  if (other == type || other == ElementFormat::fp32) return true;
  const bool is_small = type == ElementFormat::fp8_e4m3 || type == ElementFormat::fp8_e5m2;
  return is_small && (other == ElementFormat::bf16 || other == ElementFormat::fp16);
}

using Cells = std::vector<State>;

/// Cells with values of one rank, or of a residual, that have not been rounded.
Cells one_term(ElementFormat type, std::size_t cells) {
  return Cells(cells, State{.last = {}, .terms = 1, .type = type});
}

/// Follows one unit.
class Tracer {
 public:
  Tracer(const LaneTable& lanes, const RoundingNmse& nmse)
      : program_(lanes.program()), nmse_(nmse), geometry_(lanes) {}

  void run(const Unit& unit) {
    geometry_.start(unit);
    find_cells();
    const ElementFormat type = program_.cast_from.value_or(program_.tensor_format);
    values_.assign(program_.ranks(), one_term(type, bounds_.size()));
    buffers_.clear();
    for (const collectives::InstructionId id : geometry_.lane().instructions)
      run(program_.instructions[id]);
  }

  const State& deepest() const { return deepest_; }
  bool sums_in_fp32() const { return sums_in_fp32_; }
  /// Mean noise over the delivered cells.
  double mean_noise() const { return cells_ == 0.0 ? 0.0 : noise_ / cells_; }

 private:
  void find_cells() {
    bounds_.clear();
    for (const collectives::InstructionId id : geometry_.lane().instructions) {
      const Instruction& instruction = program_.instructions[id];
      if (collectives::is_transfer(instruction.op)) continue;
      geometry_.for_each_tile(instruction.tile, {},
                              [&](const RankTile& tile) { bounds_.push_back(tile.range.begin); });
    }
    std::ranges::sort(bounds_);
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  }

  std::span<State> cells_of(const RankTile& tile) {
    const auto first = std::ranges::lower_bound(bounds_, tile.range.begin) - bounds_.begin();
    const auto last = std::ranges::lower_bound(bounds_, tile.range.end) - bounds_.begin();
    return std::span(values_[tile.rank])
        .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  }

  void run(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::dequantize:
      case Op::deliver: return deliver_buffers(instruction);
      default: break;
    }
    geometry_.for_each_tile(instruction.tile, instruction.ranks,
                            [&](const RankTile& tile) { run_on(instruction, tile); });
  }

  void run_on(const Instruction& instruction, const RankTile& tile) {
    const BlockFormat& format = program_.format(instruction.phase);
    const std::span<State> cells = cells_of(tile);
    switch (instruction.op) {
      case Op::cast: return convert(cells, {.element = program_.tensor_format});
      case Op::quantize:
      case Op::lend: {
        Cells& buffer = buffers_[{instruction.buffer, tile.rank}];
        buffer.assign(cells.begin(), cells.end());
        return convert(buffer, format, program_.partition.minishard(instruction.tile).size());
      }
      case Op::accumulate: return add(cells, read(instruction.buffer, instruction, tile.rank));
      case Op::add:
        add(cells, read(instruction.buffer, instruction, tile.rank));
        return convert(cells, format);
      case Op::decode: {
        const Cells& buffer = read(instruction.buffer, instruction, tile.rank);
        std::ranges::copy(buffer, cells.begin());
        return;
      }
      case Op::reduce: return reduce(instruction, tile);
      case Op::switch_reduce: {
        const bool whole = program_.partition.segment(instruction.tile.segment).axes.empty();
        return whole ? reduce(instruction, tile) : reduce_shards(instruction, tile);
      }
      case Op::reduce_shards: return reduce_shards(instruction, tile);
      case Op::add_residual: return add(cells, one_term(program_.tensor_format, cells.size()));
      case Op::store: {
        if (program_.arithmetic.owner == collectives::OwnerKeeps::summed) return;
        Cells stored(cells.begin(), cells.end());
        return deliver(stored);
      }
      default: return;
    }
  }

  const Cells& read(BufferId buffer, const Instruction& instruction, Rank reader) {
    return buffers_[{buffer, geometry_.producer_of(instruction.origin, reader)}];
  }

  void reduce(const Instruction& instruction, const RankTile& tile) {
    Cells sum(cells_of(tile).size(), State{});
    const Rank own = geometry_.producer_of(instruction.origin, tile.rank);
    std::vector<Rank> producers;
    for (const Offset peer : program_.grid().offsets(instruction.origin.gathered))
      producers.push_back(program_.grid().move(own, peer));
    std::ranges::sort(producers);
    for (const Rank producer : producers) add(sum, buffers_[{instruction.buffer, producer}]);
    std::ranges::copy(sum, cells_of(tile).begin());
  }

  void reduce_shards(const Instruction& instruction, const RankTile& tile) {
    const bool rounds = collectives::rounds_terms(program_, instruction);
    const std::vector<Offset> offsets = program_.grid().offsets(instruction.origin.gathered);
    const std::vector<BufferId> buffers =
        collectives::siblings(program_, instruction.buffer, instruction.origin.gathered);
    Cells sum(cells_of(tile).size(), State{});
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const Rank producer = program_.grid().move(tile.rank, program_.grid().reverse(offsets[i]));
      add(sum, buffers_[{buffers[i], producer}]);
      if (rounds) convert(sum, program_.format(instruction.phase));
    }
    std::ranges::copy(sum, cells_of(tile).begin());
  }

  void deliver_buffers(const Instruction& instruction) {
    const RankRange producers = instruction.origin.root ? RankRange{0, 0} : RankRange{};
    geometry_.for_each_tile(program_.buffers[instruction.buffer].tile, producers,
                            [&](const RankTile& producer) {
                              Cells values = buffers_[{instruction.buffer, producer.rank}];
                              deliver(values);
                            });
  }

  void deliver(Cells& values) {
    convert(values, {.element = program_.tensor_format});
    if (program_.arithmetic.residual == collectives::Residual::after) {
      add(values, one_term(program_.tensor_format, values.size()));
      convert(values, {.element = program_.tensor_format});
    }
    if (program_.cast_from) convert(values, {.element = *program_.cast_from});
    for (const State& value : values) {
      cells_ += 1.0;
      noise_ += value.noise / std::max(value.terms, 1U);
      if (value.partial_rounded) sums_in_fp32_ = false;
      if (value.depth >= deepest_.depth) deepest_ = value;
    }
  }

  /// True if a rounding changes a sum that other terms are added to, or an addition is not in FP32.
  bool rounds_partial_sum(const State& value, Kind kind, const BlockFormat& format) const {
    if (kind == Kind::addition) return format.element != ElementFormat::fp32;
    return value.terms > 1 && value.terms < program_.ranks();
  }

  void round(State& value, Kind kind, const BlockFormat& format, std::uint64_t elements) const {
    value.last = std::make_shared<const Node>(Node{kind, format, value.last});
    ++value.depth;
    if (rounds_partial_sum(value, kind, format)) value.partial_rounded = true;
    value.noise += nmse_(format, elements, value.terms) * value.terms;
    value.type = format.scaled ? ElementFormat::fp32 : format.element;
  }

  void convert(std::span<State> values, const BlockFormat& format,
               std::uint64_t elements = 0) const {
    for (State& value : values)
      if (format.scaled)
        round(value, Kind::encoding, format, elements);
      else if (!holds(format.element, value.type))
        round(value, Kind::conversion, format, 0);
      else if (format.element != ElementFormat::fp32)
        value.type = format.element;
  }

  void add(std::span<State> sums, std::span<const State> terms) const {
    const BlockFormat type{.element = program_.arithmetic.accumulate.value_or(ElementFormat::fp32)};
    for (std::size_t i = 0; i < sums.size() && i < terms.size(); ++i) {
      State term = terms[i];
      convert({&term, 1}, type);
      State& sum = sums[i];
      if (sum.terms == 0) {  // an empty sum
        sum = term;
        continue;
      }
      convert({&sum, 1}, type);
      State both = sum.depth >= term.depth ? sum : term;
      both.terms = sum.terms + term.terms;
      both.noise = sum.noise + term.noise;
      both.partial_rounded = sum.partial_rounded || term.partial_rounded;
      round(both, Kind::addition, type, 0);
      sum = both;
    }
  }

  const collectives::Program& program_;
  const RoundingNmse& nmse_;
  UnitGeometry geometry_;
  std::vector<std::uint64_t> bounds_;  ///< first elements of the cells, within the lane
  std::vector<Cells> values_;          ///< by rank
  std::map<std::pair<BufferId, Rank>, Cells> buffers_;
  State deepest_;
  bool sums_in_fp32_ = true;
  double noise_ = 0.0;
  double cells_ = 0.0;
};

RoundingPath path_of(const State& state) {
  RoundingPath path;
  for (const Node* node = state.last.get(); node != nullptr; node = node->before.get()) {
    if (node->kind == Kind::addition) ++path.additions;
    if (node->kind == Kind::conversion) ++path.conversions;
    if (node->kind == Kind::encoding) ++path.encodings;
    const bool same = !path.steps.empty() && path.steps.back().kind == node->kind &&
                      path.steps.back().format == node->format;
    if (!same) path.steps.push_back({node->kind, node->format, 0});
    ++path.steps.back().count;
  }
  std::ranges::reverse(path.steps);
  return path;
}

}  // namespace

RoundingPath rounding_path(const collectives::Program& program, const RoundingNmse& nmse) {
  const LaneTable lanes(program);
  Tracer tracer(lanes, nmse);
  std::optional<std::uint32_t> segment;
  for (std::uint32_t lane = 0; lane < lanes.lanes().size(); ++lane) {
    if (segment == lanes.lanes()[lane].segment) continue;
    segment = lanes.lanes()[lane].segment;
    tracer.run({.coordinate = 0, .lane = lane});
  }
  RoundingPath path = path_of(tracer.deepest());
  path.sums_in_fp32 = tracer.sums_in_fp32();
  path.expected_nmse = tracer.mean_noise();
  return path;
}

double conversion_nmse(ElementFormat type, double variance) {
  const std::optional<numerics::FloatType> known = numerics::float_type(type);
  if (!known) return std::numeric_limits<double>::quiet_NaN();
  constexpr int kLowest = -60;
  constexpr int kHighest = 20;
  constexpr double kUniform = 12.0;  // variance of a uniform error of one step
  const auto share_below = [&](double x) { return std::erf(x / std::sqrt(2.0 * variance)); };
  double error = 0.0;
  for (int exponent = kLowest; exponent < kHighest; ++exponent) {
    const double low = std::ldexp(1.0, exponent);
    const double step = std::ldexp(low, -known->fraction_bits);
    error += (share_below(2.0 * low) - share_below(low)) * step * step / (kUniform * variance);
  }
  return error;
}

}  // namespace equarx::values
