#include "importers/hlo/audit_schedule.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/os/printable.hpp"
#include "importers/hlo/cost.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

using imports::AuditChange;
using imports::AuditedSchedule;
using imports::AuditFinding;
using imports::AuditRule;

// --- Overlap

/// Operations of a computation, and their instructions.
struct Work {
  std::vector<workloads::Operation> operations;
  std::vector<InstructionId> instructions;
};

Work work_of(const Computation& computation, CostModel& costs) {
  Work work;
  Skipped notes;  // counted by the flow
  for (InstructionId id = 0; id < computation.instructions.size(); ++id) {
    const Cost cost = costs.of(computation.instructions[id], computation, notes);
    if (!cost.uses_core()) continue;
    work.instructions.push_back(id);
    work.operations.push_back(operation_of(cost));
  }
  return work;
}

/// Marks the instructions that feed `from`, or need its result.
std::vector<bool> related(const AuditInput& input, const Value& from) {
  const Computation& in = input.module.computations[from.computation];
  std::vector<bool> marks(in.instructions.size(), false);
  for (const bool forward : {false, true}) {
    std::vector<InstructionId> pending = {from.instruction};
    std::vector<bool> seen(in.instructions.size(), false);
    while (!pending.empty()) {
      const InstructionId at = pending.back();
      pending.pop_back();
      if (at == kNoInstruction || seen[at]) continue;
      seen[at] = marks[at] = true;
      const auto& next =
          forward ? input.values.users_of(from.computation, at) : in.instructions[at].operands;
      pending.insert(pending.end(), next.begin(), next.end());
    }
  }
  return marks;
}

/// Instruction that completes an asynchronous collective; the last of its computation if none does.
InstructionId end_of(const AuditInput& input, const Value& start) {
  const Computation& in = input.module.computations[start.computation];
  std::vector<InstructionId> names = {start.instruction};
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const InstructionId user : input.values.users_of(start.computation, names[i])) {
      const SplitOpcode opcode = split(in.instructions[user].opcode);
      if (opcode.end == AsyncEnd::done) return user;
      const bool passes_on = opcode.end == AsyncEnd::update || opcode.base == "bitcast" ||
                             opcode.base == "get-tuple-element";
      if (passes_on) names.push_back(user);
    }
  return static_cast<InstructionId>(in.instructions.size() - 1);
}

AuditedSchedule schedule_of(const AuditInput& input, const AuditSite& site, const Work& work) {
  const AuditFinding about = input.finding(site, AuditRule::exposed);
  AuditedSchedule schedule{.group = site.collective->group,
                           .computation = input.module.computations[site.outer.computation].name,
                           .kind = about.kind,
                           .type = about.type,
                           .op_name = about.op_name,
                           .place = about.place,
                           .bytes = site.op->bytes,
                           .times = site.times,
                           .waits = site.op->waits};
  const std::vector<bool> is_related = related(input, site.outer);
  const InstructionId end = site.op->waits ? site.outer.instruction : end_of(input, site.outer);
  const auto position = [&](InstructionId id) {
    return static_cast<std::size_t>(std::ranges::lower_bound(work.instructions, id) -
                                    work.instructions.begin());
  };
  schedule.first_between = position(site.outer.instruction + 1);
  schedule.end_between = std::max(schedule.first_between, position(end));
  for (const InstructionId id : work.instructions) schedule.independent.push_back(!is_related[id]);
  return schedule;
}

// --- Combination

/// Collectives that XLA's combiners may merge.
using RunKey = std::tuple<CollectiveKind, DeviceGroups, std::string, std::string>;

struct Run {
  std::vector<const AuditSite*> sites;
  std::set<InstructionId> names;  ///< their results, renamed
};

bool is_combinable(const AuditSite& site) {
  const CollectiveKind kind = site.op->kind;
  return site.is_simulated() && site.op->bytes <= kSmallBytes &&
         (kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
          kind == CollectiveKind::reduce_scatter);
}

