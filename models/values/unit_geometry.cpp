#include "models/values/unit_geometry.hpp"

namespace equarx::values {

using collectives::Rank;

std::uint32_t result_rows(const collectives::Program& program) {
  return collectives::differs_by_rank(program.collective) ? program.ranks() : 1;
}

UnitGeometry::UnitGeometry(const LaneTable& lanes)
    : lanes_(lanes), partition_(lanes.program().partition), grid_(lanes.program().grid()) {
  for (const Lane& lane : lanes.lanes())
    most_elements_ = std::max<std::size_t>(most_elements_, first_part(lane).size());
}

void UnitGeometry::start(const Unit& unit) {
  unit_ = unit;
  lane_ = &lanes_.lanes()[unit.lane];
  const collectives::Segment& segment = partition_.segment(lane_->segment);
  const std::uint64_t chunk = partition_.chunk_elements(lane_->segment, top_uncut(segment));
  part_ = unit.part;
  if (part_.range.size() == 0) part_ = {.range = {0, lane_->range.size()}};
  range_ = {lane_->range.begin + part_.range.begin, lane_->range.begin + part_.range.end};
  first_element_ =
      partition_.segment_begin(lane_->segment) + unit.coordinate * chunk + range_.begin;
  const std::uint64_t left =
      partition_.elements() - std::min(partition_.elements(), first_element_);
  real_elements_ = part_.before(std::min(range_.size(), left));
  collectives::AxisSet others = grid_.all_axes();
  if (!segment.axes.empty()) others &= ~(collectives::AxisSet{1} << segment.axes.front());
  peers_ = grid_.offsets(others);
  if (chunk_begins_.empty() || segment_ != lane_->segment) find_chunks();
}

void UnitGeometry::find_chunks() {
  segment_ = lane_->segment;
  chunk_begins_.clear();
  const std::size_t axes = partition_.segment(segment_).axes.size();
  for (std::uint32_t uncut = 0; uncut <= axes; ++uncut) {
    std::vector<std::uint64_t>& begins = chunk_begins_.emplace_back();
    for (Rank rank = 0; rank < grid_.ranks(); ++rank)
      begins.push_back(partition_.chunk_begin(segment_, uncut, rank));
  }
}

std::size_t UnitGeometry::real_elements(std::uint32_t row) const {
  const collectives::Program& whole = program();
  if (!whole.counts) return real_elements_;
  const std::uint64_t shard = partition_.chunk_elements(lane_->segment);
  const Rank receiver = static_cast<Rank>(first_in_segment() / shard);
  const std::uint64_t rows = whole.counts->rows[std::size_t{row} * grid_.ranks() + receiver];
  const std::uint64_t end = rows * whole.counts->row_elements;
  const std::uint64_t begin = first_in_segment() % shard;
  return std::min<std::uint64_t>(range_.size(), end - std::min(end, begin));
}

std::uint64_t UnitGeometry::minishard_elements(const collectives::WrittenTile& tile) const {
  const std::uint64_t size = program().minishard(tile).size();
  if (!is_part() && has_all_columns()) return size;
  const Rank chunk = grid_.move(tile.writer, tile.tile.shard_offset);
  const std::uint64_t begin =
      chunk_begins(tile.tile.uncut)[chunk] + partition_.minishard(tile.tile).begin;
  const std::uint64_t unit_begin = first_in_segment();
  const std::uint64_t from = std::max(begin, unit_begin);
  const std::uint64_t to = std::min(begin + size, unit_begin + range_.size());
  return part_.before(to - unit_begin) - part_.before(from - unit_begin);
}

Rank UnitGeometry::first_rank(const collectives::Tile& tile) const {
  const std::vector<std::size_t>& axes = partition_.segment(lane_->segment).axes;
  if (axes.empty()) return 0;
  const std::uint32_t offset = grid_.coordinate(tile.shard_offset, axes.front());
  return grid_.difference(grid_.along(axes.front(), unit_.coordinate),
                          grid_.along(axes.front(), offset));
}

std::size_t UnitGeometry::slot_of(Rank rank) const {
  const std::vector<std::size_t>& axes = partition_.segment(lane_->segment).axes;
  if (axes.empty()) return rank;
  const Rank stride = grid_.along(axes.front(), 1);
  return rank / (stride * grid_.length(axes.front())) * stride + rank % stride;
}

}  // namespace equarx::values
