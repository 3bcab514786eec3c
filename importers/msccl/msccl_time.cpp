#include "importers/msccl/msccl_time.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/machine.hpp"
#include "importers/common/machine_text.hpp"
#include "importers/msccl/msccl_timelines.hpp"
#include "importers/msccl/walk.hpp"
#include "sim/time_executor.hpp"

namespace equarx::imports {
namespace {

using input::InputError;
using schedules::Schedule;

/// Limit of steps of all thread blocks: 1.5 GB.
constexpr double kMaxSteps = 2e7;
/// Limit of ranks times channels: 1 GB.
constexpr std::size_t kMaxQueues = std::size_t{1} << 21U;

config::ExperimentConfig machine_of(const Schedule& schedule, const MscclOptions& options) {
  const input::Json json = {{"hardware", options.hardware},
                            {"topology", *topology_json(options.topology, "the schedule")}};
  input::ObjectReader reader(json, "");
  config::ExperimentConfig config = config::read_machine(reader);
  const std::uint32_t chips = config::count_chips(config.topology);
  if (chips != schedule.ranks.size())
    throw InputError("",
                     fmt::format("--topology: the schedule is for {} GPUs, but the machine has {}",
                                 schedule.ranks.size(), chips));
  return config;
}

/// All thread blocks read and write at once, and share the memory bandwidth of the chip.
double shared_rate(const Schedule& schedule, double hbm_rate, double rate) {
  constexpr double kPasses = 2.0;  // read and written
  std::size_t most = 1;
  for (const schedules::Rank& rank : schedule.ranks) most = std::max(most, rank.blocks.size());
  return std::min(rate, hbm_rate / (kPasses * static_cast<double>(most)));
}

BlockSpeed speed_of(const Schedule& schedule, const hardware::Chip& chip, MscclTime& time) {
  double rate = chip.thread_block_rate.value;
  if (rate == 0.0) {
    rate = chip.link_rate();
    time.notes.push_back(fmt::format(
        "\"thread_block_rate\" of {} is unspecified; assumed to saturate a link", chip.name));
  }
  double startup_s = chip.kernel_startup.value;
  if (startup_s == 0.0) {
    startup_s = chip.collective_startup.value;
    time.notes.push_back(fmt::format(
        "\"kernel_startup\" of {} is unspecified; assumed equal to \"collective_startup\"",
        chip.name));
  }
  return {shared_rate(schedule, chip.hbm_rate(), rate), startup_s};
}

sim::Machine machine_for(const config::ExperimentConfig& config, const MscclTimelines& lines) {
  plan::MachineContext context(config);
  plan::value_or_throw(context.prepare());
  const std::uint32_t ranks = config::count_chips(config.topology);
  std::vector<topology::ChipId> chips(ranks);
  std::iota(chips.begin(), chips.end(), 0);
  const std::vector<collectives::Channel> channels(lines.offsets.size());
  sim::Machine machine =
      plan::wire_up(context, chips, channels, [&](collectives::Rank rank, std::size_t channel) {
        return (rank + lines.offsets[channel]) % ranks;
      });
  machine.dma_queue = kPiecesInFlight;
  const std::string obstacle = sim::why_not_direct(machine);
  if (!obstacle.empty()) throw InputError("", fmt::format("--topology: {}", obstacle));
  return machine;
}

/// Bytes per link. All channels between two ranks use the same route.
std::vector<std::uint64_t> link_bytes(const MscclSchedule& checked, const MscclTimelines& lines,
                                      const sim::Machine& machine) {
  const auto ranks = static_cast<std::uint32_t>(checked.schedule.ranks.size());
  std::vector<std::uint64_t> bytes(machine.links.size());
  for (std::size_t queue = 0; queue < checked.queues.all.size(); ++queue) {
    const schedules::Queue& ends = checked.queues.all[queue];
    const std::uint32_t offset = (ends.receiver.rank + ranks - ends.sender.rank) % ranks;
    const auto channel = std::ranges::find(lines.offsets, offset) - lines.offsets.begin();
    for (const sim::LinkIndex link :
         machine.out_ports[ends.sender.rank][static_cast<std::size_t>(channel)].route)
      bytes[link] += lines.queue_bytes[queue];
  }
  return bytes;
}

/// Bus bandwidth / algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md).
double bus_factor(const Schedule& schedule) {
  const auto ranks = static_cast<double>(schedule.ranks.size());
  switch (schedule.collective) {
    case schedules::Collective::all_reduce: return 2.0 * (ranks - 1.0) / ranks;
    case schedules::Collective::all_gather:
    case schedules::Collective::reduce_scatter:
    case schedules::Collective::all_to_all: return (ranks - 1.0) / ranks;
    case schedules::Collective::broadcast:
    case schedules::Collective::reduce: return 1.0;
    case schedules::Collective::custom: break;
  }
  return 0.0;
}

void find_bound(const std::vector<std::uint64_t>& bytes, const sim::Machine& machine,
                MscclTime& time) {
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    const double needed_s = static_cast<double>(bytes[link]) / machine.links[link].rate;
    if (needed_s <= time.lower_bound_s) continue;
    time.lower_bound_s = needed_s;
    time.busiest_link = machine.links[link].name;
    time.busiest_link_bytes = bytes[link];
  }
}

schedules::Runtime runtime_of(const MscclSchedule& checked, const MscclOptions& options) {
  const std::string bytes = units::bytes_text(static_cast<double>(options.bytes));
  const std::string place = "with --bytes of " + bytes;
  const schedules::Runtime runtime = input::within(
      place, [&] { return schedules::Runtime(checked.schedule, options.bytes, options.buffer); });
  if (estimated_steps(checked.schedule, runtime) > kMaxSteps)
    throw InputError("--bytes", fmt::format("{} need more than {} simulated steps; use fewer",
                                            bytes, kMaxSteps));
  input::within(place, [&] { schedules::walk(checked.schedule, checked.queues, runtime.cut()); });
  return runtime;
}

}  // namespace

