#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "experiments/trace/arguments.hpp"
#include "experiments/trace/traced_run.hpp"

namespace equarx::trace {
namespace {

using collectives::Rank;

/// Assigns slices that may overlap in time to rows.
class Stack {
 public:
  /// Returns the first row that is free at `start`; adds one if none is.
  std::size_t take(Picoseconds start, Picoseconds end) {
    std::size_t row = 0;
    while (row < ends_.size() && ends_[row] > start) ++row;
    if (row == ends_.size()) ends_.emplace_back();
    ends_[row] = end;
    return row;
  }

  std::size_t count() const { return ends_.size(); }

 private:
  std::vector<Picoseconds> ends_;
};

/// Name of a row: "forward", "forward (2)", ...
std::string row_name(std::string_view name, std::size_t row) {
  return row == 0 ? std::string(name) : fmt::format("{} ({})", name, row + 1);
}

/// Transfers by link, in order of their start.
std::vector<std::vector<std::size_t>> by_link(const TracedRun& run) {
  std::vector<std::vector<std::size_t>> transfers(run.machine.cables());
  for (std::size_t i = 0; i < run.drawn.size(); ++i) {
    const sim::TransferEvent& transfer = run.time.trace.transfers[i];
    const std::size_t channel = run.program.messages[transfer.message].channel;
    for (const sim::LinkIndex link : run.machine.out_ports[transfer.sender][channel].route)
      if (link < transfers.size()) transfers[link].push_back(i);
  }
  for (auto& list : transfers)
    std::ranges::stable_sort(list, {}, [&](std::size_t i) { return run.drawn[i].start; });
  return transfers;
}

std::string link_name(const TracedRun& run, sim::LinkIndex link) {
  if (!run.plan.simulated.symmetric) return run.machine.links[link].name;
  for (Rank rank = 0; rank < run.machine.ranks(); ++rank)
    for (std::size_t channel = 0; channel < run.program.channels.size(); ++channel)
      if (run.machine.out_ports[rank][channel].route.front() == link)
        return fmt::format("{}, {}", run.machine.chip_names[rank],
                           run.program.channels[channel].name);
  return run.machine.links[link].name;
}

}  // namespace

void write_links(const TracedRun& run) {
  const auto transfers = by_link(run);
  std::uint32_t first_thread = 1;
  for (sim::LinkIndex link = 0; link < transfers.size(); ++link) {
    Stack rows;
    for (const std::size_t i : transfers[link]) {
      const sim::TransferEvent& transfer = run.time.trace.transfers[i];
      const std::size_t row = rows.take(run.drawn[i].start, run.drawn[i].end);
      const Track track{run.links_process(), first_thread + static_cast<std::uint32_t>(row)};
      run.writer.add_slice({track, content_name(run.program, transfer.message), "link",
                            run.drawn[i].start, run.drawn[i].end},
                           run.arguments_of(i));
    }
    const std::size_t used = std::max<std::size_t>(rows.count(), 1);
    for (std::size_t row = 0; row < used; ++row)
      run.writer.name_track({run.links_process(), first_thread + static_cast<std::uint32_t>(row)},
                            row_name(link_name(run, link), row));
    first_thread += static_cast<std::uint32_t>(used);
  }
}

}  // namespace equarx::trace
