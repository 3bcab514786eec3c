#include "models/collectives/partition.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::collectives {
namespace {

/// Granularity of cuts: `count` steps of `step` elements, the last one possibly shorter.
struct Steps {
  std::uint64_t step;
  std::uint64_t count;
};

Steps steps_of(std::uint64_t elements, std::uint32_t parts) {
  constexpr std::uint64_t kRegister = numerics::kRegisterElements;
  if (elements < kRegister * parts) return {1, elements};
  return {kRegister, divide_up(elements, kRegister)};
}

}  // namespace

Range split(Range range, std::uint32_t parts, std::uint32_t index) {
  if (parts == 1) return range;
  const Steps steps = steps_of(range.size(), parts);
  const std::uint64_t each = steps.count / parts;
  const std::uint64_t rest = steps.count % parts;
  const auto cut = [&](std::uint64_t part) {
    // Not steps * part / parts, which could overflow. Most cuts in programs have no remainder.
    const std::uint64_t at = each * part + (rest == 0 ? 0 : rest * part / parts);
    return range.begin + std::min(at * steps.step, range.size());
  };
  return {cut(index), cut(index + std::uint64_t{1})};
}

std::uint64_t smallest_part(Range range, std::uint32_t parts) {
  const auto [step, steps] = steps_of(range.size(), parts);
  const std::uint64_t last = split(range, parts, parts - 1).size();
  return std::min(steps / parts * step, last);
}

Partition::Partition(std::uint64_t elements, RankGrid grid, std::vector<Segment> segments)
    : elements_(elements), grid_(std::move(grid)), segments_(std::move(segments)) {
  if (elements == 0 || segments_.empty())
    throw std::invalid_argument("a tensor and the number of its parts must be at least 1");
  std::uint64_t shares = 0;
  for (const Segment& segment : segments_) shares += segment.share;
  for (const Segment& segment : segments_) {
    std::uint64_t shards = 1;
    for (const std::size_t axis : segment.axes) shards *= grid_.length(axis);
    // The tensor is cut into as many pieces as all segments have shards, rounded up.
    const std::uint64_t shard = divide_up(elements * segment.share, shards * shares);
    begins_.push_back(begins_.back() + shard * shards);
  }
  for (std::uint32_t segment = 0; segment < this->segments(); ++segment) {
    find_chunks(segment);
    for (std::uint32_t uncut = 0; uncut <= segments_[segment].axes.size(); ++uncut)
      require_full(segment, uncut);
  }
}

void Partition::find_chunks(std::uint32_t segment) {
  std::vector<std::uint64_t> elements = {segment_elements(segment)};
  for (const std::size_t axis : segments_[segment].axes)
    elements.push_back(elements.back() / grid_.length(axis));
  chunks_.emplace_back(elements.rbegin(), elements.rend());
}

void Partition::require_full(std::uint32_t segment, std::uint32_t uncut) const {
  const auto [minishards, microshards] = cut(segment, uncut);
  if (minishards == 0 || microshards == 0)
    throw std::invalid_argument("a tensor and the number of its parts must be at least 1");
  const std::uint64_t chunk = chunk_elements(segment, uncut);
  if (smallest_part({0, chunk}, minishards) < microshards)
    throw std::invalid_argument(
        fmt::format("{} minishards x {} microshards are more than the {} elements that each of {} "
                    "ranks has in one direction; use fewer, or leave them out",
                    minishards, microshards, chunk, grid_.ranks()));
}

const Cut& Partition::cut(std::uint32_t segment, std::uint32_t uncut) const {
  const std::vector<Cut>& cuts = segments_[segment].cuts;
  return cuts[std::min<std::size_t>(uncut, cuts.size() - 1)];
}

std::optional<Cut> Partition::common_cut() const {
  const Cut& first = segments_.front().cuts.front();
  for (const Segment& segment : segments_)
    for (const Cut& cut : segment.cuts)
      if (cut != first) return std::nullopt;
  return first;
}

std::uint64_t Partition::chunk_begin(std::uint32_t segment, std::uint32_t uncut, Rank rank) const {
  const std::vector<std::size_t>& axes = segments_[segment].axes;
  std::uint64_t index = 0;
  for (std::size_t i = 0; i + uncut < axes.size(); ++i)
    index = index * grid_.length(axes[i]) + grid_.coordinate(rank, axes[i]);
  return index * chunk_elements(segment, uncut);
}

Range Partition::minishard(const Tile& tile) const {
  return split({0, chunk_elements(tile.segment, tile.uncut)},
               cut(tile.segment, tile.uncut).minishards, tile.minishard);
}

Range Partition::microshard(const Tile& tile) const {
  const Range whole = minishard(tile);
  const Range part =
      split({0, whole.size()}, cut(tile.segment, tile.uncut).microshards, tile.microshard);
  return {whole.begin + part.begin, whole.begin + part.end};
}

}  // namespace equarx::collectives
