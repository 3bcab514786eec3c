#include "experiments/plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/pointer.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/cut_choice.hpp"
#include "experiments/plan/estimates.hpp"
#include "experiments/plan/kept_by_request.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/traffic.hpp"
#include "models/hardware/workgroups.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::plan {
namespace {

/// The kinds of instructions of a program, kept for plans with the same; null if these are modified, or
/// kinds do not determine the costs.
std::shared_ptr<const CostKinds> kinds_of(const config::CollectiveConfig& config,
                                          const collectives::RankGrid& grid,
                                          const config::ExperimentConfig& experiment,
                                          const collectives::Program& program) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  static KeptByRequest<CostKinds> kept(kMostBytes);
  if (experiment.wire_buffers != collectives::WireBuffers::vmem || program.counts ||
      program.cast_from || program.arithmetic != collectives::Arithmetic{} ||
      hardware::workgroups(experiment.chip))
    return nullptr;
  const collectives::ProgramRequest request = program_request(config, grid, experiment);
  if (!can_be_kept(config.algorithm, request)) return nullptr;
  if (auto known = kept.find(config.algorithm, request)) return known;
  auto made = std::make_shared<const CostKinds>(program);
  kept.keep(config.algorithm, request, made,
            sizeof *made + made->of_instructions().capacity() * sizeof(std::uint32_t));
  return made;
}

/// Costs of a collective of the experiment; of a whole program, its startup too. `kinds`: may be null
sim::Costs costs_of(const collectives::Program& program, const CostKinds* kinds,
                    const config::ExperimentConfig& config) {
  const bool by_kind = kinds != nullptr && !hardware::workgroups(config.chip);
  sim::Costs costs = by_kind ? kinds->costs(program, config.chip)
                             : program_costs(program, config.chip, config.wire_buffers);
  if (config.timed_as == config::TimedAs::program)
    costs.start_s += config.chip.program_startup.value;
  return costs;
}

/// Time that SimGrid takes to simulate `ranks` of a program.
double simgrid_time_s(const config::CollectiveConfig& config, const collectives::Program& program,
                      const config::ExperimentConfig& experiment, std::uint32_t ranks) {
  const auto messages = static_cast<double>(collectives::total_messages(program, ranks));
  return estimate_simulation_s(config, program.grid(), experiment, sim::Engine::simgrid, messages);
}

/// True if the direct engine will simulate the program, provided that it supports the machine, and
/// no trace shows single chips.
bool may_simulate_a_slice(const config::CollectiveConfig& config,
                          const collectives::Program& program, const MachineContext& context) {
  const config::ExperimentConfig& experiment = context.config();
  if (!experiment.topology.network || context.profile() == RunProfile::traced) return false;
  const Expected<EngineChoice> engine = choose_engine(
      experiment.engine, {}, simgrid_time_s(config, program, experiment, program.ranks()),
      context.profile());
  return engine && engine->engine == sim::Engine::direct;
}

Expected<CollectivePlan> plan_on_grid(config::CollectiveConfig config,
                                      const collectives::RankGrid& grid, MachineContext& context,
                                      const std::string& pointer) {
  const config::ExperimentConfig& experiment = context.config();
  if (auto fits = check_machine_memory(config.algorithm, grid, experiment, context.profile());
      !fits)
    return tl::unexpected(fits.error());
  CutChoice cuts = choose_cuts(config, grid, experiment);
  config.sizes = cuts.sizes;
  if (auto fits = check_program_size(config, grid, experiment, pointer); !fits)
    return tl::unexpected(fits.error());
  collectives::Program program = make_program(config, grid, experiment);
  return check_vmem(program, experiment, pointer)
      .and_then([&] { return check_hbm_bandwidth(program, experiment); })
      .and_then([&] {
        return plan_machine(config.algorithm, program, context,
                            may_simulate_a_slice(config, program, context));
      })
      .map([&](SimulatedMachine&& machine) {
        std::shared_ptr<const CostKinds> kinds = kinds_of(config, grid, experiment, program);
        sim::Costs costs = costs_of(program, kinds.get(), experiment);
        return CollectivePlan{.config = std::move(config),
                              .program = std::move(program),
                              .costs = std::move(costs),
                              .simulated = std::move(machine),
                              .engine = {},
                              .cut_reason = std::move(cuts.reason),
                              .kinds = std::move(kinds)};
      });
}

