#include "tests/invariants/engines/cases.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "models/collectives/algorithm.hpp"
#include "sim/time_executor.hpp"

namespace equarx::testing {
namespace {

using collectives::Rank;
using collectives::RankGrid;
using numerics::ElementFormat;
using sim::LinkIndex;
using sim::Route;

std::uint32_t pick(std::uint32_t first, std::uint32_t last) {
  return *rc::gen::inRange<std::uint32_t>(first, last + 1);
}

bool flip() { return pick(0, 1) == 1; }

/// From 0 to 1, with digits that make accidental ties unlikely.
double fraction() { return (pick(0, 999'999) + 0.123'456'789) / 1e6; }

double between(double low, double high) { return low + (high - low) * fraction(); }

// --- Programs

RankGrid grid_of(collectives::RankLayout layout) {
  switch (layout) {
    case collectives::RankLayout::hypercube:
      return RankGrid(std::vector<std::uint32_t>(pick(1, 3), 2));
    case collectives::RankLayout::grid: {
      std::vector<std::uint32_t> lengths;
      for (std::uint32_t axes = pick(1, 3); axes > 0; --axes)
        lengths.push_back(pick(2, axes == 1 ? 4 : 3));
      return RankGrid(lengths);
    }
    case collectives::RankLayout::slices_of_grids: return RankGrid({pick(2, 3), 2, pick(2, 3)});
    case collectives::RankLayout::slices:
    case collectives::RankLayout::nodes: return RankGrid({pick(2, 3), pick(2, 4)});
    case collectives::RankLayout::ring:
    case collectives::RankLayout::graph:
    case collectives::RankLayout::any: break;
  }
  return RankGrid({pick(2, 9)});
}

/// A line of ranks with some other edges.
collectives::RankGraph graph_of(std::uint32_t ranks) {
  std::vector<std::pair<collectives::Rank, collectives::Rank>> edges;
  for (collectives::Rank to = 1; to < ranks; ++to)
    for (collectives::Rank from = 0; from < to; ++from)
      if (from + 1 == to || pick(0, 3) == 0) edges.emplace_back(from, to);
  return {ranks, edges};
}

collectives::Program make_program(std::string& description) {
  // Streams send at the same instant in an order that engines do not share (nodes_test.cpp).
  std::vector<collectives::AlgorithmInfo> rows;
  std::ranges::copy_if(collectives::algorithms(), std::back_inserter(rows),
                       [](const auto& of) { return of.layout != collectives::RankLayout::nodes; });
  const collectives::AlgorithmInfo& row =
      rows[pick(0, static_cast<std::uint32_t>(rows.size()) - 1)];
  const collectives::Collective collective =
      row.collectives[pick(0, static_cast<std::uint32_t>(row.collectives.size()) - 1)];
  const bool scaled = !row.can_be_plain || (flip() && row.can_be_quantized);
  const numerics::BlockFormat format =
      scaled ? numerics::BlockFormat{.element = ElementFormat::int8, .scaled = true}
             : numerics::BlockFormat{.element = ElementFormat::bf16};
  collectives::ProgramRequest request{
      .collective = collective,
      .grid = row.in_switch ? RankGrid({pick(3, 9)}) : grid_of(row.layout),
      .elements = 1024 * pick(64, 512) + pick(0, 999),
      .dtype = ElementFormat::bf16,
      .ring = flip() ? collectives::RingStyle::semi_loop : collectives::RingStyle::full_loop,
      .reduce_scatter = format,
      .all_gather = format,
      .cut = {pick(1, 3), pick(1, 4), 128},
      .reduce_scatter_between = format,
      .all_gather_between = format};
  if (row.layout == collectives::RankLayout::graph) request.graph = graph_of(request.grid.ranks());
  description = fmt::format("{} of {} on {} ranks, {}", row.name, collectives::name(collective),
                            request.grid.ranks(), scaled ? "int8" : "bf16");
  return row.make(request);
}

sim::Costs make_costs(const collectives::Program& program) {
  const double work_s = flip() ? 0.0 : between(0.0, 4e-3);
  const double message_s = flip() ? 0.0 : between(0.0, 1e-3);
  const double sync_s = flip() ? 0.0 : between(0.0, 2e-3);
  sim::Costs costs;
  for (const collectives::Instruction& instruction : program.instructions)
    costs.core_s.push_back(is_transfer(instruction.op) ? message_s : work_s);
  for (const collectives::Message& message : program.messages)
    costs.link_s.push_back(message.synchronises ? sync_s : 0.0);
  if (flip()) costs.start_s = between(0.0, 5e-3);
  if (flip()) {  // instructions that last longer than their core time
    const double least_s = between(0.0, 6e-3);
    for (const collectives::Instruction& instruction : program.instructions)
      costs.least_s.push_back(instruction.op == collectives::Op::send || flip() ? 0.0 : least_s);
  }
  return costs;
}

/// HBM bytes for some of the vector work, which take about as long as its core time.
void add_hbm_bytes(const collectives::Program& program, sim::Costs& costs) {
  const std::uint32_t most = pick(1, 100'000);
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    costs.hbm_bytes.push_back(is_vector_work(program.instructions[i].op) && flip() ? pick(0, most)
                                                                                   : 0);
  costs.before_hbm_s = flip() ? 0.0 : between(0.0, 1e-4);
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (costs.hbm_bytes[i] > 0) costs.core_s[i] += costs.before_hbm_s;
}

/// Core work before each of several runs; none for a single run.
std::vector<double> make_other_work() {
  std::vector<double> core_s;
  if (flip()) return core_s;
  for (std::uint32_t runs = pick(1, 3); runs > 0; --runs)
    core_s.push_back(flip() ? 0.0 : between(0.0, 0.05));
  return core_s;
}

// --- Machines

/// Links of the requested kind.
class Links {
 public:
  explicit Links(sim::Machine& machine)
      : machine_(machine),
        alike_(flip()),
        rate_(between(5e6, 5e7)),
        latency_(flip() ? 0.0 : between(1e-5, 2e-3)) {}

  LinkIndex add() {
    const double rate = alike_ ? rate_ : rate_ * between(0.3, 3.0);
    const double latency = alike_ ? latency_ : latency_ * between(0.0, 2.0);
    machine_.links.push_back({fmt::format("link {}", machine_.links.size()), rate, latency});
    return static_cast<LinkIndex>(machine_.links.size() - 1);
  }
  std::vector<LinkIndex> add(std::size_t count) {
    std::vector<LinkIndex> links(count);
    std::ranges::generate(links, [this] { return add(); });
    return links;
  }

 private:
  sim::Machine& machine_;
  bool alike_;
  double rate_;
  double latency_;
};

enum class Wires { own, star, line, pool };

/// Assigns routes to the messages of one chip to another.
class Router {
 public:
  Router(Wires wires, std::uint32_t ranks, Links& links) : wires_(wires), links_(links) {
    if (wires == Wires::star) up_ = links.add(ranks), down_ = links.add(ranks);
    if (wires == Wires::line) up_ = links.add(ranks), down_ = links.add(ranks);
    if (wires == Wires::pool) up_ = links.add(pick(2, 8));
  }

  Route route(Rank from, Rank to) {
    Route route;
    switch (wires_) {
      case Wires::own:
        for (std::uint32_t hops = pick(1, 2); hops > 0; --hops) route.push_back(links_.add());
        break;
      case Wires::star: return {up_[from], down_[to]};
      case Wires::line:
        for (Rank at = from; at < to; ++at) route.push_back(up_[at]);
        for (Rank at = from; at > to; --at) route.push_back(down_[at]);
        break;
      case Wires::pool:
        for (const LinkIndex link : up_)
          if (pick(0, 2) == 0) route.push_back(link);
        if (route.empty() || pick(0, 3) == 0) route.push_back(links_.add());
        break;
    }
    return route;
  }

 private:
  Wires wires_;
  Links& links_;
  std::vector<LinkIndex> up_;
  std::vector<LinkIndex> down_;
};

/// HBMs with about the rate of a chip's links, or far above it.
void add_hbms(sim::Machine& machine) {
  const double rate = between(1e7, flip() ? 2e8 : 1e10);
  sim::add_hbm(rate, machine);
  if (flip()) return;
  for (const LinkIndex hbm : machine.hbm) machine.links[hbm].rate *= between(0.5, 2.0);
}

sim::Machine make_machine(const collectives::Program& program, const CaseKind& kind) {
  sim::Machine machine;
  machine.dma_queue = flip() ? 16 : pick(1, 3);
  Links links(machine);
  const auto wires = kind.shares_links ? static_cast<Wires>(pick(1, 3)) : Wires::own;
  Router router(wires, program.ranks(), links);
  for (Rank rank = 0; rank < program.ranks(); ++rank) {
    machine.chip_names.push_back(fmt::format("chip {}", rank));
    auto& out_ports = machine.out_ports.emplace_back();
    std::map<Rank, Route> known;
    for (const collectives::Channel& channel : program.channels) {
      const Rank peer = program.grid().move(rank, channel.offset);
      const auto [found, is_new] = known.try_emplace(peer);
      if (is_new) found->second = router.route(rank, peer);
      out_ports.push_back({peer, found->second});
    }
    if (rank == 0 && flip()) machine.slowdown.assign(program.ranks(), 1.0);
    if (!machine.slowdown.empty() && flip()) machine.slowdown[rank] = between(0.5, 4.0);
  }
  if (kind.shares_hbm) add_hbms(machine);
  return machine;
}

/// Links that fail at some time during the run, or after it.
void break_links(EngineCase& made) {
  const double whole_s = made.simulate(sim::Engine::direct).time_s;
  for (std::uint32_t count = pick(1, 3); count > 0; --count) {
    const double at_s = pick(0, 9) == 0 ? 0.0 : whole_s * between(0.0, 1.1);
    made.machine.failures.push_back(
        {pick(0, static_cast<std::uint32_t>(made.machine.cables()) - 1), at_s});
  }
}

}  // namespace

/// The program after each task of other work, in a stream of its own. The next task of other work
/// waits for the program unless they overlap.
sim::Timelines EngineCase::timelines() const {
  if (other_work_s.empty()) return make_timelines(program, costs, machine.ranks(), traced);
  sim::PlacedProgram placed{&program, &costs, {}};
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    placed.rank_of_chip.push_back(rank);
  sim::StepProgram work{.programs = {placed}, .streams = {{}, {}}, .tasks = 0};
  for (const double core_s : other_work_s) {
    sim::TaskRun other{.task = work.tasks, .core_s = core_s};
    if (!overlaps && work.tasks > 0) other.after = {work.tasks - 1};
    work.streams[0].push_back(other);
    work.streams[1].push_back({.task = work.tasks + 1, .after = {work.tasks}, .program = 0});
    work.tasks += 2;
  }
  return make_timelines(work, machine.ranks());
}

sim::TimeResult EngineCase::simulate(sim::Engine engine) const {
  const auto describe = [](std::uint32_t, collectives::InstructionId) { return std::string(); };
  return sim::simulate(timelines(), machine, describe,
                       {.traced = traced && other_work_s.empty(), .engine = engine});
}

EngineCase generate_case(const CaseKind& kind) {
  std::string description;
  collectives::Program program = make_program(description);
  sim::Machine machine = make_machine(program, kind);
  sim::Costs costs = make_costs(program);
  if (kind.shares_hbm && flip()) add_hbm_bytes(program, costs);
  EngineCase made{std::move(description),
                  std::move(program),
                  std::move(machine),
                  std::move(costs),
                  make_other_work(),
                  flip(),
                  flip()};
  if (kind.fails) break_links(made);
  made.description += fmt::format(
      ", {} links, dma_queue {}, {} tasks of other work, "
      "overlap {}, {} failures",
      made.machine.links.size(), made.machine.dma_queue, made.other_work_s.size(), made.overlaps,
      made.machine.failures.size());
  return made;
}

}  // namespace equarx::testing
