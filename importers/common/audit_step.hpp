// Steps with the remedies of an audit.
#pragma once

#include <vector>

#include "importers/common/audit.hpp"
#include "models/steps/step.hpp"

namespace equarx::imports {

/// The step after all changes. Tasks that waited for a removed one wait for its dependencies, and
/// for a merged one also for the same execution of the collective that carries its data. Changes of
/// groups without tasks have no effect.
steps::StepGraph changed_graph(const steps::StepGraph& graph,
                               const std::vector<AuditChange>& changes);

}  // namespace equarx::imports
