#include "importers/hlo/flow.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/contents.hpp"
#include "importers/hlo/flow_totals.hpp"
#include "importers/hlo/loops.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

/// A list under construction.
struct List {
  ComputationId of = 0;
  std::vector<FlowStep> steps = {};
  /// Started collectives without a matching end so far, by the instruction that starts them.
  std::map<InstructionId, std::vector<OpId>> open = {};
  Cost pending = {};  ///< asynchronous work that overlaps with the next instruction
};

class FlowMaker {
 public:
  FlowMaker(const Module& module, const TripCounts& counts, const CustomCalls& calls)
      : module_(module),
        counts_(counts),
        costs_(module, calls),
        contents_(contents_of(module)),
        made_(module.computations.size()) {
    flow_.notes = module.skipped;
  }

  Flow make() {
    flow_.entry = list_of(module_.entry);
    keep_what_runs(flow_);
    std::vector<Place> places;
    for (const CollectiveOp& op : flow_.ops)
      places.emplace_back(op.computation_id, op.instruction_id);
    flow_.not_run = collectives_not_run(module_, places, reasons_);
    add_notes(module_, flow_.not_run, flow_.notes);
    if (!module_.is_scheduled)
      ++flow_.notes["module is not scheduled: instructions run in textual order"];
    return std::move(flow_);
  }

 private:
  /// The list of a computation that runs as a whole. Makes the lists of its callees first; HLO has
  /// no recursion.
  ListId list_of(ComputationId id) {
    if (made_[id]) return *made_[id];
    List list{.of = id};
    const Computation& computation = module_.computations[id];
    for (InstructionId of = 0; of < computation.instructions.size(); ++of) add(of, list);
    if (!list.pending.is_nothing())
      list.steps.push_back({.kind = FlowStep::Kind::work, .cost = list.pending});
    for (const auto& [start, ops] : list.open) {
      ++flow_.notes["collective without -done: completes at the end of its computation"];
      add_ends(ops, list.steps);
    }
    made_[id] = finish(std::move(list.steps));
    return *made_[id];
  }

  ListId finish(std::vector<FlowStep> steps) {
    const auto id = static_cast<ListId>(flow_.lists.size());
    totals_.push_back(total_of(steps, flow_, totals_));
    steps.shrink_to_fit();
    flow_.lists.push_back(std::move(steps));
    flow_.order.push_back(id);
    return id;
  }

  void add(InstructionId of, List& list) {
    const Computation& computation = module_.computations[list.of];
    const Instruction& instruction = computation.instructions[of];
    const SplitOpcode opcode = split(instruction.opcode);
    if (opcode.end == AsyncEnd::done) return end(instruction, list);
    if (is_collective(instruction)) return begin_own(of, list);
    switch (class_of(opcode.base)) {
      case OpClass::loop: return add_loop(list.of, instruction, list.steps);
      case OpClass::conditional: return add_repeat(taken(instruction), 1, list.steps);
      default: break;
    }
    const Contents called = runs_called(instruction) ? called_by_all(instruction) : Contents{};
    const bool starts = opcode.end == AsyncEnd::start;
    if (starts && (called.collectives > 0 || called.has_control_flow)) return start(of, list);
    const bool is_custom = opcode.base == "custom-call";
    if (!starts && (opcode.base == "call" || (is_custom && called.collectives > 0))) {
      for (const ComputationId id : instruction.called) add_repeat(id, 1, list.steps);
      return;
    }
    if (called.collectives > 0) add_within(of, list.of, list.steps, nullptr);
    Cost cost = costs_.of(instruction, computation, flow_.notes);
    if (cost.is_nothing()) return;
    if (starts) {
      list.pending += cost;
      return;
    }
    cost += std::exchange(list.pending, {});
    list.steps.push_back({.kind = FlowStep::Kind::work, .cost = cost});
  }

  Contents called_by_all(const Instruction& instruction) const {
    Contents sum;
    for (const ComputationId id : instruction.called) sum += contents_[id];
    return sum;
  }

  // --- Collectives

  OpId add_op(CollectiveOp op) {
    constexpr std::size_t kMaxOps = 100'000;
    if (flow_.ops.size() == kMaxOps)
      throw exceptions::UserError(
          fmt::format("line {}", op.line),
          fmt::format("more than {} collectives, counted once for each fusion or asynchronous "
                      "instruction that runs them; import a part of the program",
                      kMaxOps));
    if (op.is_ragged)
      ++flow_.notes["ragged-all-to-all: assumed to send its whole operand, an upper bound"];
    flow_.ops.push_back(std::move(op));
    return static_cast<OpId>(flow_.ops.size() - 1);
  }

