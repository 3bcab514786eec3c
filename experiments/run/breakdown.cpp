#include "experiments/run/breakdown.hpp"

#include <algorithm>
#include <vector>

#include "models/collectives/traffic.hpp"

namespace equarx::run {
namespace {

using collectives::Content;
using collectives::Rank;

/// Link usage of one rank's messages, by channel.
struct Sent {
  std::vector<std::uint64_t> payload;
  std::vector<std::uint64_t> scales;
  std::vector<double> held_s;  ///< in addition to the time of their bytes
};

Sent sent_by(const plan::CollectivePlan& plan, Rank rank) {
  const collectives::Program& program = plan.program;
  Sent sent{collectives::sent_bytes(program, Content::payload, rank),
            collectives::sent_bytes(program, Content::scales, rank),
            std::vector<double>(program.channels.size())};
  const std::vector<std::uint64_t> amax = collectives::sent_bytes(program, Content::amax, rank);
  for (std::size_t channel = 0; channel < amax.size(); ++channel)
    sent.scales[channel] += amax[channel];
  for (const collectives::Instruction& instruction : program.instructions)
    if (instruction.op == collectives::Op::send && program.runs(instruction, rank))
      sent.held_s[program.messages[instruction.message].channel] +=
          plan.costs.link_s[instruction.message];
  return sent;
}

/// Returns the link direction with the longest bytes / rate. HBM is not considered, even if slower.
sim::LinkIndex busiest_link(const sim::Machine& machine, const std::vector<std::uint64_t>& bytes) {
  std::vector<double> needed_s(machine.cables());
  for (sim::LinkIndex link = 0; link < needed_s.size(); ++link)
    needed_s[link] = static_cast<double>(bytes[link]) / machine.links[link].rate;
  return static_cast<sim::LinkIndex>(std::ranges::max_element(needed_s) - needed_s.begin());
}

/// Slowdown of the fastest chip, which starts first.
double least_slowdown(const sim::Machine& machine) {
  return machine.slowdown.empty() ? 1.0 : std::ranges::min(machine.slowdown);
}

}  // namespace

Breakdown break_down(const plan::CollectivePlan& plan, const std::vector<std::uint64_t>& link_bytes,
                     double time_s) {
  const sim::Machine& machine = plan.simulated.machine();
  const sim::LinkIndex busiest = busiest_link(machine, link_bytes);
  const double rate = machine.links[busiest].rate;
  const bool uniform = is_uniform(plan.program);
  Sent sent = sent_by(plan, 0);
  Breakdown parts;
  for (Rank rank = 0; rank < machine.ranks(); ++rank) {
    if (!uniform && rank > 0) sent = sent_by(plan, rank);
    for (std::size_t channel = 0; channel < machine.out_ports[rank].size(); ++channel) {
      const sim::Route& route = machine.out_ports[rank][channel].route;
      if (std::ranges::find(route, busiest) == route.end()) continue;
      parts.payload_s += static_cast<double>(sent.payload[channel]) / rate;
      parts.scales_s += static_cast<double>(sent.scales[channel]) / rate;
      parts.sync_s += sent.held_s[channel];
    }
  }
  const double left_s = time_s - parts.payload_s - parts.scales_s - parts.sync_s;
  parts.startup_s = plan.costs.start_s * least_slowdown(machine);
  // Rounding can put a time that meets its bound exactly slightly below it.
  parts.idle_s = std::max(0.0, left_s - parts.startup_s);
  return parts;
}

}  // namespace equarx::run
