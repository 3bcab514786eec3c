// Audit of collectives whose result needs less communication, or none.
#pragma once

#include <vector>

#include "importers/common/audit.hpp"
#include "importers/hlo/audit_site.hpp"

namespace equarx::hlo {

/// AuditRule::redundant:
///   - groups of one chip,
///   - all-gathers, if every chip uses its own part of the result only,
///   - reductions of constants, or of the result of a collective over the same groups,
///   - likewise all-reduces, which could be reduce-scatters.
std::vector<imports::AuditFinding> audit_redundant(const AuditInput& input);

}  // namespace equarx::hlo