  static void add_ends(const std::vector<OpId>& ops, std::vector<FlowStep>& steps) {
    for (const OpId op : ops) steps.push_back({.kind = FlowStep::Kind::end, .op = op});
  }

  void begin_own(InstructionId of, List& list) {
    CollectiveOp op = collective_op(module_, list.of, of);
    const bool waits = op.waits;
    const OpId id = add_op(std::move(op));
    list.steps.push_back({.kind = FlowStep::Kind::begin, .op = id});
    // The "-done" of a synchronous collective is ignored.
    if (waits)
      add_ends({id}, list.steps);
    else
      list.open[of] = {id};
  }

  /// Starts an asynchronous computation with collectives or control flow.
  void start(InstructionId of, List& list) {
    const Instruction& instruction = module_.computations[list.of].instructions[of];
    std::vector<OpId> ops;
    add_within(of, list.of, list.steps, &ops);
    for (const ComputationId id : instruction.called) list.pending += totals_[list_of(id)].cost;
    if (json_value(instruction.attribute("backend_config"), "is_sync") == "true")
      add_ends(ops, list.steps);
    else if (!ops.empty())
      list.open[of] = std::move(ops);
  }

  void end(const Instruction& instruction, List& list) {
    if (instruction.operands.empty()) return;
    const Computation& computation = module_.computations[list.of];
    InstructionId from = instruction.operands.front();
    // Updates and tuple elements may lie between a start and its end.
    for (std::size_t i = 0; i < computation.instructions.size() && from != kNoInstruction; ++i) {
      if (const auto found = list.open.find(from); found != list.open.end()) {
        add_ends(found->second, list.steps);
        list.open.erase(found);
        return;
      }
      const Instruction& by = computation.instructions[from];
      const bool passes_on = by.opcode == "get-tuple-element" || by.opcode == "bitcast" ||
                             split(by.opcode).end == AsyncEnd::update;
      if (!passes_on || by.operands.empty()) return;
      from = by.operands.front();
    }
  }

  /// Adds the collectives, without other work, of the computations that an instruction calls. They
  /// end at once, or are added to `started`.
  void add_within(InstructionId of, ComputationId in, std::vector<FlowStep>& steps,
                  std::vector<OpId>* started) {
    const Place outer{in, of};
    for (const ComputationId id : module_.computations[in].instructions[of].called)
      add_collectives(id, outer, steps, started);
  }

  void add_collectives(ComputationId id, const Place& outer, std::vector<FlowStep>& steps,
                       std::vector<OpId>* started) {
    if (contents_[id].collectives == 0) return;
    const std::vector<Instruction>& instructions = module_.computations[id].instructions;
    for (InstructionId of = 0; of < instructions.size(); ++of) {
      const Instruction& instruction = instructions[of];
      if (is_collective(instruction)) {
        const OpId op = add_op(named_after(outer, collective_op(module_, id, of, true)));
        steps.push_back({.kind = FlowStep::Kind::begin, .op = op});
        started != nullptr ? started->push_back(op) : add_ends({op}, steps);
      } else if (instruction.opcode == "conditional") {
        if (const auto branch = taken(instruction)) add_collectives(*branch, outer, steps, started);
      } else if (instruction.opcode == "while") {
        for (const auto& [part, times, is_body] : parts_of(id, instruction)) {
          if (contents_[part].collectives == 0 || times == 0) continue;
          std::vector<FlowStep> body;
          add_collectives(part, outer, body, started);
          steps.push_back(
              {.kind = FlowStep::Kind::repeat, .times = times, .body = finish(std::move(body))});
        }
      } else if (runs_called(instruction)) {
        for (const ComputationId called : instruction.called)
          add_collectives(called, outer, steps, started);
      }
    }
  }

  /// Names a collective after the fusion or asynchronous instruction that runs it.
  CollectiveOp named_after(const Place& outer, CollectiveOp op) const {
    const Computation& computation = module_.computations[outer.first];
    const Instruction& instruction = computation.instructions[outer.second];
    const bool is_only_one = called_by_all(instruction).collectives == 1;
    op.name = is_only_one ? std::string(instruction.name)
                          : fmt::format("{}/{}", instruction.name, op.name);
    op.computation = computation.name;
    op.line = instruction.line;
    op.waits = split(instruction.opcode).end == AsyncEnd::none;
    if (const std::string_view named = op_name(instruction);
        !named.empty() && (is_only_one || op.op_name.empty()))
      op.op_name = named;
    return op;
  }