std::string combine_remedy(CollectiveKind kind, Backend backend) {
  const std::string gpu = fmt::format("--xla_gpu_{}_combine_threshold_bytes (XLA_FLAGS)",
                                      kind == CollectiveKind::all_reduce   ? "all_reduce"
                                      : kind == CollectiveKind::all_gather ? "all_gather"
                                                                           : "reduce_scatter");
  const std::string by_hand = "Concatenate the operands and run one collective";
  if (backend == Backend::gpu) return fmt::format("Raise {}. Or: {}.", gpu, by_hand);
  const std::string tpu = kind == CollectiveKind::all_reduce
                              ? ", on TPUs --xla_jf_crs_combiner_threshold_in_bytes "
                                "(LIBTPU_INIT_ARGS)"
                              : "";
  return fmt::format("{}; or raise the combiner's threshold: on GPUs {}{}.", by_hand, gpu, tpu);
}

/// Finds runs in the order of a computation.
class Runs {
 public:
  Runs(const AuditInput& input, std::vector<AuditFinding>& findings)
      : input_(input), findings_(findings) {}

  void add(const Instruction& instruction, InstructionId id, const AuditSite* site) {
    const SplitOpcode opcode = split(instruction.opcode);
    const bool renames = opcode.base == "get-tuple-element" || opcode.base == "bitcast";
    for (auto& [key, of_key] : runs_) {
      Run& run = of_key;
      const bool uses = std::ranges::any_of(
          instruction.operands, [&](InstructionId of) { return run.names.contains(of); });
      if (!uses) continue;
      renames ? static_cast<void>(run.names.insert(id)) : close(run);
    }
    if (site == nullptr || !is_combinable(*site)) return;
    Run& run = runs_[{site->op->kind, site->op->groups, site->op->type, site->op->combines}];
    run.sites.push_back(site);
    run.names.insert(id);
  }

  void close_all() {
    for (auto& [key, run] : runs_) close(run);
    runs_.clear();
  }

 private:
  void close(Run& run) {
    const Run done = std::exchange(run, {});
    if (done.sites.size() < 2) return;
    const AuditSite& last = *done.sites.back();
    AuditFinding finding = input_.finding(*done.sites.front(), AuditRule::small);
    finding.ops.clear();
    double bytes = 0.0;
    for (const AuditSite* site : done.sites) {
      finding.ops.push_back({site->collective->group, site->op->bytes, site->times});
      bytes += site->op->bytes;
    }
    for (const AuditSite* site : done.sites)
      if (site != &last)
        finding.changes.push_back({.kind = AuditChange::Kind::merge,
                                   .group = site->collective->group,
                                   .bytes = bytes,
                                   .dtype = last.collective->call.dtype,
                                   .into = last.collective->group});
    finding.why =
        "They run over the same groups one after the other, none needs the result of another, and "
        "each pays its own start and hops.";
    finding.remedy = combine_remedy(last.op->kind, input_.backend);
    findings_.push_back(std::move(finding));
  }

  const AuditInput& input_;
  std::vector<AuditFinding>& findings_;
  std::map<RunKey, Run> runs_;
};

}  // namespace

void audit_schedules(const AuditInput& input, imports::ProgramAudit& audit) {
  std::map<ComputationId, Work> work;
  CostModel costs(input.module);
  for (const AuditSite& site : input.sites) {
    if (!site.is_simulated()) continue;
    const Computation& computation = input.module.computations[site.outer.computation];
    const auto [at, is_new] = work.try_emplace(site.outer.computation);
    if (is_new) at->second = work_of(computation, costs);
    audit.schedules.push_back(schedule_of(input, site, at->second));
  }
  for (auto& [id, of] : work)
    audit.work[input.module.computations[id].name] = std::move(of.operations);
}

std::vector<AuditFinding> audit_small(const AuditInput& input) {
  std::vector<AuditFinding> findings;
  std::map<ComputationId, std::map<InstructionId, const AuditSite*>> sites;
  for (const AuditSite& site : input.sites)
    sites[site.outer.computation][site.outer.instruction] = &site;
  for (const auto& [computation, at] : sites) {
    Runs runs(input, findings);
    const std::vector<Instruction>& instructions =
        input.module.computations[computation].instructions;
    for (InstructionId id = 0; id < instructions.size(); ++id) {
      const auto site = at.find(id);
      runs.add(instructions[id], id, site == at.end() ? nullptr : site->second);
    }
    runs.close_all();
  }
  return findings;
}

}  // namespace equarx::hlo
