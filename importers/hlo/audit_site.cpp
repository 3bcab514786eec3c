#include "importers/hlo/audit_site.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/os/printable.hpp"
#include "importers/hlo/flow_totals.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

/// The collective at or within an instruction. An all-reduce may be reported as a reduce-scatter.
std::optional<Value> collective_in(const Module& module, const Value& at, CollectiveKind kind,
                                   std::set<ComputationId>& seen) {
  const Instruction& by = module.computations[at.computation].instructions[at.instruction];
  const std::optional<CollectiveKind> of = collective_kind(split(by.opcode).base);
  const bool scatters = of == CollectiveKind::all_reduce && kind == CollectiveKind::reduce_scatter;
  if (of == kind || scatters) return at;
  if (of) return std::nullopt;
  for (const ComputationId id : by.called) {
    if (!seen.insert(id).second) continue;
    for (InstructionId inner = 0; inner < module.computations[id].instructions.size(); ++inner)
      if (const auto found = collective_in(module, {id, inner}, kind, seen)) return found;
  }
  return std::nullopt;
}

/// Instruction of a loop body, branch or the entry that runs an instruction.
Value outermost(const Values& values, Value at) {
  while (const std::optional<Value> caller = values.caller(at.computation)) {
    const std::string_view base = split(values.instruction(*caller).opcode).base;
    if (base != "fusion" && base != "async") break;
    at = *caller;
  }
  return at;
}

}  // namespace

Backend backend_of(const Module& module) {
  if (is_for_gpu(module)) return Backend::gpu;
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions) {
      const std::string_view config = instruction.attribute("backend_config");
      if (config.find("outer_dimension_partitions") != std::string_view::npos ||
          instruction.attribute("custom_call_target").starts_with("__onednn"))
        return Backend::cpu;
    }
  return Backend::tpu_or_unknown;
}

Value AuditInput::result(const AuditSite& site, std::size_t number) const {
  const bool is_tuple = instruction(site).operands.size() > 1;
  return {site.inner.computation, site.inner.instruction,
          is_tuple ? std::optional(number) : std::nullopt};
}

std::size_t AuditInput::operands(const AuditSite& site) const {
  const std::size_t count = instruction(site).operands.size();
  return site.op->is_ragged ? std::min<std::size_t>(count, 1) : count;
}

double AuditInput::bytes(const AuditSite& site, std::size_t number) const {
  double all = 0.0;
  double part = 0.0;
  for (std::size_t i = 0; i < operands(site); ++i) {
    const std::optional<Value> from = values.operand(site.inner, i);
    const double bytes = from ? values.shape(*from).bytes() : 0.0;
    all += bytes;
    if (i == number) part = bytes;
  }
  return all > 0.0 ? site.op->bytes * part / all : 0.0;
}

imports::AuditFinding AuditInput::finding(const AuditSite& site, imports::AuditRule rule) const {
  return {.rule = rule,
          .ops = {{site.collective->group, site.op->bytes, site.times}},
          .kind = std::string(name(site.op->kind)),
          .type = site.op->type,
          .op_name = os::printable(site.op->op_name),
          .place = os::printable(places.of(instruction(site))),
          .why = {},
          .remedy = {}};
}

AuditInput audit_input(const Module& module, const Flow& flow,
                       const std::vector<steps::ImportedCollective>& collectives,
                       std::string_view text) {
  AuditInput input{.module = module,
                   .values = Values(module),
                   .places = Places(text),
                   .backend = backend_of(module),
                   .sites = {},
                   .unknown = 0};
  std::map<std::pair<std::string_view, std::string_view>, Value> by_name;
  for (ComputationId id = 0; id < module.computations.size(); ++id)
    for (InstructionId of = 0; of < module.computations[id].instructions.size(); ++of)
      by_name.emplace(
          std::pair<std::string_view, std::string_view>(
              module.computations[id].name, module.computations[id].instructions[of].name),
          Value{id, of});
  const std::vector<double> times = totals_of(flow).times;
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    const CollectiveOp& op = flow.ops[i];
    const auto at = by_name.find({op.computation, op.name});
    if (times[i] <= 0.0) continue;
    std::set<ComputationId> seen;
    const std::optional<Value> inner =
        at == by_name.end() ? std::nullopt : collective_in(module, at->second, op.kind, seen);
    if (!inner) {
      ++input.unknown;
      continue;
    }
    input.sites.push_back({.op = &op,
                           .collective = &collectives[i],
                           .times = times[i],
                           .outer = outermost(input.values, at->second),
                           .inner = *inner});
  }
  return input;
}

bool same_groups(const CollectiveOp& a, const CollectiveOp& b) {
  if (a.groups == b.groups) return !a.groups.empty();
  DeviceGroups first = a.groups;
  DeviceGroups second = b.groups;
  for (DeviceGroups* groups : {&first, &second}) {
    for (auto& group : *groups) std::ranges::sort(group);
    std::ranges::sort(*groups);
  }
  return first == second && !first.empty();
}

}  // namespace equarx::hlo
