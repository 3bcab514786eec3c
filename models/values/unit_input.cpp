#include "models/values/unit_input.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/numerics/kernels/multiples.hpp"
#include "models/values/make_room.hpp"

namespace equarx::values {

using collectives::Collective;
using collectives::Offset;
using collectives::Rank;

UnitInput::UnitInput(const UnitGeometry& geometry, const TensorSource& source,
                     const TensorSource* residual)
    : geometry_(geometry),
      source_(source),
      residual_source_(residual),
      values_(geometry.program().ranks()) {}

void UnitInput::read(Reading reading) {
  on_demand_ = reading == Reading::on_demand;
  const std::size_t size = geometry_.elements();
  const collectives::Program& program = geometry_.program();
  make_room(exact_, result_rows(program) * size, result_rows(program) * geometry_.most_elements());
  switch (program.collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter: read_and_sum(); return read_residual();
    case Collective::broadcast:
      read(0);
      std::ranges::copy(values_[0], exact_.begin());
      return;
    case Collective::all_to_all:
      for (Rank rank = 0; rank < program.ranks(); ++rank) {
        read(rank);
        std::ranges::copy(values_[rank], exact_.begin() + static_cast<std::ptrdiff_t>(rank * size));
      }
      return;
    case Collective::all_gather: return read_shards();
    case Collective::neighbor_average: return read_and_average();
  }
}

void UnitInput::read(Rank rank) {
  make_room(values_[rank], geometry_.elements(), geometry_.most_elements());
  read(source_, rank, 0, values_[rank]);
}

/// Reads elements begin, begin + 1, ... of the unit; of some columns, from the start of a row.
void UnitInput::read(const TensorSource& source, Rank rank, std::size_t begin,
                     std::span<float> values) const {
  const std::uint64_t first = geometry_.first_element();
  if (geometry_.has_all_columns()) return source.read(rank, first + begin, values);
  const collectives::Range& columns = geometry_.columns();
  const std::uint64_t row = begin / columns.size();
  source.read_rows(rank, first + row * numerics::kRegisterElements + columns.begin, columns.size(),
                   values);
}

void UnitInput::read_again(Rank rank) {
  if (!spare_.empty()) {
    values_[rank] = std::move(spare_.back());
    spare_.pop_back();
  }
  read(rank);
}

void UnitInput::release(Rank rank) {
  if (!on_demand_ || values_[rank].capacity() == 0) return;
  spare_.push_back(std::exchange(values_[rank], {}));
}

/// Reads and sums all ranks' inputs piece by piece, because a lane of all ranks exceeds the cache.
void UnitInput::read_and_sum() {
  constexpr std::size_t kPiece = 1 << 12;
  const std::size_t size = geometry_.elements();
  numerics::AlignedVector<float> passing(on_demand_ ? kPiece : 0);
  for (Rank rank = 0; rank < values_.size(); ++rank)
    if (on_demand_)
      release(rank);
    else
      make_room(values_[rank], size, geometry_.most_elements());
  for (std::size_t begin = 0; begin < size; begin += kPiece) {
    const std::span<double> sums = std::span(exact_).subspan(begin, std::min(kPiece, size - begin));
    std::ranges::fill(sums, 0.0);
    for (Rank rank = 0; rank < values_.size(); ++rank) {
      const std::span<float> values = on_demand_
                                          ? std::span(passing).first(sums.size())
                                          : std::span(values_[rank]).subspan(begin, sums.size());
      read(source_, rank, begin, values);
      numerics::kernels::add_values(values.data(), values.size(), sums.data());
    }
  }
}

/// Reads the residual, and adds it to the exact sum.
void UnitInput::read_residual() {
  if (geometry_.program().arithmetic.residual == collectives::Residual::none) return;
  const std::size_t size = geometry_.elements();
  make_room(residual_, size, geometry_.most_elements());
  read(*residual_source_, 0, 0, residual_);
  for (std::size_t i = 0; i < size; ++i) exact_[i] += double{residual_[i]};
}

/// Reads all ranks' inputs and computes their means with the weights as rounded to FP32.
void UnitInput::read_and_average() {
  const collectives::RankGraph& graph = geometry_.program().graph.value();
  const std::size_t size = geometry_.elements();
  for (Rank rank = 0; rank < values_.size(); ++rank) read(rank);
  for (Rank rank = 0; rank < values_.size(); ++rank) {
    const std::span<double> mean = std::span(exact_).subspan(rank * size, size);
    std::ranges::fill(mean, 0.0);
    const auto add = [&](Rank from, float weight) {
      for (std::size_t i = 0; i < size; ++i) mean[i] += double{weight} * double{values_[from][i]};
    };
    add(rank, graph.own_weight(rank));
    for (const Rank from : graph.neighbors(rank)) add(from, graph.weight(rank, from));
  }
}

/// Reads each shard from its owner; the exact padding past the last shard is 0.
void UnitInput::read_shards() {
  std::ranges::fill(exact_, 0.0);
  const collectives::Program& program = geometry_.program();
  const std::uint32_t segment = geometry_.lane().segment;
  const std::uint64_t shard = program.partition.chunk_elements(segment);
  const std::uint64_t lane_begin = geometry_.first_in_segment();
  const Rank first = geometry_.first_rank({.segment = segment});
  for (const Offset peer : geometry_.peers()) {
    const Rank owner = program.grid().move(first, peer);
    read(owner);
    const std::uint64_t begin = program.partition.chunk_begin(segment, 0, owner);
    const std::uint64_t from = std::max(begin, lane_begin);
    const std::uint64_t to = std::min(begin + shard, lane_begin + geometry_.elements());
    for (std::uint64_t i = from; i < to; ++i)
      exact_[i - lane_begin] = double{values_[owner][i - lane_begin]};
  }
}

}  // namespace equarx::values
