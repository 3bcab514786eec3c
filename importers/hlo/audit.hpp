// Audit of an HLO program.
#pragma once

#include <string_view>
#include <vector>

#include "importers/common/audit.hpp"
#include "importers/common/imported_collective.hpp"
#include "importers/hlo/flow.hpp"

namespace equarx::hlo {

/// Applies all rules to the collectives that run.
/// @param collectives  how each is simulated, by hlo::OpId
/// @param text         of the module
imports::ProgramAudit audit(const Module& module, const Flow& flow,
                            const std::vector<steps::ImportedCollective>& collectives,
                            std::string_view text);

}  // namespace equarx::hlo
