// Times of an audit: every remedy is a variant of the step that is simulated.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/step/results.hpp"
#include "importers/common/audit.hpp"
#include "importers/common/program.hpp"

namespace equarx::imports {

/// Findings with their times, largest saving first.
struct AuditResult {
  double step_s = 0.0;  ///< time of the step as imported
  std::vector<AuditFinding> findings;
  std::vector<std::string> notes;  ///< sentences that limit the findings
};

/// Simulates the remedies of a program's findings one by one, and adds findings on exposed time.
/// Drops combinations of small collectives that save less than a tenth of their time.
/// `result`: of the step of the program. `progress` receives a text before each simulation.
AuditResult run_audit(const ImportedProgram& program, const ProgramAudit& audit,
                      const step::StepResult& result,
                      const std::function<void(const std::string&)>& progress);

}  // namespace equarx::imports
