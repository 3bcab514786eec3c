#include "experiments/plan/symmetric_timing.hpp"

#include <string>
#include <utility>
#include <vector>

#include "experiments/plan/machine.hpp"
#include "models/collectives/traffic.hpp"
#include "models/hardware/workgroups.hpp"
#include "sim/classes.hpp"
#include "sim/symmetry.hpp"
#include "sim/time_executor.hpp"

namespace equarx::plan {
namespace {

/// One chip of each class of representative chips, or all of them; with any links.
sim::Machine symmetric_machine(const collectives::Program& program) {
  sim::Machine machine = sim::representative(program, {.name = {}, .rate = 1.0}, 1);
  if (const auto classes = sim::by_class(machine, std::vector<std::uint32_t>(machine.ranks())))
    return classes->machine;
  return machine;
}

std::uint64_t bytes_of(const sim::Machine& machine) {
  const std::size_t channels = machine.out_ports.empty() ? 0 : machine.out_ports.front().size();
  return machine.links.size() * sizeof(sim::LinkSpec) +
         machine.ranks() * channels * (sizeof(sim::OutPort) + sizeof(sim::LinkIndex));
}

}  // namespace

SymmetricTiming::SymmetricTiming(const collectives::Program& program)
    : SymmetricTiming(program, symmetric_machine(program)) {}

SymmetricTiming::SymmetricTiming(const collectives::Program& program, sim::Machine machine)
    : kinds_(program),
      machine_(std::move(machine)),
      timelines_(program, kinds_.of_instructions(), machine_.ranks()) {}

bool SymmetricTiming::can_be_timed(const collectives::Program& program) {
  return collectives::is_uniform(program) && collectives::stream_count(program) == 1;
}

bool SymmetricTiming::supports(const config::ExperimentConfig& config) {
  return config.wire_buffers == collectives::WireBuffers::vmem &&
         config.topology.kind != config::TopologyKind::on_switch &&
         !hardware::workgroups(config.chip);
}

double SymmetricTiming::time_s(const hardware::Chip& chip, double startup_s) const {
  sim::CostsByKind costs = kinds_.on(chip);
  costs.start_s += startup_s;
  Model model = take_model();
  timelines_.set(costs, model.timelines);
  const sim::LinkSpec spec = link_of(chip);
  model.machine.dma_queue = static_cast<std::uint32_t>(chip.dma_queue.value);
  for (sim::LinkSpec& link : model.machine.links) {
    link.rate = spec.rate / link.users;
    link.latency = spec.latency;
  }
  const auto nameless = [](std::uint32_t, collectives::InstructionId) { return std::string(); };
  const double time_s =
      sim::simulate(model.timelines, model.machine, nameless, {.engine = sim::Engine::direct})
          .time_s;
  put_back(std::move(model));
  return time_s;
}

SymmetricTiming::Model SymmetricTiming::take_model() const {
  {
    const std::scoped_lock lock(mutex_);
    if (spare_) return *std::exchange(spare_, std::nullopt);
  }
  return {timelines_.without_costs(), machine_};
}

void SymmetricTiming::put_back(Model&& model) const {
  const std::scoped_lock lock(mutex_);
  spare_ = std::move(model);
}

std::uint64_t SymmetricTiming::bytes() const {
  return sizeof *this + 2 * (timelines_.bytes() + bytes_of(machine_)) +
         kinds_.of_instructions().capacity() * sizeof(std::uint32_t);
}

}  // namespace equarx::plan
