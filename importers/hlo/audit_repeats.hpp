// Audit of values that are gathered more than once.
#pragma once

#include <vector>

#include "importers/common/audit.hpp"
#include "importers/hlo/audit_site.hpp"

namespace equarx::hlo {

/// All-gathers along the same groups (AuditRule::gathered_twice)
///   - of a value that an earlier one gathered, whatever their types and layouts,
///   - of a value from outside the loop that runs them, from the second iteration on,
///   - of the layers of a stacked array, if an earlier loop gathered all of them,
///   - of a second quantization of the same value: the planes of an FP8 weight.
std::vector<imports::AuditFinding> audit_repeats(const AuditInput& input);

}  // namespace equarx::hlo
