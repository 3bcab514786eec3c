#include "importers/hlo/flow.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/loops.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

void scale(Cost& cost, double times) {
  cost.flops *= times;
  cost.matrix_flops *= times;
  cost.vector_ops *= times;
  cost.comparisons *= times;
  cost.attention_rows *= times;
  cost.hbm_bytes *= times;
  cost.to_host_bytes *= times;
  cost.from_host_bytes *= times;
}

/// Totals over one execution of a list.
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
      ++flow_.notes["module is not scheduled: instructions run in textual order"];
    return std::move(flow_);
  }

 private:
  /// Builds callee lists first; HLO has no recursion.
  void make_list(ComputationId id) {
    if (made_[id]) return;
    made_[id] = true;
    const Computation& computation = module_.computations[id];
    std::vector<FlowStep> list;
    // Started collectives without a matching end so far.
    std::unordered_map<InstructionId, OpId> open;
    Cost pending;  // asynchronous copies that overlap with the next instruction
    for (InstructionId of = 0; of < computation.instructions.size(); ++of)
      add(computation, of, list, open, pending);
    if (!pending.is_nothing()) list.push_back({.kind = FlowStep::Kind::work, .cost = pending});
    for (const auto& [start, op] : open) {
      ++flow_.notes["collective without -done: completes at the end of its computation"];
      list.push_back({.kind = FlowStep::Kind::end, .op = op});
    }
    flow_.lists[id] = std::move(list);
    totals_[id] = total_of(flow_.lists[id]);
    flow_.order.push_back(id);
  }

  void add(const Computation& computation, InstructionId of, std::vector<FlowStep>& list,
           std::unordered_map<InstructionId, OpId>& open, Cost& pending) {
    const Instruction& instruction = computation.instructions[of];
    const SplitOpcode opcode = split(instruction.opcode);
    if (opcode.end == AsyncEnd::done) return end_collective(computation, instruction, list, open);
    if (auto op = collective_of(instruction, computation, module_)) {
      begin_collective(std::move(*op), of, list, open);
      if (opcode.base != "fusion") return;  // a fusion also has work of its own
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

  void begin_collective(CollectiveOp op, InstructionId of, std::vector<FlowStep>& list,
                        std::unordered_map<InstructionId, OpId>& open) {
    const auto id = static_cast<OpId>(flow_.ops.size());
    const bool waits = op.waits;
    if (op.is_ragged)
      ++flow_.notes["ragged-all-to-all: assumed to send its whole operand, an upper bound"];
    flow_.ops.push_back(std::move(op));
    list.push_back({.kind = FlowStep::Kind::begin, .op = id});
    if (waits) list.push_back({.kind = FlowStep::Kind::end, .op = id});
    // The "-done" of a synchronous collective is ignored.
    if (!waits) open.emplace(of, id);
  }

  void end_collective(const Computation& computation, const Instruction& instruction,
                      std::vector<FlowStep>& list, std::unordered_map<InstructionId, OpId>& open) {
    if (instruction.operands.empty()) return;
    InstructionId from = instruction.operands.front();
    // Updates and tuple elements may lie between a start and its end.
    for (std::size_t i = 0; i < computation.instructions.size() && from != kNoInstruction; ++i) {
      if (const auto found = open.find(from); found != open.end()) {
        list.push_back({.kind = FlowStep::Kind::end, .op = found->second});
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
      throw exceptions::UserError(
          fmt::format("line {}", loop.line),
          fmt::format("unknown trip count of loop '{}'; set it with --trip-count {}=COUNT, or for "
                      "all such loops with --trip-count COUNT",
                      loop.name, loop.name));
    if (const auto body = called_by(loop, "body", module_)) return add_repeat(*body, *times, list);
    ++flow_.notes["loop without a body"];
  }

  /// Inlines a list without collectives as repeated work; otherwise adds a repeat.
  void add_repeat(ComputationId id, std::uint64_t times, std::vector<FlowStep>& list) {
    make_list(id);
    if (times == 0) return;
    const std::vector<FlowStep>& body = flow_.lists[id];
    const bool only_works = std::ranges::all_of(
        body, [](const FlowStep& step) { return step.kind == FlowStep::Kind::work; });
    // Nested repeats would otherwise grow without bound.
    constexpr std::size_t kMaxSteps = 100'000;
    if (!only_works || list.size() + body.size() > kMaxSteps) {
      list.push_back({.kind = FlowStep::Kind::repeat, .times = times, .body = id});
      return;
    }
    for (FlowStep step : body) {
      constexpr std::uint64_t kMaxTimes = std::uint64_t{1} << 40;
      step.times = step.times > kMaxTimes / times ? kMaxTimes : step.times * times;
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
    ++flow_.notes["conditional: most expensive branch assumed"];
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
      if (step.kind == FlowStep::Kind::begin) bytes = flow_.ops[step.op].bytes;
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
  totals.times.resize(flow.ops.size());
  std::vector<double> runs(flow.lists.size(), 0.0);  // executions by list
  runs[flow.entry] = 1.0;
  for (std::size_t i = flow.order.size(); i-- > 0;) {
    const double times = runs[flow.order[i]];
    for (const FlowStep& step : flow.lists[flow.order[i]]) {
      const double each = times * static_cast<double>(step.times);
      if (step.kind == FlowStep::Kind::repeat) runs[step.body] += each;
      if (step.kind == FlowStep::Kind::begin) {
        totals.times[step.op] += each;
        totals.collective_bytes += each * flow.ops[step.op].bytes;
      }
      Cost cost = step.cost;
      scale(cost, each);
      totals.cost += cost;
    }
  }
  return totals;
}

}  // namespace equarx::hlo
