#include "experiments/step/totals.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/timeline.hpp"

namespace equarx::step {
namespace {

/// Sums over one list of the timelines, which several ranks may share.
struct ListTotals {
  std::map<collectives::ChannelId, std::uint64_t> sent;  ///< bytes by channel
  std::uint64_t messages = 0;
  std::uint64_t hbm_bytes = 0;
  double core_s = 0.0;
};

void add(const ListTotals& part, ListTotals& totals) {
  for (const auto& [channel, bytes] : part.sent) totals.sent[channel] += bytes;
  totals.messages += part.messages;
  totals.hbm_bytes += part.hbm_bytes;
  totals.core_s += part.core_s;
}

/// By list; a list follows the lists that it runs.
std::vector<ListTotals> totals_of_lists(const sim::Timelines& timelines) {
  std::vector<ListTotals> lists;
  for (const std::vector<sim::Step>& list : timelines.lists) {
    ListTotals totals;
    for (const sim::Step& step : list) {
      if (step.kind == sim::Step::Kind::run) add(lists[step.number], totals);
      if (step.kind == sim::Step::Kind::send) {
        totals.sent[step.number] += step.bytes;
        ++totals.messages;
      }
      totals.hbm_bytes += step.hbm_bytes;
      if (step.kind != sim::Step::Kind::host) totals.core_s += step.delay_s + step.overlapped_s;
    }
    lists.push_back(std::move(totals));
  }
  return lists;
}

/// Adds `times` runs of the work of all ranks. `first_channel`: of the machine, for channel 0.
void add(const sim::Timelines& timelines, const sim::Machine& machine, std::uint64_t times,
         collectives::ChannelId first_channel, StepTotals& totals) {
  const std::vector<ListTotals> lists = totals_of_lists(timelines);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::uint32_t stream = 0; stream < timelines.streams; ++stream) {
      const ListTotals& list = lists[timelines.list_of[rank * timelines.streams + stream]];
      for (const auto& [channel, sent] : list.sent)
        for (const sim::LinkIndex link : machine.out_ports[rank][first_channel + channel].route)
          totals.link_bytes[link] += times * sent;
      if (list.hbm_bytes > 0) totals.link_bytes[machine.hbm[rank]] += times * list.hbm_bytes;
      totals.core_s[rank] += static_cast<double>(times) * list.core_s * machine.slowdown_of(rank);
      totals.messages += times * list.messages;
    }
}

}  // namespace

StepTotals totals_of(const sim::StepProgram& work, const sim::Machine& machine) {
  StepTotals totals{std::vector<std::uint64_t>(machine.links.size()),
                    std::vector<double>(machine.ranks()), 0};
  // Runs of each part of a program on a set of chips.
  std::map<std::tuple<std::size_t, sim::ProgramPart, std::optional<std::uint32_t>>, std::uint64_t>
      runs;
  sim::StepProgram others{.programs = {}, .chip_sets = work.chip_sets, .streams = {{}}, .tasks = 0};
  for (const std::vector<sim::TaskRun>& stream : work.streams)
    for (const sim::TaskRun& run : stream) {
      if (run.program) {
        ++runs[{*run.program, run.part, run.chips}];
        continue;
      }
      sim::TaskRun& other = others.streams.front().emplace_back(run);
      other.task = others.tasks++;
      other.after.clear();
    }
  add(sim::make_timelines(others, machine.ranks()), machine, 1, 0, totals);
  const std::vector<collectives::ChannelId> channels = sim::first_channels(work);
  for (const auto& [run, times] : runs) {
    const auto& [program, part, chips] = run;
    sim::StepProgram one{.programs = {work.programs[program]},
                         .chip_sets = {},
                         .streams = {{sim::TaskRun{.task = 0, .program = 0, .part = part}}},
                         .tasks = 1};
    if (chips) {
      one.chip_sets.push_back(work.chip_sets[*chips]);
      one.streams.front().front().chips = 0;
    }
    add(sim::make_timelines(one, machine.ranks()), machine, times, channels[program], totals);
  }
  return totals;
}

}  // namespace equarx::step
