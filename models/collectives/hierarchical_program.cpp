#include "models/collectives/hierarchical_program.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "models/collectives/direct_exchange.hpp"
#include "models/collectives/divide_up.hpp"
#include "models/collectives/program_writer.hpp"
#include "models/collectives/ring_all_gather.hpp"
#include "models/collectives/ring_partition.hpp"
#include "models/collectives/ring_reduce_scatter.hpp"
#include "models/collectives/ring_strand.hpp"
#include "models/collectives/ring_sums.hpp"
#include "models/collectives/ring_timetable.hpp"
#include "models/collectives/ring_tours.hpp"

namespace equarx::collectives {
namespace {

/// Maps an axis within a slice to the rank grid of all slices.
std::size_t in_full_grid(std::size_t axis) { return axis + 1; }

bool has_reduce_scatter(Collective collective) { return collective != Collective::all_gather; }
bool has_all_gather(Collective collective) { return collective != Collective::reduce_scatter; }

void check(Collective collective, const RankGrid& grid) {
  if (collective == Collective::all_to_all || collective == Collective::broadcast)
    throw std::logic_error("a hierarchical program cannot be an AllToAll or a Broadcast");
  if (grid.axes() < 2)
    throw std::invalid_argument("a hierarchical collective needs several chips in each slice");
}

/// Extends a segment of one slice to all slices: its chunks are also cut between slices.
Segment with_slices(const Segment& within, std::uint64_t chunk_elements, const RankGrid& grid,
                    Collective collective, const ExchangeOptions& between) {
  Segment segment{{}, {}, within.share};
  for (const std::size_t axis : within.axes) segment.axes.push_back(in_full_grid(axis));
  segment.axes.push_back(kSliceAxis);
  const std::uint64_t shard = divide_up(chunk_elements, grid.length(kSliceAxis));
  segment.cuts.push_back(choose_cut(between.cut, cut_format(collective, between), shard));
  segment.cuts.insert(segment.cuts.end(), within.cuts.begin(), within.cuts.end());
  return segment;
}

/// Begins a program without instructions, cut like `slice` within slices.
ProgramWriter begin(Collective collective, const RankGrid& grid, const Partition& slice,
                    numerics::ElementFormat tensor_format, const ExchangeOptions& within,
                    const ExchangeOptions& between) {
  std::vector<Segment> segments;
  for (std::uint32_t segment = 0; segment < slice.segments(); ++segment)
    segments.push_back(with_slices(slice.segment(segment), slice.chunk_elements(segment), grid,
                                   collective, between));
  return ProgramWriter(
      {collective,
       Partition(slice.elements(), grid, std::move(segments)),
       tensor_format,
       {within.reduce_scatter, within.all_gather, between.reduce_scatter, between.all_gather},
       {},
       {},
       {},
       {}});
}

/// Writes phases 2 and 3. `sums`: location of the slice's sums after phase 1.
void write_between(ProgramWriter& writer, Operand sums, bool codes_own = false) {
  const Collective collective = writer.program().collective;
  const bool both = collective == Collective::all_reduce;
  DirectExchange exchange(writer, {.axis = kSliceAxis,
                                   .reduce_scatter = Phase::reduce_scatter_between,
                                   .all_gather = Phase::all_gather_between,
                                   .source = has_reduce_scatter(collective) ? sums : Operand::input,
                                   .codes_own = codes_own,
                                   .gathers_sums = both});
  if (has_reduce_scatter(collective)) exchange.scatter();
  if (!has_all_gather(collective)) return exchange.store_sums();
  exchange.gather(both ? Operand::sums : Operand::input, DirectExchange::Arrivals::values);
}

// --- Rings within slices

std::vector<RingTour> in_full_grid(std::vector<RingTour> tours) {
  for (RingTour& tour : tours)
    for (std::size_t& axis : tour.axes) axis = in_full_grid(axis);
  return tours;
}

RingOptions in_full_grid(RingOptions options) {
  if (!options.folded.empty()) options.folded.insert(options.folded.begin(), false);
  return options;
}

/// Writes the strands of all segments, merged by due time.
template <typename Write>
void write_strands(ProgramWriter& writer, std::vector<RingStrand>& strands, Write write) {
  writer.begin_part();
  for (RingStrand& strand : strands) {
    writer.begin_strand();
    write(strand);
  }
  writer.begin_part();
}

}  // namespace

RankGrid within_slice(const RankGrid& grid) {
  if (grid.axes() < 2)
    throw std::invalid_argument("a rank grid of slices needs an axis within slices");
  return RankGrid({grid.lengths().begin() + 1, grid.lengths().end()});
}

Program make_hierarchical_rings(const RankGrid& grid, std::uint64_t elements,
                                numerics::ElementFormat tensor_format, const RingOptions& within,
                                const ExchangeOptions& between) {
  check(within.collective, grid);
  const RankGrid slice = within_slice(grid);
  const std::vector<RingTour> tours = ring_tours(slice, elements, within);
  const Partition partition = make_ring_partition(slice, elements, tours, within);
  ProgramWriter writer = begin(within.collective, grid, partition, tensor_format,
                               {within.reduce_scatter, within.all_gather, within.cut}, between);
  const RingTimetable timetable(grid, in_full_grid(tours),
                                elements_of_tours(partition, within.style), in_full_grid(within));
  std::vector<RingStrand> strands;
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
    strands.emplace_back(writer, timetable, within.style, segment,
                         directions_of(within.style, segment), 1);
  if (has_reduce_scatter(within.collective))
    write_strands(writer, strands, [](RingStrand& strand) { write_reduce_scatter(strand); });
  write_between(writer, ring_sums_in(writer.program()));
  if (has_all_gather(within.collective))
    write_strands(writer, strands, [](RingStrand& strand) { write_all_gather(strand); });
  return std::move(writer).finish();
}

Program make_hierarchical_exchange(Collective collective, const RankGrid& grid,
                                   std::uint64_t elements, numerics::ElementFormat tensor_format,
                                   const ExchangeOptions& within, const ExchangeOptions& between,
                                   bool codes_own) {
  check(collective, grid);
  const RankGrid slice = within_slice(grid);
  if (slice.axes() != 1) throw std::logic_error("a direct exchange goes along one axis");
  const Cut cut = choose_cut(in_one_piece(within.cut), cut_format(collective, within),
                             divide_up(elements, slice.ranks()));
  ExchangeOptions across = between;
  across.cut = in_one_piece(between.cut);
  ProgramWriter writer = begin(collective, grid, Partition(elements, slice, {{{0}, {cut}}}),
                               tensor_format, within, across);
  DirectExchange exchange(writer, {.axis = in_full_grid(0), .uncut = 1, .codes_own = codes_own});
  if (has_reduce_scatter(collective)) exchange.scatter();
  write_between(writer, Operand::sums, codes_own);
  if (has_all_gather(collective)) exchange.gather(Operand::sums);
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
