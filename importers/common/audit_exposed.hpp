// Audit of exposed time.
#pragma once

#include <vector>

#include "experiments/step/results.hpp"
#include "importers/common/audit.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::imports {

/// Findings on collectives that are exposed for at least a thousandth of the step, with an upper
/// bound of the saving: their exposed time, or the compute of their computation that could also
/// run meanwhile if that takes less. Isolated and exposed times are not set.
/// @param plain  the step as imported
std::vector<AuditFinding> audit_exposed(const ProgramAudit& audit, const step::VariantResult& plain,
                                        const hardware::Chip& chip);

}  // namespace equarx::imports
