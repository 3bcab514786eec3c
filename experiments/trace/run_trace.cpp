#include "experiments/trace/run_trace.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/trace/arguments.hpp"
#include "sim/link_times.hpp"

namespace equarx::trace {
namespace {

using collectives::InstructionId;
using collectives::Op;
using collectives::Program;
using collectives::Rank;

// Threads of a chip: its core, other work on it, and its DMAs.
constexpr std::uint32_t kCore = 1;
constexpr std::uint32_t kOtherWork = 2;
constexpr std::uint32_t kFirstDma = 3;

/// Tracks side by side for what may overlap in time.
class Lanes {
 public:
  /// The first lane that is free at `start`; a new one if need be.
  std::size_t take(Picoseconds start, Picoseconds end) {
    std::size_t lane = 0;
    while (lane < ends_.size() && ends_[lane] > start) ++lane;
    if (lane == ends_.size()) ends_.emplace_back();
    ends_[lane] = end;
    return lane;
  }

  std::size_t count() const { return ends_.size(); }

 private:
  std::vector<Picoseconds> ends_;
};

/// "forward", or "forward (2)" for those beside it.
std::string lane_name(std::string_view name, std::size_t lane) {
  return lane == 0 ? std::string(name) : fmt::format("{} ({})", name, lane + 1);
}

/// A transfer's times.
struct DrawnTransfer {
  Picoseconds sent = 0;
  Picoseconds start = 0;
  Picoseconds end = 0;
  Picoseconds arrived = 0;
};

/// The trace of one collective.
class RunTrace {
 public:
  RunTrace(TraceEventWriter& writer, const plan::CollectivePlan& plan, const sim::TimeResult& time,
           bool shares_core, std::uint32_t first_process)
      : writer_(writer),
        plan_(plan),
        program_(plan.program),
        machine_(plan.simulated.machine),
        time_(time),
        shares_core_(shares_core),
        first_process_(first_process),
        senders_(machine_.ranks() * program_.channels.size()) {
    for (Rank rank = 0; rank < machine_.ranks(); ++rank)
      for (std::size_t channel = 0; channel < program_.channels.size(); ++channel)
        senders_[machine_.ways[rank][channel].peer * program_.channels.size() + channel] = rank;
  }

  /// Writes it, and returns what a reader needs to find its way.
  input::Json write() {
    measure_transfers();
    name_chips();
    write_cores();
    write_transfers();
    write_links();
    input::Json chips = input::Json::array();
    for (Rank rank = 0; rank < machine_.ranks(); ++rank)
      chips.push_back({{"pid", process(rank)}, {"name", machine_.chip_names[rank]}});
    return {{"label", plan_.config.label},
            {"algorithm", plan_.config.algorithm->name},
            {"time_s", time_.time_s},
            {"chips_of_collective", program_.ranks()},
            {"representatives", plan_.simulated.symmetric},
            {"chips", std::move(chips)},
            {"links_pid", links_process()}};
  }

 private:
  std::uint32_t process(Rank rank) const { return first_process_ + rank; }
  std::uint32_t links_process() const { return first_process_ + machine_.ranks(); }

  Track dma_track(Rank rank, std::size_t channel) const {
    return {process(rank), kFirstDma + static_cast<std::uint32_t>(channel)};
  }

  void measure_transfers() {
    link_times_ = sim::link_times(program_, machine_, plan_.costs, time_.trace.transfers);
    drawn_.reserve(link_times_.size());
    for (std::size_t i = 0; i < link_times_.size(); ++i) {
      const sim::TransferEvent& transfer = time_.trace.transfers[i];
      DrawnTransfer& drawn = drawn_.emplace_back();
      drawn.sent = to_picoseconds(transfer.sent_s);
      drawn.arrived = to_picoseconds(transfer.arrived_s);
      drawn.start = std::clamp(to_picoseconds(link_times_[i].start_s), drawn.sent, drawn.arrived);
      drawn.end = std::clamp(to_picoseconds(link_times_[i].end_s), drawn.start, drawn.arrived);
    }
  }

