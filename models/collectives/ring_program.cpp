#include "models/collectives/ring_program.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/program_writer.hpp"
#include "models/collectives/ring_all_gather.hpp"
#include "models/collectives/ring_partition.hpp"
#include "models/collectives/ring_reduce_scatter.hpp"
#include "models/collectives/ring_strand.hpp"
#include "models/collectives/ring_timetable.hpp"
#include "models/collectives/ring_tours.hpp"

namespace equarx::collectives {
namespace {

void write_segment(ProgramWriter& writer, const RingTimetable& timetable, RingStyle style,
                   std::uint32_t segment) {
  writer.begin_strand();
  RingStrand strand(writer, timetable, style, segment, directions_of(style, segment));
  const Collective collective = writer.program().collective;
  if (collective != Collective::all_gather) write_reduce_scatter(strand);
  if (collective != Collective::reduce_scatter) write_all_gather(strand);
}

}  // namespace

Program make_ring_program(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const RingOptions& options) {
  if (options.collective == Collective::all_to_all || options.collective == Collective::broadcast)
    throw std::logic_error(fmt::format("a ring program cannot be a {}", name(options.collective)));
  const std::vector<RingTour> tours = ring_tours(grid, elements, options);
  ProgramWriter writer({options.collective,
                        make_ring_partition(grid, elements, tours, options),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  const RingTimetable timetable(
      grid, tours, elements_of_tours(writer.program().partition, options.style), options);
  const std::uint32_t segments = writer.program().partition.segments();
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    write_segment(writer, timetable, options.style, segment);
    if (segment == 0) writer.reserve_strands(segments);
  }
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
