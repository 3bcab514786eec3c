#include "experiments/run/report_time.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "experiments/run/breakdown.hpp"
#include "experiments/run/checks.hpp"
#include "models/collectives/traffic.hpp"

namespace equarx::run {
namespace {

/// Busy share of the busiest HBM; std::nullopt if transfers do not use HBM.
std::optional<double> hbm_busy_share(const sim::Machine& machine, const sim::TimeResult& time) {
  if (machine.hbm.empty()) return std::nullopt;
  double busy_s = 0.0;
  for (const sim::LinkIndex hbm : machine.hbm) busy_s = std::max(busy_s, time.link_busy_s[hbm]);
  return time.time_s > 0.0 ? busy_s / time.time_s : 0.0;
}

CoreTime mean_core_time(const sim::TimeResult& time) {
  CoreTime mean;
  const auto share = 1.0 / static_cast<double>(time.core_busy_s.size());
  for (const double busy_s : time.core_busy_s) mean.busy_s += share * busy_s;
  for (const sim::Waits& waits : time.waits) add_times(waits, share, mean.waits);
  return mean;
}

/// Name of a chip of the first slice, or the network, in slice `number`.
std::string in_slice(const std::string& name, std::uint32_t number) {
  if (name == plan::kNetwork) return name;
  return std::to_string(number) + name.substr(name.find(':'));
}

/// A range of link directions of one slice, in each of the slices.
void add_links_of_slices(const plan::SimulatedMachine& simulated, const sim::TimeResult& time,
                         std::pair<sim::LinkIndex, sim::LinkIndex> range,
                         std::vector<LinkUse>& uses) {
  for (std::uint32_t slice = 0; slice < simulated.slices; ++slice)
    for (sim::LinkIndex link = range.first; link < range.second; ++link) {
      const sim::LinkSpec& spec = simulated.machine().links[link];
      std::string from = in_slice(spec.from, slice);
      std::string to = in_slice(spec.to, slice);
      uses.push_back({fmt::format("{}->{}", from, to), std::move(from), std::move(to),
                      time.link_bytes[link], time.link_busy_s[link]});
    }
}

/// All link directions between chips, and the chips they join.
std::vector<LinkUse> all_links(const plan::SimulatedMachine& simulated,
                               const sim::TimeResult& time) {
  const sim::Machine& machine = simulated.machine();
  std::vector<LinkUse> uses;
  if (simulated.slices > 1) {
    const auto joins_network = [](const sim::LinkSpec& link) {
      return link.from == plan::kNetwork || link.to == plan::kNetwork;
    };
    const auto ports = static_cast<sim::LinkIndex>(
        std::ranges::find_if(machine.links, joins_network) - machine.links.begin());
    add_links_of_slices(simulated, time, {0, ports}, uses);
    add_links_of_slices(simulated, time, {ports, machine.cables()}, uses);
    return uses;
  }
  for (sim::LinkIndex link = 0; link < machine.cables(); ++link) {
    const sim::LinkSpec& spec = machine.links[link];
    uses.push_back({spec.name, spec.from, spec.to, time.link_bytes[link], time.link_busy_s[link]});
  }
  return uses;
}

std::string simulation_reason(const plan::SimulatedMachine& simulated) {
  if (simulated.symmetric || !simulated.by_class) return simulated.reason;
  return fmt::format("{} of {} chips simulated: one per class", simulated.by_class->machine.ranks(),
                     simulated.machine().ranks() * simulated.slices);
}

/// Links of the first representative chip; every chip has the same.
std::vector<LinkUse> links_of_each(const plan::CollectivePlan& plan, const sim::TimeResult& time) {
  std::vector<LinkUse> uses;
  const std::vector<sim::OutPort>& out_ports = plan.simulated.machine().out_ports.front();
  if (plan.simulated.machine().hops(out_ports.front()) > 1) {  // through a switch: out, in
    for (const sim::LinkIndex link : {0U, 1U})
      uses.push_back({fmt::format("every chip's port, {}", link == 0 ? "out" : "in"),
                      {},
                      {},
                      time.link_bytes[link],
                      time.link_busy_s[link]});
    return uses;
  }
  for (std::size_t channel = 0; channel < out_ports.size(); ++channel) {
    const sim::LinkIndex link = out_ports[channel].route.front();
    if (link == uses.size())  // the first channel over it
      uses.push_back({fmt::format("every chip's link {}", plan.program.channels[channel].name),
                      {},
                      {},
                      time.link_bytes[link],
                      time.link_busy_s[link]});
  }
  return uses;
}

FailureReport report_failure(const plan::CollectivePlan& plan,
                             const sim::TransferFailure& failure) {
  const sim::Machine& machine = plan.simulated.machine();
  return {failure.time_s, machine.links[failure.link].name, machine.chip_names[failure.sender],
          machine.chip_names[failure.receiver],
          collectives::describe_cargo(plan.program, failure.message)};
}

/// The most elements that a rank sends to others, or receives from them, in bytes.
double busiest_row_bytes(const collectives::Program& program, double element_bytes) {
  const std::uint32_t ranks = program.ranks();
  std::vector<double> sent(ranks);
  std::vector<double> received(ranks);
  for (collectives::Rank from = 0; from < ranks; ++from)
    for (collectives::Rank to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const double rows = program.counts->rows[std::size_t{from} * ranks + to];
      sent[from] += rows;
      received[to] += rows;
    }
  return std::max(std::ranges::max(sent), std::ranges::max(received)) *
         static_cast<double>(program.counts->row_elements) * element_bytes;
}

/// The bytes that nccl-tests counts per rank for its bus bandwidth (doc/PERFORMANCE.md): bytes that
/// the busiest link direction of every rank must carry, whatever the algorithm.
double bus_bytes(const collectives::Program& program) {
  constexpr double kBitsPerByte = 8.0;
  const numerics::ElementFormat type = program.cast_from.value_or(program.tensor_format);
  const double ranks = program.ranks();
  const double element_bytes = static_cast<double>(numerics::element_bits(type)) / kBitsPerByte;
  const double bytes = static_cast<double>(program.partition.elements()) * element_bytes;
  if (program.counts) return busiest_row_bytes(program, element_bytes);
  switch (program.collective) {
    case collectives::Collective::all_reduce: return 2.0 * bytes * (ranks - 1.0) / ranks;
    case collectives::Collective::reduce_scatter:
    case collectives::Collective::all_gather:
    case collectives::Collective::all_to_all: return bytes * (ranks - 1.0) / ranks;
    case collectives::Collective::broadcast:
    case collectives::Collective::neighbor_average: break;
  }
  return bytes;
}

}  // namespace

RunResult report_time(const plan::CollectivePlan& plan, const sim::TimeResult& time) {
  RunResult run;
  const sim::Machine& machine = plan.simulated.machine();
  run.label = plan.config.label;
  run.algorithm = plan.config.algorithm;
  run.protocol = plan.config.protocol.value_or(hardware::Protocol::none);
  run.bus_bytes = bus_bytes(plan.program);
  run.time_s = time.time_s;
  const std::vector<std::uint64_t> bytes = sim::link_bytes(plan.program, machine, plan.costs);
  run.lower_bound_s = sim::lower_bound_s(bytes, machine);
  run.wire_bytes_per_link = std::ranges::max(std::span(bytes).first(machine.cables()));
  run.chips = plan.program.ranks();
  run.messages = time.messages * plan.simulated.slices;
  run.symmetric =
      plan.simulated.symmetric || plan.simulated.slices > 1 || plan.simulated.by_class != nullptr;
  run.simulation_reason = simulation_reason(plan.simulated);
  run.engine = plan.engine.engine;
  run.engine_reason = plan.engine.reason;
  run.cut = plan.program.partition.common_cut();
  run.cut_reason = plan.cut_reason;
  run.elements_per_scale = collectives::elements_per_scale(plan.program);
  run.core_busy_s = std::ranges::max(time.core_busy_s);
  run.core = mean_core_time(time);
  run.hbm_busy_share = hbm_busy_share(machine, time);
  run.links =
      plan.simulated.symmetric ? links_of_each(plan, time) : all_links(plan.simulated, time);
  if (time.failure) {
    run.failure = report_failure(plan, *time.failure);
    return run;
  }
  run.breakdown = break_down(plan, bytes, run.time_s);
  check_time(plan, time, run.lower_bound_s, bytes);
  return run;
}

}  // namespace equarx::run
