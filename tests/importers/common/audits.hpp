// Audits of HLO modules, simulated on eight chips.
#pragma once

#include <string>

#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/common/audit_run.hpp"
#include "importers/hlo/import.hpp"

namespace equarx::testing {

/// A program, its simulated step and its audit.
struct Audited {
  imports::ImportedProgram program;
  step::StepResult result;
  imports::AuditResult audit;
};

inline Audited audited(const std::string& text) {
  imports::HloOptions options;
  options.topology = "ring:8";
  options.audit = true;
  Audited made{.program = imports::import_hlo(text, options), .result = {}, .audit = {}};
  const auto silent = [](const std::string&) {};
  made.result =
      step::run_step(step::make_plan(config::read_step_config(made.program.step)), silent);
  made.audit = imports::run_audit(made.program, made.program.audit.value(), made.result, silent);
  return made;
}

/// A module of a gather of widened bf16 (64 MiB in f32) and compute that does not need it.
inline std::string wide_gather(const std::string& end = "negate(%g)") {
  return "HloModule wide, is_scheduled=true, num_partitions=8\n"
         "ENTRY %main (p: bf16[2097152], q: f32[4194304]) -> f32[16777216] {\n"
         "  %p = bf16[2097152] parameter(0)\n  %q = f32[4194304] parameter(1)\n"
         "  %c = f32[2097152] convert(%p)\n"
         "  %g = f32[16777216] all-gather(%c), channel_id=1, "
         "replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={0}, "
         "metadata={op_name=\"jit(f)/gather\" source_file=\"f.py\" source_line=3}\n"
         "  %n = f32[4194304] negate(%q)\n"
         "  ROOT %r = f32[16777216] " +
         end + "\n}\n";
}

}  // namespace equarx::testing
