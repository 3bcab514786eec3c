#include "models/hlo/flow.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "models/hlo/loops.hpp"
#include "models/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

void scale(Cost& cost, double times) {
  cost.flops *= times;
  cost.matrix_flops *= times;
  cost.vector_ops *= times;
  cost.hbm_bytes *= times;
  cost.to_host_bytes *= times;
  cost.from_host_bytes *= times;
}

/// What a list does, once.
struct Total {
  Cost cost;
  double collective_bytes = 0.0;
};

class FlowMaker {
 public:
  FlowMaker(const Module& module, const TripCounts& counts)
      : module_(module),
        counts_(counts),
        costs_(module),
        made_(module.computations.size(), false),
        totals_(module.computations.size()) {
    flow_.lists.resize(module.computations.size());
    flow_.entry = module.entry;
    flow_.notes = module.skipped;
  }

  Flow make() {
    make_list(module_.entry);
    if (!module_.is_scheduled)
      ++flow_.notes["the module is not scheduled: instructions run in the order of the text"];
    return std::move(flow_);
  }

 private:
  /// Lists of what is called are made first; HLO has no recursion.
  void make_list(ComputationId id) {
    if (made_[id]) return;
    made_[id] = true;
    const Computation& computation = module_.computations[id];
    std::vector<FlowStep> list;
    std::unordered_map<InstructionId, SiteId> open;  // collectives that are not waited for yet
    Cost pending;                                    // of copies that go on beside what follows
    for (InstructionId of = 0; of < computation.instructions.size(); ++of)
      add(computation, of, list, open, pending);
    if (!pending.is_nothing()) list.push_back({.kind = FlowStep::Kind::work, .cost = pending});
    for (const auto& [start, site] : open) {
      ++flow_.notes["collective without its -done: waited for at the end of its computation"];
      list.push_back({.kind = FlowStep::Kind::end, .site = site});
    }
    flow_.lists[id] = std::move(list);
    totals_[id] = total_of(flow_.lists[id]);
    flow_.order.push_back(id);
  }

  void add(const Computation& computation, InstructionId of, std::vector<FlowStep>& list,
           std::unordered_map<InstructionId, SiteId>& open, Cost& pending) {
    const Instruction& instruction = computation.instructions[of];
    const SplitOpcode opcode = split(instruction.opcode);
    if (opcode.end == AsyncEnd::done) return end_collective(computation, instruction, list, open);
    if (auto site = collective_of(instruction, computation, module_)) {
      begin_collective(std::move(*site), of, list, open);
      if (opcode.base != "fusion") return;  // which works, too
    }
    switch (class_of(opcode.base)) {
      case OpClass::loop: return add_loop(computation, instruction, list);
      case OpClass::conditional: return add_conditional(instruction, list);
      default: break;
    }
    if (opcode.base == "call" && opcode.end == AsyncEnd::none) {
      for (const ComputationId id : instruction.called) add_repeat(id, 1, list);
      return;
    }
    Cost cost = costs_.of(instruction, computation, flow_.notes);
    if (cost.is_nothing()) return;
    if (opcode.end == AsyncEnd::start) {
      pending += cost;
      return;
    }
    cost += std::exchange(pending, {});
    list.push_back({.kind = FlowStep::Kind::work, .cost = cost});
  }

  void begin_collective(CollectiveSite site, InstructionId of, std::vector<FlowStep>& list,
                        std::unordered_map<InstructionId, SiteId>& open) {
    const auto id = static_cast<SiteId>(flow_.sites.size());
    const bool waits = site.waits;
    if (site.is_ragged)
      ++flow_.notes["ragged-all-to-all: taken as large as its operand, the most that it may send"];
    flow_.sites.push_back(std::move(site));
    list.push_back({.kind = FlowStep::Kind::begin, .site = id});
    if (waits) list.push_back({.kind = FlowStep::Kind::end, .site = id});
    // One that is synchronous has a "-done" as well.
    if (!waits) open.emplace(of, id);
  }

  void end_collective(const Computation& computation, const Instruction& instruction,
                      std::vector<FlowStep>& list,
                      std::unordered_map<InstructionId, SiteId>& open) {
    if (instruction.operands.empty()) return;
    InstructionId from = instruction.operands.front();
    // Between a start and its end there may be updates and parts of tuples.
    for (std::size_t i = 0; i < computation.instructions.size() && from != kNoInstruction; ++i) {
      if (const auto found = open.find(from); found != open.end()) {
        list.push_back({.kind = FlowStep::Kind::end, .site = found->second});
        open.erase(found);
        return;
      }
      const Instruction& by = computation.instructions[from];
      const bool passes_on = by.opcode == "get-tuple-element" || by.opcode == "bitcast" ||
                             split(by.opcode).end == AsyncEnd::update;
      if (!passes_on || by.operands.empty()) return;
      from = by.operands.front();
    }
  }

