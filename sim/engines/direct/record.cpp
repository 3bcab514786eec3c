#include "sim/engines/direct/record.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace equarx::sim {

using collectives::ChannelId;
using collectives::Rank;

Record::Record(const Timelines& run_timelines, const Machine& run_machine,
               const SimulationOptions& options, Progress& run_progress)
    : timelines(run_timelines),
      machine(run_machine),
      wiring(run_machine),
      traced(options.traced),
      progress(run_progress),
      inboxes(run_machine.ranks() * wiring.channels()),
      inbox_of_(inboxes.size()),
      moved_(inboxes.size()),
      watch_(options.watch) {
  result.link_bytes.resize(run_machine.links.size());
  result.link_busy_s.resize(run_machine.links.size());
  result.core_busy_s.resize(run_machine.ranks());
  result.waits.resize(run_machine.ranks());
  result.marks_s.resize(static_cast<std::size_t>(run_machine.ranks()) * run_timelines.marks);
  for (Rank rank = 0; rank < run_machine.ranks(); ++rank)
    for (ChannelId channel = 0; channel < wiring.channels(); ++channel) {
      const OutPort& port = run_machine.out_ports[rank][channel];
      if (port.sends(rank))
        inbox_of_[wiring.index(port.peer, channel)] = wiring.index(rank, channel);
    }
}

void Record::reject(const Step& sent, const Step& expected) {
  if (timelines.streams == 1)  // otherwise already up to date
    progress.at(progress.active_rank).instruction = expected.instruction;
  throw std::logic_error(
      fmt::format("received message {} instead of {}", sent.message, expected.message));
}

std::uint32_t Record::add_transfer(const Pair& pair, const Step& step, double sent_s,
                                   double arrived_s) {
  if (!traced) return 0;
  result.trace.transfers.push_back({pair.from, pair.to, step.message, sent_s, arrived_s});
  return static_cast<std::uint32_t>(result.trace.transfers.size() - 1);
}

TimeResult Record::take() {
  for (std::size_t index = 0; index < moved_.size(); ++index) {
    const Moved& moved = moved_[index];
    result.messages += moved.messages;
    add_moved(machine, *wiring.pairs()[wiring.pair_of(index)].route, moved.bytes, moved.link_s,
              result);
  }
  return std::move(result);
}

}  // namespace equarx::sim
