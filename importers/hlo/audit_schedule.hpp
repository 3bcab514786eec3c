// Schedule of collectives: compute that could hide them, and small ones that could be one.
#pragma once

#include <vector>

#include "importers/common/audit.hpp"
#include "importers/hlo/audit_site.hpp"

namespace equarx::hlo {

/// Adds the schedules of all simulated collectives, and the work of their computations.
void audit_schedules(const AuditInput& input, imports::ProgramAudit& audit);

/// Candidates of AuditRule::small: runs of all-reduces, all-gathers or reduce-scatters of a
/// computation over the same groups, if no result is needed before the last begins. Collectives of
/// more than kSmallBytes are left out.
std::vector<imports::AuditFinding> audit_small(const AuditInput& input);

inline constexpr double kSmallBytes = 16.0 * 1024 * 1024;

}  // namespace equarx::hlo