  void add_loop(const Computation& computation, const Instruction& loop,
                std::vector<FlowStep>& list) {
    std::optional<std::uint64_t> times = trip_count(module_, computation, loop);
    if (!times) times = counts_.otherwise;
    if (const auto named = counts_.by_name.find(loop.name); named != counts_.by_name.end())
      times = named->second;
    if (!times)
      throw TextError(
          fmt::format("line {}: nobody says how often loop '{}' runs; give it by --trip-count "
                      "{}=COUNT, or that of all such loops by --trip-count COUNT",
                      loop.line, loop.name, loop.name));
    if (const auto body = called_by(loop, "body", module_)) return add_repeat(*body, *times, list);
    ++flow_.notes["loop without a body"];
  }

  /// A list without collectives is work, which is done as often.
  void add_repeat(ComputationId id, std::uint64_t times, std::vector<FlowStep>& list) {
    make_list(id);
    if (times == 0) return;
    const std::vector<FlowStep>& body = flow_.lists[id];
    const bool only_works = std::ranges::all_of(
        body, [](const FlowStep& step) { return step.kind == FlowStep::Kind::work; });
    // Lists that repeat each other many times would grow beyond all bounds.
    constexpr std::size_t kLongest = 100'000;
    if (!only_works || list.size() + body.size() > kLongest) {
      list.push_back({.kind = FlowStep::Kind::repeat, .times = times, .body = id});
      return;
    }
    for (FlowStep step : body) {
      constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
      step.times = step.times > kMost / times ? kMost : step.times * times;
      list.push_back(step);
    }
  }

  void add_conditional(const Instruction& conditional, std::vector<FlowStep>& list) {
    if (conditional.called.empty()) return;
    for (const ComputationId id : conditional.called) make_list(id);
    const auto size = [&](ComputationId id) {
      const Total& total = totals_[id];
      return std::tuple(total.collective_bytes, total.cost.matrix_flops,
                        total.cost.hbm_bytes + total.cost.vector_ops);
    };
    const ComputationId largest = std::ranges::max(conditional.called, {}, size);
    ++flow_.notes["conditional: its costliest branch is taken"];
    add_repeat(largest, 1, list);
  }

  Total total_of(const std::vector<FlowStep>& list) const {
    Total total;
    for (const FlowStep& step : list) {
      Cost cost = step.cost;
      double bytes = 0.0;
      if (step.kind == FlowStep::Kind::repeat) {
        cost = totals_[step.body].cost;
        bytes = totals_[step.body].collective_bytes;
      }
      if (step.kind == FlowStep::Kind::begin) bytes = flow_.sites[step.site].bytes;
      scale(cost, static_cast<double>(step.times));
      total.cost += cost;
      total.collective_bytes += bytes * static_cast<double>(step.times);
    }
    return total;
  }

  const Module& module_;
  const TripCounts& counts_;
  CostModel costs_;
  Flow flow_;
  std::vector<bool> made_;     // by computation
  std::vector<Total> totals_;  // by computation
};

}  // namespace

Flow make_flow(const Module& module, const TripCounts& counts) {
  return FlowMaker(module, counts).make();
}

FlowTotals totals_of(const Flow& flow) {
  FlowTotals totals;
  totals.times.resize(flow.sites.size());
  std::vector<double> runs(flow.lists.size(), 0.0);  // by list: how often it is carried out
  runs[flow.entry] = 1.0;
  for (std::size_t i = flow.order.size(); i-- > 0;) {
    const double times = runs[flow.order[i]];
    for (const FlowStep& step : flow.lists[flow.order[i]]) {
      const double each = times * static_cast<double>(step.times);
      if (step.kind == FlowStep::Kind::repeat) runs[step.body] += each;
      if (step.kind == FlowStep::Kind::begin) {
        totals.times[step.site] += each;
        totals.collective_bytes += each * flow.sites[step.site].bytes;
      }
      Cost cost = step.cost;
      scale(cost, each);
      totals.cost += cost;
    }
  }
  return totals;
}

}  // namespace equarx::hlo
