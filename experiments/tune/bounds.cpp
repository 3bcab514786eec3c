#include "experiments/tune/bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "models/collectives/traffic.hpp"

namespace equarx::tune {
namespace {

using collectives::Phase;

/// Lower bound on scales per element.
double scales_per_element(const TuneScheme& scheme, const config::CollectiveConfig& collective) {
  const numerics::BlockFormat& format = collective.format;
  if (format.layout != numerics::ScaleLayout::strided)
    return 1.0 / static_cast<double>(format.block);
  constexpr auto kGroups = static_cast<double>(numerics::kRegisterElements);
  double least = std::numeric_limits<double>::infinity();
  for_each_chunk(scheme.partition, [&](std::uint64_t elements) {
    const auto chunk = static_cast<double>(elements);
    // Minus one: programs may choose by a chunk that is a few elements longer.
    const double minishards = std::max(1.0, minishards_of(collective, elements) - 1.0);
    const double size = chunk / (minishards + 1.0);
    const double groups = size >= 2.0 * kGroups ? kGroups : std::min(kGroups, size / 2.0);
    least = std::min(least, minishards * groups / chunk);
  });
  return least;
}

double bytes_per_element(const TuneScheme& scheme, const config::CollectiveConfig& collective,
                         Phase phase, numerics::ElementFormat dtype) {
  const numerics::BlockFormat format = config::wire_format(collective, phase, dtype);
  const double payload = numerics::element_bytes(format);
  if (!numerics::sends_scales(format)) return payload;
  return payload + scales_per_element(scheme, collective) *
                       static_cast<double>(numerics::scale_bytes(format.scale));
}

/// Best route over all ranks for a channel's messages.
struct Pipe {
  double rate = 0.0;
  double slowest_rate = std::numeric_limits<double>::infinity();
  double before_s = 0.0;  ///< latency overlapped with the previous message
  double after_s = 0.0;   ///< latency until the receiver has the message
  double free_s = 0.0;
  std::vector<double> sent_s;  ///< departure times of the messages so far
};

std::vector<Pipe> best_pipes(const sim::Machine& machine, std::size_t channels) {
  const bool shared = sim::shares_links(machine);  // latency is then charged to the receiver
  std::vector<Pipe> pipes(channels);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    Pipe& pipe = pipes[channel];
    double latency_s = std::numeric_limits<double>::infinity();
    for (const std::vector<sim::OutPort>& out_ports : machine.out_ports) {
      const double rate = sim::bottleneck_rate(machine, out_ports[channel].route);
      pipe.rate = std::max(pipe.rate, rate);
      pipe.slowest_rate = std::min(pipe.slowest_rate, rate);
      latency_s = std::min(latency_s, sim::latency_s(machine, out_ports[channel].route));
    }
    (shared ? pipe.after_s : pipe.before_s) = latency_s;
  }
  return pipes;
}

/// Time for which a message holds a link in addition to its bytes.
double held_s(double link_s, const Pipe& pipe) {
  return link_s == 0.0 ? 0.0
                       : std::max(0.0, link_s - sim::kHeldLinkRoundingBytes / pipe.slowest_rate);
}

double stream_bound_s(const plan::CollectivePlan& plan, double fastest_core) {
  using collectives::Op;
  const collectives::Program& program = plan.program;
  std::vector<Pipe> pipes = best_pipes(plan.simulated.machine(), program.channels.size());
  std::vector<double> arrival_s(program.messages.size());
  const std::size_t queue = plan.simulated.machine().dma_queue;
  double now_s = plan.costs.start_s * fastest_core;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const collectives::Instruction& instruction = program.instructions[i];
    const double core_s = plan.costs.core_s[i] * fastest_core;
    const collectives::MessageId id = instruction.message;
    if (instruction.op == Op::wait) now_s = std::max(now_s, arrival_s[id]);
    now_s += core_s;
    if (instruction.op != Op::send) continue;
    Pipe& pipe = pipes[program.messages[id].channel];
    if (pipe.sent_s.size() >= queue)
      now_s = std::max(now_s, pipe.sent_s[pipe.sent_s.size() - queue]);
    pipe.free_s = std::max(now_s + pipe.before_s, pipe.free_s) +
                  static_cast<double>(program.message_bytes(id)) / pipe.rate +
                  held_s(plan.costs.link_s[id], pipe);
    arrival_s[id] = pipe.free_s + pipe.after_s;
    pipe.sent_s.push_back(pipe.free_s);
  }
  return now_s;
}

double slowest_of(const plan::CollectivePlan& plan) {
  const std::vector<double>& slowdown = plan.simulated.machine().slowdown;
  return slowdown.empty() ? 1.0 : std::ranges::max(slowdown);
}

/// True for work that each microshard takes by an instruction of its own.
bool works_on_payload(collectives::Op op) {
  using collectives::Op;
  return op == Op::quantize || op == Op::accumulate || op == Op::add || op == Op::dequantize;
}

}  // namespace

double traffic_bound_s(const TuneScheme& scheme, const config::CollectiveConfig& collective,
                       numerics::ElementFormat dtype) {
  std::array<double, collectives::kPhases> bytes{};
  std::array<bool, collectives::kPhases> scaled{};
  for (const Phase phase : {Phase::reduce_scatter, Phase::all_gather, Phase::reduce_scatter_between,
                            Phase::all_gather_between}) {
    const auto index = static_cast<std::size_t>(phase);
    bytes[index] = bytes_per_element(scheme, collective, phase, dtype);
    scaled[index] = config::wire_format(collective, phase, dtype).scaled;
  }
  double bound_s = 0.0;
  for (const LinkLoad& load : scheme.loads) {
    double busy_s = 0.0;
    for (std::size_t phase = 0; phase < collectives::kPhases; ++phase)
      busy_s += load.elements[phase] * bytes[phase] / load.rate +
                (scaled[phase] ? load.sync_s[phase] : 0.0);
    bound_s = std::max(bound_s, busy_s);
  }
  return bound_s;
}

double core_bound_s(const plan::CollectivePlan& plan) {
  if (!collectives::is_uniform(plan.program)) return 0.0;
  return slowest_of(plan) *
         std::accumulate(plan.costs.core_s.begin(), plan.costs.core_s.end(), 0.0);
}

double core_of_microshard_s(const plan::CollectivePlan& plan, const hardware::Chip& chip) {
  const collectives::Program& program = plan.program;
  if (!collectives::is_uniform(program)) return 0.0;
  double core_s = 0.0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const collectives::Instruction& instruction = program.instructions[i];
    const bool transfers = collectives::is_transfer(instruction.op);
    if (!transfers && !works_on_payload(instruction.op)) continue;
    const collectives::BufferId buffer =
        transfers ? program.messages[instruction.message].buffer : instruction.buffer;
    if (program.buffers[buffer].content != collectives::Content::payload) continue;
    const double most_s = transfers ? plan.costs.core_s[i] : chip.instruction_overhead.value;
    core_s += std::min(plan.costs.core_s[i], most_s);
  }
  return slowest_of(plan) * core_s;
}

double program_bound_s(const plan::CollectivePlan& plan) {
  const sim::Machine& machine = plan.simulated.machine();
  const double links_s = sim::lower_bound_s(plan.program, machine, plan.costs);
  if (!collectives::is_uniform(plan.program)) return links_s;
  const std::vector<double>& slowdown = machine.slowdown;
  const double fastest = slowdown.empty() ? 1.0 : std::ranges::min(slowdown);
  return std::max({links_s, core_bound_s(plan), stream_bound_s(plan, fastest)});
}

}  // namespace equarx::tune
