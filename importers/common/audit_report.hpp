// Audits as text and JSON.
#pragma once

#include <string>

#include "base/input/json_value.hpp"
#include "importers/common/audit_run.hpp"
#include "importers/common/program.hpp"

namespace equarx::imports {

/// All findings with place, bytes, times, reason and remedy, and the rules that ran.
std::string to_text(const AuditResult& audit, const ImportedProgram& program);

/// Value of the key "audit" of `import --json` (docs/results.md).
input::Json to_json(const AuditResult& audit);

}  // namespace equarx::imports
