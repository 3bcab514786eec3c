#include "importers/hlo/audit_redundant.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

using imports::AuditChange;
using imports::AuditFinding;
using imports::AuditRule;

bool is_position(const Instruction& instruction) {
  return instruction.opcode == "partition-id" || instruction.opcode == "replica-id";
}

/// True if all uses of a value, after casts, are slices of `elements` elements at a position of the
/// chip.
bool is_own_part(const AuditInput& input, const Value& value, double elements) {
  const Values& values = input.values;
  constexpr std::size_t kMaxVisits = 10'000;
  std::vector<Value> pending = {value};
  for (std::size_t visit = 0; !pending.empty(); ++visit) {
    const Uses uses = values.uses(pending.back());
    pending.pop_back();
    if (uses.escapes || uses.users.empty() || visit == kMaxVisits) return false;
    for (std::size_t i = 0; i < uses.users.size(); ++i) {
      const Value& user = uses.users[i];
      const Instruction& by = values.instruction(user);
      if (by.opcode == "convert") {
        pending.push_back(user);
        continue;
      }
      if (by.opcode != "dynamic-slice" || by.shape.elements() > elements) return false;
      bool is_at_position = false;
      for (std::size_t index = 1; index < by.operands.size(); ++index)
        if (const auto at = values.operand(user, index))
          is_at_position = is_at_position || values.depends_on(*at, [&](const Value& from) {
            return is_position(values.instruction(from));
          });
      if (!is_at_position) return false;
    }
  }
  return true;
}

/// True if a value is computed from constants alone.
bool is_constant(const AuditInput& input, const Value& value) {
  constexpr std::array<std::string_view, 12> kSources = {"while",
                                                         "conditional",
                                                         "custom-call",
                                                         "rng",
                                                         "rng-bit-generator",
                                                         "rng-get-and-update-state",
                                                         "infeed",
                                                         "recv",
                                                         "partition-id",
                                                         "replica-id",
                                                         "outfeed",
                                                         "send"};
  const Values& values = input.values;
  return !values.depends_on(value, [&](const Value& from) {
    const std::string_view base = split(values.instruction(from).opcode).base;
    return std::ranges::find(kSources, base) != kSources.end() || collective_kind(base) ||
           class_of(base) == OpClass::unknown || (base == "parameter" && !values.before(from));
  });
}

/// The collective that a value is the result of; nullptr if it is computed otherwise.
const AuditSite* result_of(const AuditInput& input, const Value& value) {
  Value source = input.values.source(value);
  while (split(input.values.instruction(source).opcode).end == AsyncEnd::done) {
    const std::optional<Value> start = input.values.operand(source, 0);
    if (!start) return nullptr;
    source = input.values.source(*start);
  }
  const auto site = std::ranges::find_if(input.sites, [&](const AuditSite& of) {
    return of.inner.computation == source.computation && of.inner.instruction == source.instruction;
  });
  return site == input.sites.end() ? nullptr : &*site;
}

bool reduces(const CollectiveOp& op) { return op.kind == CollectiveKind::all_reduce; }

/// Reason and remedy for a reduction of equal values; empty if they may differ.
std::pair<std::string, std::string> equal_inputs(const AuditInput& input, const AuditSite& site) {
  const CollectiveOp& op = *site.op;
  const std::optional<Value> from = input.values.operand(site.inner, 0);
  if (!reduces(op) || input.operands(site) != 1 || !from) return {};
  const std::string known = op.adds ? fmt::format("multiply by {}", site.chips()) : "drop it";
  if (is_constant(input, *from))
    return {"It reduces a constant, which all chips have.",
            fmt::format("Compute the result without it: {}.", known)};
  const AuditSite* before = result_of(input, *from);
  const bool is_equal = before != nullptr && same_groups(*before->op, op) &&
                        (before->op->kind == CollectiveKind::all_reduce ||
                         before->op->kind == CollectiveKind::all_gather);
  if (!is_equal) return {};
  return {
      "It reduces the result of a collective over the same groups, which is equal on all chips.",
      fmt::format("Compute the result without it: {}.", known)};
}

bool is_scatter(const AuditInput& input, const AuditSite& site) {
  const auto chips = static_cast<double>(site.chips());
  if (!reduces(*site.op) || site.chips() < 2) return false;
  for (std::size_t i = 0; i < input.operands(site); ++i) {
    const std::optional<Value> from = input.values.operand(site.inner, i);
    if (!from) return false;
    const double elements = input.values.shape(*from).elements();
    if (elements < chips || !is_own_part(input, input.result(site, i), elements / chips))
      return false;
  }
  return input.operands(site) > 0;
}

bool is_unused_gather(const AuditInput& input, const AuditSite& site) {
  if (site.op->kind != CollectiveKind::all_gather || site.chips() < 2) return false;
  for (std::size_t i = 0; i < input.operands(site); ++i) {
    const std::optional<Value> from = input.values.operand(site.inner, i);
    if (!from || !is_own_part(input, input.result(site, i), input.values.shape(*from).elements()))
      return false;
  }
  return input.operands(site) > 0;
}

AuditFinding without(const AuditInput& input, const AuditSite& site, std::string why,
                     std::string remedy) {
  AuditFinding finding = input.finding(site, AuditRule::redundant);
  finding.why = std::move(why);
  finding.remedy = std::move(remedy);
  if (site.chips() > 1) finding.excess_bytes = site.op->bytes * site.times;
  if (site.is_simulated())
    finding.changes.push_back({.kind = AuditChange::Kind::remove, .group = site.collective->group});
  return finding;
}

AuditFinding as_scatter(const AuditInput& input, const AuditSite& site) {
  AuditFinding finding = input.finding(site, AuditRule::redundant);
  finding.why = "Every chip uses its own part of the result only: it needs a reduce-scatter.";
  finding.remedy =
      "Use psum_scatter instead of psum; under jit give the result the sharding of the part "
      "(with_sharding_constraint). XLA's TPU and GPU backends convert some such pairs themselves, "
      "its CPU backend does not.";
  // An all-reduce moves the bytes of a reduce-scatter and of an all-gather.
  finding.excess_bytes = site.op->bytes * site.times / 2.0;
  if (site.is_simulated())
    finding.changes.push_back(
        {.kind = AuditChange::Kind::scatter, .group = site.collective->group});
  return finding;
}

}  // namespace

std::vector<AuditFinding> audit_redundant(const AuditInput& input) {
  std::vector<AuditFinding> findings;
  for (const AuditSite& site : input.sites) {
    if (site.chips() == 1) {
      findings.push_back(
          without(input, site, "Its groups have one chip each.",
                  "Drop the mesh axis of length 1 from it; it costs a kernel at most."));
      continue;
    }
    if (is_unused_gather(input, site))
      findings.push_back(without(input, site, "Every chip slices its own part out of the result.",
                                 "Use the part before the gather; a sharding constraint on the "
                                 "result keeps XLA from gathering."));
    if (is_scatter(input, site)) findings.push_back(as_scatter(input, site));
    auto [why, remedy] = equal_inputs(input, site);
    if (!why.empty()) findings.push_back(without(input, site, std::move(why), std::move(remedy)));
  }
  return findings;
}

}  // namespace equarx::hlo
