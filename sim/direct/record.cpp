#include "sim/direct/record.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace equarx::sim {

using collectives::ChannelId;
using collectives::Rank;

Record::Record(const Timelines& lists, const Machine& place, const SimulationOptions& options,
               Progress& where)
    : timelines(lists),
      machine(place),
      wiring(place),
      traced(options.traced),
      progress(where),
      inboxes(place.ranks() * wiring.channels()),
      inbox_of_(inboxes.size()),
      moved_(inboxes.size()),
      watch_(options.watch) {
  result.link_bytes.resize(place.links.size());
  result.link_busy_s.resize(place.links.size());
  result.core_busy_s.resize(place.ranks());
  result.waits.resize(place.ranks());
  result.marks_s.resize(static_cast<std::size_t>(place.ranks()) * lists.marks);
  for (Rank rank = 0; rank < place.ranks(); ++rank)
    for (ChannelId channel = 0; channel < wiring.channels(); ++channel) {
      const Rank peer = place.ways[rank][channel].peer;
      if (peer != rank) inbox_of_[wiring.index(peer, channel)] = wiring.index(rank, channel);
    }
}

void Record::refuse(const Step& sent, const Step& expected) {
  if (timelines.streams == 1)  // else it is known already
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
