#include "models/values/unit_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace equarx::values {

using collectives::Instruction;
using collectives::InstructionId;
using collectives::Range;
using collectives::Rank;

UnitRecorder::UnitRecorder(const UnitGeometry& geometry, const numerics::SharedScale* shared,
                           ValueRecord& record)
    : geometry_(geometry), record_(record) {
  const std::uint32_t ranks = geometry.program().ranks();
  for (Rank rank = 0; rank < ranks; ++rank) results_.emplace_back(geometry, shared);
  record_.results.resize(ranks);
  record_.exact.resize(geometry.program().partition.elements());
}

void UnitRecorder::start() {
  terms_.clear();
  messages_.clear();
  parts_.assign(results_.size(), {});
  for (Rank rank = 0; rank < results_.size(); ++rank) {
    terms_.emplace_back(geometry_.elements(), id_of({rank}));
    results_[rank].start();
  }
}

UnitRecorder::TermsId UnitRecorder::id_of(std::vector<Rank> ranks) {
  const auto [known, is_new] = ids_.emplace(ranks, static_cast<TermsId>(sets_.size()));
  if (is_new) sets_.push_back(std::move(ranks));
  return known->second;
}

UnitRecorder::TermsId UnitRecorder::terms_of(const RankTile& tile) const {
  const auto terms = std::span(terms_[tile.rank]).subspan(tile.range.begin, tile.range.size());
  if (std::ranges::any_of(terms, [&](TermsId id) { return id != terms.front(); }))
    throw std::logic_error("the elements of a tile have different terms");
  return terms.front();
}

void UnitRecorder::set_terms(const RankTile& tile, TermsId terms) {
  std::ranges::fill(std::span(terms_[tile.rank]).subspan(tile.range.begin, tile.range.size()),
                    terms);
}

/// Elements of the tensor in a range of the unit.
Range UnitRecorder::in_tensor(const Range& range) const {
  const std::uint64_t first = geometry_.first_element();
  return {first + range.begin, first + range.end};
}

void UnitRecorder::append(StepKind kind, const Instruction& instruction, const RankTile& tile,
                          std::span<const float> values, const std::vector<Rank>& ranks) {
  const Range real = geometry_.without_padding(tile.range);
  if (real.size() == 0) return;
  const collectives::Program& program = geometry_.program();
  const std::uint64_t shared = tile.range.begin - tile.in_minishard;
  const std::uint64_t together = program.partition.minishard(instruction.tile).size();
  const std::size_t size = kind == StepKind::scales ? values.size() : real.size();
  const auto kept = values.first(size);
  record_.steps.push_back(
      {.kind = kind,
       .instruction = static_cast<InstructionId>(&instruction - program.instructions.data()),
       .ranks = ranks.empty() ? std::vector{tile.rank} : ranks,
       .range = in_tensor(real),
       .minishard = in_tensor({shared, shared + together}),
       .terms = sets_[terms_of(tile)],
       .values = {kept.begin(), kept.end()}});
}

void UnitRecorder::step(StepKind kind, const Instruction& instruction, const RankTile& tile,
                        std::span<const float> values) {
  append(kind, instruction, tile, values, {});
}

void UnitRecorder::lend(const Instruction& instruction, const RankTile& tile) {
  messages_[{instruction.buffer, tile.rank}] = terms_of(tile);
}

void UnitRecorder::encode(const Instruction& instruction, const RankTile& tile,
                          std::span<const float> values) {
  lend(instruction, tile);
  append(StepKind::encoded, instruction, tile, values, {});
}

void UnitRecorder::clear(const RankTile& tile) { set_terms(tile, id_of({})); }

void UnitRecorder::add(const Instruction& instruction, const RankTile& tile, const Message& message,
                       std::span<const float> values, const std::vector<Rank>& ranks) {
  std::vector<Rank> both;
  std::ranges::set_union(sets_[terms_of(tile)], sets_[messages_.at(message)],
                         std::back_inserter(both));
  set_terms(tile, id_of(std::move(both)));
  append(StepKind::sum, instruction, tile, values, ranks);
}

void UnitRecorder::decode(const Instruction& instruction, const RankTile& tile,
                          const Message& message, std::span<const float> values) {
  set_terms(tile, messages_.at(message));
  append(StepKind::decoded, instruction, tile, values, {});
}

void UnitRecorder::copy(Rank from, const RankTile& to) {
  set_terms(to, terms_of({from, to.range, to.in_minishard}));
}

void UnitRecorder::deliver(Rank rank, const Range& range, std::span<const float> values) {
  results_[rank].deliver(0, range, values);
  if (std::ranges::find(parts_[rank], range) == parts_[rank].end()) parts_[rank].push_back(range);
}

void UnitRecorder::finish(std::span<const double> exact) {
  for (Rank rank = 0; rank < results_.size(); ++rank)
    for (const Range& part : parts_[rank]) {
      const Range real = geometry_.without_padding(part);
      if (real.size() == 0) continue;
      const auto values = results_[rank].values(0).subspan(real.begin, real.size());
      record_.results[rank].push_back({in_tensor(real), {values.begin(), values.end()}});
    }
  const auto real = exact.first(geometry_.real_elements());
  std::ranges::copy(real,
                    record_.exact.begin() + static_cast<std::ptrdiff_t>(geometry_.first_element()));
}

}  // namespace equarx::values