  void name_chips() {
    for (Rank rank = 0; rank < machine_.ranks(); ++rank) {
      const std::string which =
          plan_.simulated.symmetric
              ? fmt::format("representative {} of {}, which stand for all {} chips", rank,
                            machine_.ranks(), program_.ranks())
              : fmt::format("chip {} (rank {})", machine_.chip_names[rank], rank);
      writer_.name_process(process(rank), fmt::format("{}: {}", plan_.config.label, which));
      writer_.name_track({process(rank), kCore}, shares_core_ ? "core: collectives" : "core");
      if (shares_core_) writer_.name_track({process(rank), kOtherWork}, "core: other work");
      for (std::size_t channel = 0; channel < program_.channels.size(); ++channel)
        writer_.name_track(dma_track(rank, channel), dma_name(channel));
    }
    writer_.name_process(links_process(), fmt::format("{}: links", plan_.config.label));
  }

  void write_cores() {
    std::vector<std::vector<const sim::CoreEvent*>> chips(machine_.ranks());
    for (const sim::CoreEvent& event : time_.trace.core) chips[event.rank].push_back(&event);
    std::vector<Picoseconds> last_arrival(machine_.ranks());
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      Picoseconds& last = last_arrival[time_.trace.transfers[i].receiver];
      last = std::max(last, drawn_[i].arrived);
    }
    for (Rank rank = 0; rank < machine_.ranks(); ++rank)
      write_core(rank, chips[rank], last_arrival[rank]);
  }

  void write_core(Rank rank, const std::vector<const sim::CoreEvent*>& events,
                  Picoseconds last_arrival) {
    Picoseconds free = 0;
    std::optional<InstructionId> before;
    for (const sim::CoreEvent* event : events) {
      const Picoseconds start = to_picoseconds(event->start_s);
      const Picoseconds end = to_picoseconds(event->end_s);
      const bool beside = shares_core_ && event->other_work;
      if (!beside) {
        write_idle(rank, free, start, before, event);
        free = end;
        if (!event->other_work) before = event->instruction;
      }
      write_work(*event, {process(rank), beside ? kOtherWork : kCore}, start, end);
    }
    write_idle(rank, free, last_arrival, before, nullptr);
  }

  void write_work(const sim::CoreEvent& event, Track track, Picoseconds start, Picoseconds end) {
    if (event.other_work) return writer_.add_slice({track, "other work", "core", start, end}, "{}");
    const Op op = program_.instructions[event.instruction].op;
    writer_.add_slice({track, name(op), "core", start, end},
                      core_arguments(program_, event.rank, sender_to(event.rank, event.instruction),
                                     event.instruction));
  }

  /// The gap before `next`, or after all, and what the core waited for meanwhile.
  void write_idle(Rank rank, Picoseconds start, Picoseconds end,
                  const std::optional<InstructionId>& before, const sim::CoreEvent* next) {
    if (end <= start) return;
    const auto size = static_cast<InstructionId>(program_.instructions.size());
    const InstructionId first = before ? *before + 1 : 0;
    const InstructionId last = next != nullptr && !next->other_work && next->instruction >= first
                                   ? next->instruction + 1
                                   : size;
    std::string reason = "room in a DMA queue, or other work";
    for (InstructionId id = last; id-- > first;) {
      const collectives::Instruction& instruction = program_.instructions[id];
      if (instruction.op != Op::wait || !instruction.ranks.contains(rank)) continue;
      reason = describe(program_, id);
      constexpr std::string_view kWait = "wait for ";
      if (reason.starts_with(kWait)) reason.erase(0, kWait.size());
      break;
    }
    writer_.add_slice({{process(rank), kCore}, "idle", "idle", start, end},
                      fmt::format(R"({{"waits_for":{}}})", json_quoted(reason)));
  }

  /// Who sends what a wait of `rank` is for; `rank` itself of other instructions.
  Rank sender_to(Rank rank, InstructionId id) const {
    const collectives::Instruction& instruction = program_.instructions[id];
    if (instruction.op != Op::wait) return rank;
    const std::size_t channel = program_.messages[instruction.message].channel;
    return senders_[rank * program_.channels.size() + channel];
  }

  std::string dma_name(std::size_t channel) const {
    return "DMA " + program_.channels[channel].name;
  }

  void write_transfers() {
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const sim::TransferEvent& transfer = time_.trace.transfers[i];
      const DrawnTransfer& drawn = drawn_[i];
      const Track track = dma_track(transfer.sender, program_.messages[transfer.message].channel);
      writer_.add_slice(
          {track, content_name(program_, transfer.message), "dma", drawn.start, drawn.end},
          arguments_of(i));
      writer_.add_flow(track, drawn.start, {process(transfer.receiver), kCore}, drawn.arrived);
    }
    write_queues();
  }

