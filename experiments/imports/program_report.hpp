// What a program of others does, what its collectives take, and what each format brings.
#pragma once

#include <string>

#include "experiments/imports/program.hpp"
#include "experiments/input/object_reader.hpp"
#include "experiments/step/results.hpp"

namespace equarx::imports {

/// What is in a program, without times.
std::string summary_text(const ImportedProgram& program);

/// A row for each collective, those first that are exposed longest: what it takes, alone and exposed, as it is and in
/// each format. `result`: of the program's step.
std::string to_table(const ImportedProgram& program, const step::StepResult& result);

/// The same as JSON, with all collectives (docs/results.md).
input::Json to_json(const ImportedProgram& program, const step::StepResult& result);

}  // namespace equarx::imports