Expected<CollectivePlan> plan_with_chip(const config::CollectiveConfig& config,
                                        MachineContext& context, const std::string& pointer) {
  const Expected<collectives::RankGrid> grid =
      rank_grid(config.algorithm, context.config(), input::pointer(pointer, "algorithm"));
  if (!grid) return tl::unexpected(grid.error());
  const std::uint32_t ranks = grid->ranks();
  if (ranks > numerics::most_ranks(config.format))
    return infeasible(
        input::pointer(pointer, "format"),
        fmt::format("sums of '{}' codes of {} ranks overflow an int8; it supports up to {} ranks",
                    config.format.name, ranks, numerics::most_ranks(config.format)));
  try {
    return plan_on_grid(config, *grid, context, pointer);
  } catch (const std::invalid_argument& error) {  // from lower layers, which have no JSON pointers
    return infeasible(pointer, error.what());
  }
}

hardware::Pattern pattern_of(const config::CollectiveConfig& config) {
  if (config.algorithm->in_switch) return hardware::Pattern::in_switch;
  return config.algorithm->is_tree ? hardware::Pattern::tree : hardware::Pattern::ring;
}

/// True if the chip states the parameters of a protocol that the collective needs here.
bool has_protocol(const config::CollectiveConfig& config, hardware::Protocol protocol,
                  const config::ExperimentConfig& experiment) {
  return hardware::has_protocol(experiment.chip, protocol, pattern_of(config),
                                experiment.topology.network.has_value());
}

/// The experiment on chips and a network as the collective sees them under its protocol.
config::ExperimentConfig under_protocol(config::ExperimentConfig experiment,
                                        const config::CollectiveConfig& config) {
  if (config.protocol == hardware::Protocol::none) return experiment;
  const hardware::Pattern pattern = pattern_of(config);
  if (experiment.topology.network) {
    config::NetworkConfig& network = *experiment.topology.network;
    const std::uint32_t ports =
        config::count_chips_of_slice(experiment.topology) / network.chips_per_port;
    const hardware::NetworkPort port =
        hardware::under_protocol({network.bandwidth.value, network.latency.value}, ports,
                                 experiment.chip, *config.protocol, pattern);
    network.bandwidth.value = port.rate;
    network.latency.value = port.latency_s;
  }
  experiment.chip = hardware::under_protocol(std::move(experiment.chip), *config.protocol, pattern);
  experiment.topology.planned = nullptr;
  return experiment;
}

/// The experiment on chips whose links are no faster than the collective's thread blocks.
config::ExperimentConfig on_thread_blocks(config::ExperimentConfig experiment,
                                          const config::CollectiveConfig& config) {
  if (config.thread_blocks)
    experiment.chip =
        hardware::with_thread_blocks(std::move(experiment.chip), *config.thread_blocks);
  experiment.topology.planned = nullptr;
  return experiment;
}

/// Cuts the collective into the parts that NCCL sends under its protocol, unless they are given.
/// Returns the reason, for people; empty if nothing changes.
std::string set_parts(config::CollectiveConfig& config,
                      const config::ExperimentConfig& experiment) {
  if (config.microshards || config.algorithm->in_switch) return {};
  const bool in_chunks = config.algorithm->is_tree && experiment.topology.network;
  if (!in_chunks) {
    config.microshards = 1;
    return "one message per step, to which NCCL's latencies refer";
  }
  const std::size_t bits = numerics::element_bits(config.format.element);
  const std::uint64_t elements = experiment.tensor.elements;
  constexpr std::uint64_t kBitsPerByte = 8;
  const std::uint64_t chunk = hardware::tree_chunk_bytes(
      *config.protocol, experiment.topology.network->slices,
      config::count_chips_of_slice(experiment.topology), elements * bits / kBitsPerByte);
  config.sizes = {.microshard = std::max<std::uint64_t>(1, chunk * kBitsPerByte / bits)};
  return "NCCL's chunks of trees";
}

Expected<CollectivePlan> plan_collective(const config::CollectiveConfig& config,
                                         MachineContext& context, const std::string& pointer) {
  if (config.thread_blocks) {
    if (config.protocol != hardware::Protocol::none)
      return infeasible(input::pointer(pointer, "thread_blocks"),
                        "is for kernels without a protocol of NCCL; remove it, or \"protocol\"");
    if (context.config().chip.thread_block_rate.value == 0.0)
      return infeasible(
          input::pointer(pointer, "thread_blocks"),
          fmt::format(
              "the hardware file of {} has no \"thread_block_rate\"; give it, or remove this",
              context.config().chip.name));
    const config::ExperimentConfig experiment = on_thread_blocks(context.config(), config);
    MachineContext own(experiment, context.profile());
    return plan_with_chip(config, own, pointer);
  }
  if (config.protocol == hardware::Protocol::none) return plan_with_chip(config, context, pointer);
  const std::string at = input::pointer(pointer, "protocol");
  if (!has_protocol(config, *config.protocol, context.config()))
    return infeasible(
        at, fmt::format("'{}' is unknown for '{}' on {}{}: its hardware file lacks the parameters; "
                        "remove it",
                        hardware::name(*config.protocol), config.algorithm->name,
                        context.config().chip.name,
                        context.config().topology.network ? " across a network" : ""));
  if (context.config().of_step &&
      (context.config().topology.network ||
       context.config().topology.kind != config::TopologyKind::on_switch))
    return infeasible(at, "is, in steps, for groups of chips on one switch; remove it");
  const config::ExperimentConfig experiment = under_protocol(context.config(), config);
  MachineContext own(experiment, context.profile());
  config::CollectiveConfig in_parts = config;
  const std::string reason = set_parts(in_parts, experiment);
  return plan_with_chip(in_parts, own, pointer).map([&](CollectivePlan&& plan) {
    if (!reason.empty()) plan.cut_reason = reason;
    return std::move(plan);
  });
}