  // --- Control flow

  std::uint64_t times_of(ComputationId in, const Instruction& loop) const {
    if (const auto named = counts_.by_name.find(std::string(loop.name));
        named != counts_.by_name.end())
      return named->second;
    std::optional<std::uint64_t> times = trip_count(module_, module_.computations[in], loop);
    if (!times) times = counts_.otherwise;
    if (!times)
      throw exceptions::UserError(
          fmt::format("line {}", loop.line),
          fmt::format("unknown trip count of loop '{}'; set it with --trip-count {}=COUNT, or for "
                      "all such loops with --trip-count COUNT",
                      loop.name, loop.name));
    return *times;
  }

  struct LoopPart {
    ComputationId computation = 0;
    std::uint64_t times = 0;
    bool is_body = false;
  };

  /// Condition, which runs once more, and body of a loop.
  std::vector<LoopPart> parts_of(ComputationId in, const Instruction& loop) {
    const std::uint64_t times = times_of(in, loop);
    std::vector<LoopPart> parts;
    if (const auto condition = called_by(loop, "condition", module_))
      parts.push_back({*condition, times + 1, false});
    const auto body = called_by(loop, "body", module_);
    if (body) parts.push_back({*body, times, true});
    if (!body && noted_.insert(&loop).second) ++flow_.notes["loop without a body"];
    if (body && times == 0)
      reasons_.try_emplace(*body, fmt::format("in loop '{}', which runs 0 times", loop.name));
    return parts;
  }

  void add_loop(ComputationId in, const Instruction& loop, std::vector<FlowStep>& steps) {
    for (const auto& [part, times, is_body] : parts_of(in, loop))
      if (is_body || contents_[part].collectives > 0) add_repeat(part, times, steps);
  }

  /// Inlines a list without collectives as repeated work; otherwise adds a repeat.
  void add_repeat(std::optional<ComputationId> id, std::uint64_t times,
                  std::vector<FlowStep>& steps) {
    if (!id || times == 0) return;
    const ListId body = list_of(*id);
    const std::vector<FlowStep>& repeated = flow_.lists[body];
    const bool only_works = std::ranges::all_of(
        repeated, [](const FlowStep& step) { return step.kind == FlowStep::Kind::work; });
    // Nested repeats would otherwise grow without bound.
    constexpr std::size_t kMaxSteps = 100'000;
    if (!only_works || steps.size() + repeated.size() > kMaxSteps) {
      steps.push_back({.kind = FlowStep::Kind::repeat, .times = times, .body = body});
      return;
    }
    for (FlowStep step : repeated) {
      constexpr std::uint64_t kMaxTimes = std::uint64_t{1} << 40;
      step.times = step.times > kMaxTimes / times ? kMaxTimes : step.times * times;
      steps.push_back(step);
    }
  }

  /// The branch of a conditional that is assumed to be taken.
  std::optional<ComputationId> taken(const Instruction& conditional) {
    if (conditional.called.empty()) return std::nullopt;
    const auto size = [&](ComputationId id) {
      const ListTotal& total = totals_[list_of(id)];
      return std::tuple(total.collective_bytes, total.cost.matrix_flops,
                        total.cost.hbm_bytes + total.cost.vector_ops);
    };
    const ComputationId largest = std::ranges::max(conditional.called, {}, size);
    for (const ComputationId id : conditional.called)
      if (id != largest)
        reasons_.try_emplace(id, fmt::format("in a branch of conditional '{}' that is assumed not "
                                             "to be taken",
                                             conditional.name));
    if (noted_.insert(&conditional).second)
      ++flow_.notes["conditional: most expensive branch assumed"];
    return largest;
  }

  const Module& module_;
  const TripCounts& counts_;
  CostModel costs_;
  std::vector<Contents> contents_;                // by computation
  std::vector<std::optional<ListId>> made_;       // by computation
  std::vector<ListTotal> totals_;                 // by list
  std::map<ComputationId, std::string> reasons_;  // why computations are skipped
  std::set<const Instruction*> noted_;
  Flow flow_;
};

}  // namespace

Flow make_flow(const Module& module, const TripCounts& counts, const CustomCalls& calls) {
  return FlowMaker(module, counts, calls).make();
}

}  // namespace equarx::hlo