MscclTime time_msccl(const MscclSchedule& checked, const MscclOptions& options) {
  const config::ExperimentConfig config = machine_of(checked.schedule, options);
  const schedules::Runtime runtime = runtime_of(checked, options);
  MscclTime time{.bytes = options.bytes,
                 .loops = runtime.cut().loops,
                 .calibrated = config.chip.is_calibrated()};
  const BlockSpeed speed = speed_of(checked.schedule, config.chip, time);
  Encoded encoded;
  if (!options.format.empty()) {
    const numerics::BlockFormat format = read_message_format(options.format);
    encoded = [format](std::uint64_t bytes) { return encoded_bytes(format, bytes); };
    time.format = options.format;
    time.error = error_of(checked, runtime, format);
  }
  const MscclTimelines lines =
      make_timelines(checked.schedule, checked.queues, runtime, speed, encoded);
  if (lines.offsets.empty()) throw InputError("", "sends nothing, so there is nothing to time");
  if (lines.offsets.size() * checked.schedule.ranks.size() > kMaxQueues)
    throw InputError(
        "", fmt::format("{} GPUs with queues to {} peers each exceed the limit of {} queues",
                        checked.schedule.ranks.size(), lines.offsets.size(), kMaxQueues));
  const sim::Machine machine = machine_for(config, lines);
  const auto describe = [](std::uint32_t block, collectives::InstructionId) {
    return fmt::format("thread block {}", block);
  };
  time.time_s =
      sim::simulate(lines.timelines, machine, describe, {.engine = sim::Engine::direct}).time_s;
  find_bound(link_bytes(checked, lines, machine), machine, time);
  if (time.time_s < time.lower_bound_s * (1.0 - sim::kBoundRounding))
    throw input::InvariantError(fmt::format("a schedule takes {} s, below its lower bound of {} s",
                                            time.time_s, time.lower_bound_s));
  time.algorithm_bandwidth = static_cast<double>(options.bytes) / time.time_s;
  time.bus_bandwidth = bus_factor(checked.schedule) * time.algorithm_bandwidth;
  return time;
}

}  // namespace equarx::imports