/// The protocols to try for an algorithm: the given one, or all that the chip has.
std::vector<hardware::Protocol> protocols_of(const config::CollectiveConfig& config,
                                             const config::ExperimentConfig& experiment) {
  using hardware::Protocol;
  if (config.protocol) return {*config.protocol};
  std::vector<Protocol> protocols;
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
    if (has_protocol(config, protocol, experiment)) protocols.push_back(protocol);
  return protocols;
}

/// Plans an algorithm as one of several candidates; skipped if its simulation would take too long.
Expected<CollectivePlan> plan_trial(const config::CollectiveConfig& candidate,
                                    MachineContext& context, const std::string& pointer) {
  config::CollectiveConfig in_parts = candidate;
  if (candidate.protocol != hardware::Protocol::none) set_parts(in_parts, context.config());
  const Expected<double> time_s = simulation_time_s(in_parts, context.config(), pointer);
  if (!time_s) return tl::unexpected(time_s.error());
  if (*time_s > kMostTrialTime)
    return infeasible("", fmt::format("skipped: simulating it would take about {:.0f} s; "
                                      "name it to run it",
                                      *time_s));
  return plan_collective(candidate, context, pointer);
}

/// Plans an algorithm with all its protocols.
void add_candidates(config::CollectiveConfig candidate, MachineContext& context,
                    const std::string& pointer, PlannedCollective& planned) {
  const auto protocols = protocols_of(candidate, context.config());
  if (protocols.empty())
    planned.infeasible.push_back({candidate.algorithm, fmt::format("{} has no protocols for it",
                                                                   context.config().chip.name)});
  for (const hardware::Protocol protocol : protocols) {
    candidate.protocol = protocol;
    Expected<CollectivePlan> plan = plan_trial(candidate, context, pointer);
    if (plan)
      planned.candidates.push_back(*std::move(plan));
    else
      planned.infeasible.push_back({candidate.algorithm, plan.error().text()});
  }
}

/// Plans every algorithm that can run with this format; infeasible if none can.
Expected<PlannedCollective> plan_candidates(const config::CollectiveConfig& config,
                                            MachineContext& context, const std::string& pointer) {
  PlannedCollective planned;
  const collectives::Collective collective = context.config().collective;
  const bool with_network = context.config().topology.network.has_value();
  std::vector<config::Algorithm> tried = config.algorithm == config::kAutomatic
                                             ? config::tried_algorithms(collective, with_network)
                                             : std::vector<config::Algorithm>{config.algorithm};
  if (config.protocol != hardware::Protocol::none && tried.size() > 1)
    std::erase_if(tried, [&](config::Algorithm algorithm) {
      return std::ranges::find(algorithm->of_nccl, collective) == algorithm->of_nccl.end();
    });
  for (const config::Algorithm algorithm : tried) {
    if (tried.size() > 1 && !is_considered(algorithm, context.config().topology)) continue;
    if (!config::fits_format(algorithm, config.format)) continue;
    const std::string why = why_not(algorithm, context.config());
    if (!why.empty()) {
      planned.infeasible.push_back({algorithm, why});
      continue;
    }
    config::CollectiveConfig candidate = config;
    candidate.algorithm = algorithm;
    add_candidates(std::move(candidate), context, pointer, planned);
  }
  if (planned.candidates.empty())
    return infeasible(input::pointer(pointer, "algorithm"),
                      planned.infeasible.empty()
                          ? "no algorithm can run with this format"
                          : "no algorithm can run: " + planned.infeasible.front().reason);
  std::ranges::stable_sort(planned.candidates, {}, [](const CollectivePlan& plan) {
    return sim::lower_bound_s(plan.program, plan.simulated.machine(), plan.costs);
  });
  return planned;
}

