// Reader of HLO programs, for `import` and `advise`.
#pragma once

#include <string>

#include "experiments/step/plan.hpp"
#include "experiments/step/results.hpp"
#include "importers/common/program.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Reads the options shared by programs and profiles. @throws input::InputError naming the option
void read_options(const ImportArguments& arguments, imports::ProgramOptions& options);

/// Plans a step configuration. @throws input::InputError if it is invalid or infeasible
step::StepPlan plan_step(const input::Json& json);

/// Simulates a step, showing progress.
step::StepResult simulate(const step::StepPlan& plan);

/// Imports the HLO program `text` of the file `arguments.file` for the machine, mesh, loops and
/// formats of the arguments. @throws input::InputError naming the file or the option
imports::ImportedProgram read_hlo(const ImportArguments& arguments, std::string text);

}  // namespace equarx::cli
