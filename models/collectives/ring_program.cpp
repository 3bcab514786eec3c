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

namespace equarx::collectives {
namespace {

void write_segment(ProgramWriter& writer, RingStyle style, std::uint32_t segment,
                   std::vector<Direction> directions) {
  writer.begin_strand();
  RingStrand strand(writer, style, segment, std::move(directions));
  const Collective collective = writer.program().collective;
  if (collective != Collective::all_gather) write_reduce_scatter(strand);
  if (collective != Collective::reduce_scatter) write_all_gather(strand);
}

}  // namespace

Program make_ring_program(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const RingOptions& options) {
  if (options.collective == Collective::all_to_all || options.collective == Collective::broadcast)
    throw std::logic_error(fmt::format("a ring program is no {}", name(options.collective)));
  ProgramWriter writer({options.collective,
                        make_ring_partition(grid, elements, options),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  const std::uint32_t segments = writer.program().partition.segments();
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    if (options.style == RingStyle::semi_loop)
      write_segment(writer, options.style, segment,
                    {kBothDirections.begin(), kBothDirections.end()});
    else  // segments take turns: the first of each pair goes forward
      write_segment(writer, options.style, segment, {kBothDirections[segment % kDirections]});
  }
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