/// Plans the candidates of one collective. Stores the tiling in `collective`, so that it stays the
/// same on other chips.
Expected<PlannedCollective> plan_alternatives(config::CollectiveConfig& collective,
                                              MachineContext& context, const std::string& pointer) {
  if (collective.algorithm == config::kAutomatic || !collective.protocol)
    return plan_candidates(collective, context, pointer);
  return plan_collective(collective, context, pointer).map([&](CollectivePlan&& plan) {
    collective.sizes = plan.config.sizes;
    PlannedCollective planned;
    planned.candidates.push_back(std::move(plan));
    return planned;
  });
}

/// Chooses the engine of an otherwise complete plan.
Expected<void> plan_engine(MachineContext& context, CollectivePlan& plan) {
  const config::ExperimentConfig& config = context.config();
  const sim::Machine& machine = plan.simulated.machine();
  const double simgrid_s = plan.simulated.slices > 1  // for the direct engine only
                               ? std::numeric_limits<double>::infinity()
                               : simgrid_time_s(plan.config, plan.program, config, machine.ranks());
  return choose_engine(config.engine, machine, simgrid_s, context.profile())
      .map([&](EngineChoice&& choice) {
        plan.engine = std::move(choice);
        if (plan.engine.engine == sim::Engine::direct)
          simulate_by_class(plan.program, context, plan.simulated);
      });
}

/// Recomputes the costs and the machine of a plan.
void replan(CollectivePlan& plan, MachineContext& context) {
  const config::ExperimentConfig& config = context.config();
  plan.costs = costs_of(plan.program, plan.kinds.get(), config);
  const bool directly = plan.engine.engine == sim::Engine::direct;
  plan.simulated =
      value_or_throw(plan_machine(plan.config.algorithm, plan.program, context, directly));
  if (directly) simulate_by_class(plan.program, context, plan.simulated);
}

/// Time to write and check an instruction stream, in seconds per message.
constexpr double kBuildTime = 1e-6;

}  // namespace

Expected<double> simulation_time_s(const config::CollectiveConfig& collective,
                                   const config::ExperimentConfig& config,
                                   const std::string& pointer) {
  if (has_representatives(collective.algorithm, config)) return 0.0;
  const sim::Engine engine =
      config.engine == config::EngineMode::simgrid ? sim::Engine::simgrid : sim::Engine::direct;
  return rank_grid(collective.algorithm, config, input::pointer(pointer, "algorithm"))
      .map([&](const collectives::RankGrid& grid) {
        const double messages = grid.ranks() * estimate_messages(collective, grid, config);
        // The instructions of ranks that differ are also written and checked one by one.
        const double build_s = collective.algorithm->is_uniform ? 0.0 : messages * kBuildTime;
        return build_s + estimate_simulation_s(collective, grid, config, engine, messages);
      });
}

Expected<Plan> try_plan(const config::ExperimentConfig& config, RunProfile profile) {
  if (auto fits = check_hbm_capacity(config); !fits) return tl::unexpected(fits.error());
  Plan plan{config, {}};
  MachineContext context(plan.config, profile);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    Expected<PlannedCollective> planned =
        plan_alternatives(plan.config.collectives[i], context, input::pointer("/collectives", i));
    if (!planned) return tl::unexpected(planned.error());
    plan.collectives.push_back(*std::move(planned));
  }
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      const Expected<void> planned =
          check_host_memory(candidate.program, plan.config, values::default_threads())
              .and_then([&] { return plan_engine(context, candidate); });
      if (!planned) return tl::unexpected(planned.error());
    }
  return plan;
}

Plan make_plan(const config::ExperimentConfig& config, RunProfile profile) {
  return value_or_throw(try_plan(config, profile));
}

hardware::Chip chip_of(const config::CollectiveConfig& collective, const hardware::Chip& chip) {
  hardware::Chip own =
      hardware::under_protocol(chip, collective.protocol.value(), pattern_of(collective));
  if (collective.thread_blocks)
    own = hardware::with_thread_blocks(std::move(own), *collective.thread_blocks);
  return own;
}

Plan on_machine(Plan plan, const config::MachineParameters& machine) {
  config::set_parameters(machine, plan.config);
  MachineContext context(plan.config);
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      if (candidate.config.protocol == hardware::Protocol::none &&
          !candidate.config.thread_blocks) {
        replan(candidate, context);
        continue;
      }
      const config::ExperimentConfig experiment =
          under_protocol(on_thread_blocks(plan.config, candidate.config), candidate.config);
      MachineContext own(experiment);
      replan(candidate, own);
    }
  return plan;
}

}  // namespace equarx::plan
