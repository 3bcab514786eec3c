// Collectives of a flow at their instructions.
#pragma once

#include <string>
#include <vector>

#include "importers/common/audit.hpp"
#include "importers/common/imported_collective.hpp"
#include "importers/hlo/audit_place.hpp"
#include "importers/hlo/audit_values.hpp"
#include "importers/hlo/flow.hpp"

namespace equarx::hlo {

/// Backend that a module was compiled for.
enum class Backend : std::uint8_t { tpu_or_unknown, gpu, cpu };

/// @note A module of a CPU has the attributes of its fusions or library calls.
Backend backend_of(const Module& module);

/// A collective of a flow that runs at least once.
struct AuditSite {
  const CollectiveOp* op = nullptr;
  const steps::ImportedCollective* collective = nullptr;
  double times = 0.0;  ///< executions per step
  Value outer;         ///< instruction of its computation: itself, a fusion or async-start
  Value inner;         ///< the collective, or its "-start"

  std::size_t chips() const { return op->groups.empty() ? 0 : op->groups.front().size(); }
  bool is_simulated() const { return collective->skip_reason.empty(); }
};

/// Everything that the rules read.
struct AuditInput {
  const Module& module;
  Values values;
  Places places;
  Backend backend = Backend::tpu_or_unknown;
  std::vector<AuditSite> sites;  ///< in order of the flow
  std::size_t unknown = 0;       ///< collectives whose instruction was not found

  const Instruction& instruction(const AuditSite& site) const {
    return values.instruction(site.inner);
  }
  /// Result `number` of a collective with one result for each operand.
  Value result(const AuditSite& site, std::size_t number) const;
  /// Operands with data: the first one only for a ragged-all-to-all.
  std::size_t operands(const AuditSite& site) const;
  /// Bytes of operand `number`, in the units of CollectiveOp::bytes.
  double bytes(const AuditSite& site, std::size_t number) const;
  /// A finding about one collective, without reason and remedy.
  imports::AuditFinding finding(const AuditSite& site, imports::AuditRule rule) const;
};

/// @param collectives  by hlo::OpId
/// @param text         of the module
AuditInput audit_input(const Module& module, const Flow& flow,
                       const std::vector<steps::ImportedCollective>& collectives,
                       std::string_view text);

/// True if two collectives run within the same groups of chips.
bool same_groups(const CollectiveOp& a, const CollectiveOp& b);

}  // namespace equarx::hlo
