#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "experiments/trace/arguments.hpp"
#include "experiments/trace/traced_run.hpp"

namespace equarx::trace {
namespace {

using collectives::InstructionId;
using collectives::Op;
using collectives::Rank;

/// Writes the tracks of the cores of all chips.
class CoreTracks {
 public:
  explicit CoreTracks(const TracedRun& run)
      : run_(run), senders_(run.machine.ranks() * run.program.channels.size()) {
    const std::size_t channels = run.program.channels.size();
    for (Rank rank = 0; rank < run.machine.ranks(); ++rank)
      for (std::size_t channel = 0; channel < channels; ++channel)
        senders_[run.machine.out_ports[rank][channel].peer * channels + channel] = rank;
  }

  void write() {
    std::vector<std::vector<const sim::CoreEvent*>> chips(run_.machine.ranks());
    for (const sim::CoreEvent& event : run_.time.trace.core) chips[event.rank].push_back(&event);
    std::vector<Picoseconds> last_arrival(run_.machine.ranks());
    for (std::size_t i = 0; i < run_.drawn.size(); ++i) {
      Picoseconds& last = last_arrival[run_.time.trace.transfers[i].receiver];
      last = std::max(last, run_.drawn[i].arrived);
    }
    for (Rank rank = 0; rank < run_.machine.ranks(); ++rank)
      write_core(rank, chips[rank], last_arrival[rank]);
  }

 private:
  void write_core(Rank rank, const std::vector<const sim::CoreEvent*>& events,
                  Picoseconds last_arrival) {
    Picoseconds free = 0;
    std::optional<InstructionId> before;
    for (const sim::CoreEvent* event : events) {
      const Picoseconds start = to_picoseconds(event->start_s);
      const Picoseconds end = to_picoseconds(event->end_s);
      write_idle(rank, free, start, before, event);
      free = end;
      if (event->work == sim::CoreWork::program) before = event->instruction;
      write_work(*event, {run_.process(rank), kCore}, start, end);
    }
    write_idle(rank, free, last_arrival, before, nullptr);
  }

  void write_work(const sim::CoreEvent& event, Track track, Picoseconds start, Picoseconds end) {
    if (event.work == sim::CoreWork::start_up)
      return run_.writer.add_slice({track, "startup", "core", start, end}, "{}");
    const Op op = run_.program.instructions[event.instruction].op;
    run_.writer.add_slice(
        {track, name(op), "core", start, end},
        core_arguments(run_.program, event.rank, sender_to(event.rank, event.instruction),
                       event.instruction));
  }

  /// Writes the idle gap before `next` (nullptr: after the last event), with the cause of the wait.
  void write_idle(Rank rank, Picoseconds start, Picoseconds end,
                  const std::optional<InstructionId>& before, const sim::CoreEvent* next) {
    if (end <= start) return;
    const auto size = static_cast<InstructionId>(run_.program.instructions.size());
    const InstructionId first = before ? *before + 1 : 0;
    const bool in_program = next != nullptr && next->work == sim::CoreWork::program;
    const InstructionId last =
        in_program && next->instruction >= first ? next->instruction + 1 : size;
    std::string reason = "space in a DMA queue";
    for (InstructionId id = last; id-- > first;) {
      const collectives::Instruction& instruction = run_.program.instructions[id];
      if (instruction.op != Op::wait || !instruction.ranks.contains(rank)) continue;
      reason = collectives::describe_awaited(run_.program, id);
      break;
    }
    run_.writer.add_slice({{run_.process(rank), kCore}, "idle", "idle", start, end},
                          fmt::format(R"({{"waits_for":{}}})", json_quoted(reason)));
  }

  /// Returns the sender of the message that a wait of `rank` is for; `rank` itself for other
  /// instructions.
  Rank sender_to(Rank rank, InstructionId id) const {
    const collectives::Instruction& instruction = run_.program.instructions[id];
    if (instruction.op != Op::wait) return rank;
    const std::size_t channel = run_.program.messages[instruction.message].channel;
    return senders_[rank * run_.program.channels.size() + channel];
  }

  const TracedRun& run_;
  std::vector<Rank> senders_;  ///< by receiving rank and channel
};

}  // namespace

void write_cores(const TracedRun& run) { CoreTracks(run).write(); }

}  // namespace equarx::trace