  /// Of every DMA, how many transfers wait for those before them.
  void write_queues() {
    std::vector<std::vector<std::pair<Picoseconds, int>>> changes(machine_.ranks() *
                                                                  program_.channels.size());
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const sim::TransferEvent& transfer = time_.trace.transfers[i];
      const std::size_t channel = program_.messages[transfer.message].channel;
      if (drawn_[i].start == drawn_[i].sent) continue;
      auto& queue = changes[transfer.sender * program_.channels.size() + channel];
      queue.emplace_back(drawn_[i].sent, 1);
      queue.emplace_back(drawn_[i].start, -1);
    }
    for (Rank rank = 0; rank < machine_.ranks(); ++rank)
      for (std::size_t channel = 0; channel < program_.channels.size(); ++channel)
        write_queue(process(rank), dma_name(channel) + ": queued",
                    changes[rank * program_.channels.size() + channel]);
  }

  void write_queue(std::uint32_t process, const std::string& name,
                   std::vector<std::pair<Picoseconds, int>>& changes) {
    std::ranges::sort(changes);
    int queued = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      queued += changes[i].second;
      const bool last_of_instant =
          i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
      if (last_of_instant) writer_.add_count(process, name, changes[i].first, queued);
    }
  }

  std::string arguments_of(std::size_t i) const {
    const sim::TransferEvent& transfer = time_.trace.transfers[i];
    return transfer_arguments(program_, machine_, transfer, plan_.costs.link_s[transfer.message],
                              link_times_[i].shared);
  }

  /// By link, the transfers over it.
  std::vector<std::vector<std::size_t>> by_link() const {
    std::vector<std::vector<std::size_t>> transfers(machine_.links.size());
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const sim::TransferEvent& transfer = time_.trace.transfers[i];
      const std::size_t channel = program_.messages[transfer.message].channel;
      for (const sim::LinkIndex link : machine_.ways[transfer.sender][channel].route)
        transfers[link].push_back(i);
    }
    for (auto& list : transfers)
      std::ranges::stable_sort(list, {}, [&](std::size_t i) { return drawn_[i].start; });
    return transfers;
  }

  void write_links() {
    const auto transfers = by_link();
    std::uint32_t first_thread = 1;
    for (sim::LinkIndex link = 0; link < transfers.size(); ++link) {
      Lanes lanes;
      for (const std::size_t i : transfers[link]) {
        const sim::TransferEvent& transfer = time_.trace.transfers[i];
        const std::size_t lane = lanes.take(drawn_[i].start, drawn_[i].end);
        const Track track{links_process(), first_thread + static_cast<std::uint32_t>(lane)};
        writer_.add_slice({track, content_name(program_, transfer.message), "link", drawn_[i].start,
                           drawn_[i].end},
                          arguments_of(i));
      }
      const std::size_t used = std::max<std::size_t>(lanes.count(), 1);
      for (std::size_t lane = 0; lane < used; ++lane)
        writer_.name_track({links_process(), first_thread + static_cast<std::uint32_t>(lane)},
                           lane_name(link_name(link), lane));
      first_thread += static_cast<std::uint32_t>(used);
    }
  }

  std::string link_name(sim::LinkIndex link) const {
    if (!plan_.simulated.symmetric) return machine_.links[link].name;
    for (Rank rank = 0; rank < machine_.ranks(); ++rank)
      for (std::size_t channel = 0; channel < program_.channels.size(); ++channel)
        if (machine_.ways[rank][channel].route.front() == link)
          return fmt::format("{}, {}", machine_.chip_names[rank], program_.channels[channel].name);
    return machine_.links[link].name;
  }

  TraceEventWriter& writer_;
  const plan::CollectivePlan& plan_;
  const Program& program_;
  const sim::Machine& machine_;
  const sim::TimeResult& time_;
  bool shares_core_;
  std::uint32_t first_process_;
  std::vector<Rank> senders_;              // to a rank, by rank and channel
  std::vector<sim::LinkTime> link_times_;  // by transfer
  std::vector<DrawnTransfer> drawn_;       // by transfer
};

}  // namespace

std::uint32_t trace_processes(const plan::CollectivePlan& plan) {
  return plan.simulated.machine.ranks() + 1;
}

input::Json write_trace(TraceEventWriter& writer, const plan::CollectivePlan& plan,
                        const sim::TimeResult& time, bool shares_core,
                        std::uint32_t first_process) {
  return RunTrace(writer, plan, time, shares_core, first_process).write();
}

}  // namespace equarx::trace
