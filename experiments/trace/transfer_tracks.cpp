#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "experiments/trace/arguments.hpp"
#include "experiments/trace/traced_run.hpp"

namespace equarx::trace {
namespace {

using collectives::Rank;

void write_queue(const TracedRun& run, std::uint32_t process, const std::string& name,
                 std::vector<std::pair<Picoseconds, int>>& changes) {
  std::ranges::sort(changes);
  int queued = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    queued += changes[i].second;
    const bool last_of_instant =
        i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
    if (last_of_instant) run.writer.add_count(process, name, changes[i].first, queued);
  }
}

/// Writes the number of queued transfers of every DMA.
void write_queues(const TracedRun& run) {
  std::vector<std::vector<std::pair<Picoseconds, int>>> changes(run.machine.ranks() *
                                                                run.program.channels.size());
  for (std::size_t i = 0; i < run.drawn.size(); ++i) {
    const sim::TransferEvent& transfer = run.time.trace.transfers[i];
    const std::size_t channel = run.program.messages[transfer.message].channel;
    if (run.drawn[i].start == run.drawn[i].sent) continue;
    auto& queue = changes[transfer.sender * run.program.channels.size() + channel];
    queue.emplace_back(run.drawn[i].sent, 1);
    queue.emplace_back(run.drawn[i].start, -1);
  }
  for (Rank rank = 0; rank < run.machine.ranks(); ++rank)
    for (std::size_t channel = 0; channel < run.program.channels.size(); ++channel)
      write_queue(run, run.process(rank), run.dma_name(channel) + ": queued",
                  changes[rank * run.program.channels.size() + channel]);
}

}  // namespace

void write_transfers(const TracedRun& run) {
  for (std::size_t i = 0; i < run.drawn.size(); ++i) {
    const sim::TransferEvent& transfer = run.time.trace.transfers[i];
    const DrawnTransfer& drawn = run.drawn[i];
    const Track track =
        run.dma_track(transfer.sender, run.program.messages[transfer.message].channel);
    run.writer.add_slice(
        {track, content_name(run.program, transfer.message), "dma", drawn.start, drawn.end},
        run.arguments_of(i));
    run.writer.add_flow(track, drawn.start, {run.process(transfer.receiver), kCore}, drawn.arrived);
  }
  write_queues(run);
}

}  // namespace equarx::trace
