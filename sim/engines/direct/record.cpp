#include "sim/engines/direct/record.hpp"

#include <fmt/format.h>

namespace equarx::sim {

using collectives::ChannelId;
using collectives::Rank;

UnexpectedMessage::UnexpectedMessage(Rank receiver, const Step& sent, const Step& expected)
    : std::logic_error(
          fmt::format("received message {} instead of {}", sent.message, expected.message)),
      receiver_(receiver) {}

Record::Record(const Timelines& run_timelines, const Machine& run_machine,
               std::span<const Rank> chips, const SimulationOptions& options,
               Progress& run_progress)
    : timelines(run_timelines),
      machine(run_machine),
      wiring(run_machine),
      traced(options.traced),
      progress(run_progress),
      inboxes(run_machine.ranks() * wiring.channels()),
      moved(inboxes.size()),
      chips_(chips.begin(), chips.end()),
      inbox_of_(inboxes.size()),
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

std::size_t Record::separate_inbox(Rank receiver, ChannelId channel) {
  std::size_t& inbox = inbox_of_[wiring.index(receiver, channel)];
  separate_.push_back({.of_receiver = inboxes.size(), .of_sender = inbox});
  inbox = inboxes.size();
  inboxes.emplace_back();
  moved.emplace_back();
  return inbox;
}

void Record::join_inboxes() {
  for (const SeparateInbox& inbox : separate_) {
    const Moved& received = moved[inbox.of_receiver];
    Moved& sum = moved[inbox.of_sender];
    sum.messages += received.messages;
    sum.bytes += received.bytes;
    sum.link_s += received.link_s;
  }
  moved.resize(moved.size() - separate_.size());
  separate_.clear();
}

void Record::reject(Rank receiver, const Step& sent, const Step& expected) {
  if (timelines.streams == 1)  // otherwise already up to date
    progress.at(receiver).instruction = expected.instruction;
  throw UnexpectedMessage(receiver, sent, expected);
}

std::uint32_t Record::add_transfer(const Pair& pair, const Step& step, double sent_s,
                                   double arrived_s) {
  if (!traced) return 0;
  result.trace.transfers.push_back({pair.from, pair.to, step.message, sent_s, arrived_s});
  return static_cast<std::uint32_t>(result.trace.transfers.size() - 1);
}

TimeResult Record::take() {
  for (std::size_t index = 0; index < moved.size(); ++index) {
    const Moved& sum = moved[index];
    result.messages += sum.messages;
    add_moved(machine, *wiring.pairs()[wiring.pair_of(index)].route, sum.bytes, sum.link_s, result);
  }
  return std::move(result);
}

TimeResult Record::take(const Machine& all, const ChipClasses& classes) {
  TimeResult whole;
  whole.time_s = result.time_s;
  whole.jumped = result.jumped * all.ranks() / machine.ranks();
  whole.link_bytes.resize(all.links.size());
  whole.link_busy_s.resize(all.links.size());
  whole.marks_s.reserve(std::size_t{all.ranks()} * timelines.marks);
  for (Rank rank = 0; rank < all.ranks(); ++rank) {
    const std::uint32_t chip = classes.class_of[rank];
    whole.core_busy_s.push_back(result.core_busy_s[chip]);
    whole.waits.push_back(result.waits[chip]);
    const auto marks =
        result.marks_s.begin() + static_cast<std::ptrdiff_t>(std::size_t{chip} * timelines.marks);
    whole.marks_s.insert(whole.marks_s.end(), marks, marks + timelines.marks);
    if (!all.hbm.empty()) {  // so far with the accesses of cores
      whole.link_bytes[all.hbm[rank]] += result.link_bytes[machine.hbm[chip]];
      whole.link_busy_s[all.hbm[rank]] += result.link_busy_s[machine.hbm[chip]];
    }
    for (ChannelId channel = 0; channel < wiring.channels(); ++channel) {
      const Moved& sum = moved[wiring.index(chip, channel)];
      whole.messages += sum.messages;
      add_moved(all, all.out_ports[rank][channel].route, sum.bytes, sum.link_s, whole);
    }
  }
  return whole;
}

}  // namespace equarx::sim
