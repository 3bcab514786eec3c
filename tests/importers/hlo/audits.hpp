// Audits of small HLO modules on eight chips.
#pragma once

#include <string>
#include <vector>

#include "importers/hlo/import.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::testing {

/// Imports a module for eight fully connected chips, with its audit.
inline imports::ImportedProgram audited_program(const std::string& text) {
  imports::HloOptions options;
  options.topology = "fully-connected:8";
  options.audit = true;
  return imports::import_hlo(text, options);
}

/// Findings of one rule about a module with these lines in its entry; `before`: other computations.
inline std::vector<imports::AuditFinding> findings_of(imports::AuditRule rule,
                                                      const std::string& lines,
                                                      const std::string& before = "") {
  std::vector<imports::AuditFinding> found;
  const imports::ImportedProgram program = audited_program(hlo_text(lines, before));
  for (const imports::AuditFinding& finding : program.audit.value().findings)
    if (finding.rule == rule) found.push_back(finding);
  return found;
}

/// Attributes of a collective over all eight chips.
inline const std::string kAllChips =
    ", channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true";

}  // namespace equarx::testing
