#include "importers/msccl/dependencies.hpp"

#include <algorithm>
#include <utility>

namespace equarx::schedules {

RankWriter::RankWriter(std::vector<ThreadBlock> blocks)
    : blocks_(std::move(blocks)),
      waited_(blocks_.size(), std::vector<std::uint32_t>(blocks_.size())) {}

/// Adds `earlier` to `needed`: the last step per thread block suffices, and none of the own block.
void RankWriter::need(std::uint32_t block, const std::vector<Dependency>& earlier,
                      std::map<std::uint32_t, std::uint32_t>& needed) const {
  for (const Dependency& step : earlier) {
    if (step.block == block || step.step < waited_[block][step.block]) continue;
    std::uint32_t& last = needed[step.block];
    last = std::max(last, step.step);
  }
}

std::vector<Dependency> RankWriter::needs_of(std::uint32_t block, const Step& step) {
  std::map<std::uint32_t, std::uint32_t> needed;
  for (std::uint32_t i = 0; i < step.count; ++i) {
    if (reads_source(step.op))
      need(block, chunks_[{step.source.memory, step.source.chunk + i}].writer, needed);
    if (!writes_destination(step.op)) continue;
    const Chunk& chunk = chunks_[{step.destination.memory, step.destination.chunk + i}];
    need(block, chunk.writer, needed);
    need(block, chunk.readers, needed);
  }
  std::vector<Dependency> all;
  for (const auto& [other, last] : needed) {
    all.push_back({other, last});
    waited_[block][other] = last + 1;
    blocks_[other].steps[last].signals = true;
  }
  return all;
}

void RankWriter::record(std::uint32_t block, const Step& step) {
  const Dependency self{block, static_cast<std::uint32_t>(blocks_[block].steps.size() - 1)};
  for (std::uint32_t i = 0; i < step.count; ++i) {
    if (reads_source(step.op))
      chunks_[{step.source.memory, step.source.chunk + i}].readers.push_back(self);
    if (!writes_destination(step.op)) continue;
    chunks_[{step.destination.memory, step.destination.chunk + i}] = {{}, {self}};
  }
}

void RankWriter::add(std::uint32_t block, Step step) {
  const std::vector<Dependency> needs = needs_of(block, step);
  for (std::size_t i = 0; i + 1 < needs.size(); ++i)
    blocks_[block].steps.push_back({.op = Op::nop, .after = needs[i]});
  if (!needs.empty()) step.after = needs.back();
  blocks_[block].steps.push_back(step);
  record(block, step);
}

}  // namespace equarx::schedules
