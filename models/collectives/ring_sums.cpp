#include "models/collectives/ring_sums.hpp"

#include <cstddef>

namespace equarx::collectives {

Operand ring_sums_in(const Program& program) {
  return program.format(Phase::reduce_scatter).scaled ? Operand::sums : Operand::rounded_sums;
}

void RingSums::sum_and_send(const std::vector<Path>& paths, Phase phase,
                            const std::vector<Outgoing>& outgoing, bool scales_found) {
  const Tile& first = outgoing.front().tile;
  const std::uint32_t minishard = first.minishard;
  const Operand operand = paths.empty() ? source() : sums();
  const bool scaled = numerics::sends_scales(strand_.format(phase));
  const std::vector<SentMinishard> arrivals = await_scales(paths);
  for (const Outgoing& one : outgoing)
    for (const Direction direction : one.directions) strand_.sent(direction, minishard) = {};

  std::vector<BufferId> scales(outgoing.size());
  if (scaled) {
    writer_.for_each_microshard(first, [&](std::uint32_t micro) {
      strand_.due(minishard, StepPosition::kSum, micro);
      sum(paths, arrivals, micro, scales_found);
    });
    scales = send_scales(phase, outgoing, operand, scales_found);
  } else if (strand_.format(phase).scaled) {
    strand_.barrier(minishard, StepPosition::kArrival, first);
  }
  writer_.for_each_microshard(first, [&](std::uint32_t micro) {
    if (!scaled) {
      constexpr double kPositions = StepPosition::kDeliver - StepPosition::kSum;
      strand_.due(minishard, StepPosition::kSum, micro, kPositions);
      sum(paths, arrivals, micro, false);
      strand_.due(minishard, StepPosition::kSum, micro + 0.5, kPositions);
    } else {
      strand_.due(minishard, StepPosition::kSendPayload, micro);
    }
    for (std::size_t i = 0; i < outgoing.size(); ++i)
      encode_and_send_payload(phase, outgoing[i], micro, operand, scales[i]);
  });
}

void RingSums::finish(const std::vector<Path>& paths, bool store) {
  const Tile& tile = paths.front().tile;
  const std::vector<SentMinishard> arrivals = await_scales(paths);
  writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
    strand_.due(tile.minishard, StepPosition::kSum, micro);
    sum(paths, arrivals, micro, false);
    if (store)
      writer_.emit({.op = Op::store,
                    .phase = Phase::reduce_scatter,
                    .operand = sums(),
                    .tile = at(tile, micro)});
  });
}

std::vector<SentMinishard> RingSums::await_scales(const std::vector<Path>& paths) {
  std::vector<SentMinishard> arrivals;
  for (const Path& path : paths) {
    strand_.due(path.tile.minishard, StepPosition::kArrival);
    arrivals.push_back(strand_.sent(path.direction, path.tile.minishard));
    if (arrivals.back().scales) writer_.wait(*arrivals.back().scales);
  }
  return arrivals;
}

/// Adds one microshard of every path to the local values. If two paths end in one tile, the second
/// continues from the sums of the first.
void RingSums::sum(const std::vector<Path>& paths, const std::vector<SentMinishard>& arrivals,
                   std::uint32_t micro, bool finds_scales) {
  const Program& program = writer_.program();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool again = i > 0 && paths[i - 1].tile == paths[i].tile;
    const bool last = i + 1 == paths.size() || paths[i + 1].tile != paths[i].tile;
    const MessageId message = arrivals[i].payload[micro];
    writer_.wait(message);
    writer_.emit({.op = program.format(Phase::reduce_scatter).scaled ? Op::accumulate : Op::add,
                  .phase = Phase::reduce_scatter,
                  .operand = again ? sums() : source(),
                  .finds_scales = finds_scales && last,
                  .tile = at(paths[i].tile, micro),
                  .buffer = strand_.buffer_of(message),
                  .origin = program.received(program.messages[message])});
  }
}

std::vector<BufferId> RingSums::send_scales(Phase phase, const std::vector<Outgoing>& outgoing,
                                            Operand operand, bool scales_found) {
  const Tile& first = outgoing.front().tile;
  if (!scales_found) find_scales(phase, outgoing, operand);
  strand_.barrier(first.minishard, StepPosition::kBarrier, first);
  strand_.due(first.minishard, StepPosition::kSendScales);
  std::vector<BufferId> scales;
  for (const Outgoing& one : outgoing) scales.push_back(encode_and_send_scales(phase, one));
  return scales;
}

void RingSums::find_scales(Phase phase, const std::vector<Outgoing>& outgoing, Operand operand) {
  const Tile& first = outgoing.front().tile;
  writer_.for_each_microshard(first, [&](std::uint32_t micro) {
    strand_.due(first.minishard, StepPosition::kFindScales, micro);
    for (const Outgoing& one : outgoing)
      writer_.emit(
          {.op = Op::find_scales, .phase = phase, .operand = operand, .tile = at(one.tile, micro)});
  });
}

BufferId RingSums::encode_and_send_scales(Phase phase, const Outgoing& outgoing) {
  const BufferId scales = writer_.encode_scales(phase, outgoing.tile);
  for (const Direction direction : outgoing.directions)
    strand_.sent(direction, outgoing.tile.minishard).scales = strand_.send_own(scales, direction);
  return scales;
}

void RingSums::encode_and_send_payload(Phase phase, const Outgoing& outgoing, std::uint32_t micro,
                                       Operand operand, BufferId scales) {
  const Tile tile = at(outgoing.tile, micro);
  const BufferId payload = writer_.encode_payload(phase, tile, operand, scales);
  for (const Direction direction : outgoing.directions)
    strand_.sent(direction, tile.minishard).payload.push_back(strand_.send_own(payload, direction));
}

/// Location of partial sums.
Operand RingSums::sums() const { return ring_sums_in(writer_.program()); }

/// Location of the local values at the start of a stage.
Operand RingSums::source() const {
  if (strand_.phase() == Phase::all_gather && strand_.stops_between()) return Operand::sums;
  const bool first = strand_.stage() == 0 || strand_.collective() == Collective::all_gather;
  return first ? Operand::input : sums();
}

}  // namespace equarx::collectives
