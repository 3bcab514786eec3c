// Reports of imported programs: contents, time of collectives, effect of formats.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/step/results.hpp"
#include "importers/common/program.hpp"

namespace equarx::imports {

/// Contents of a program, without times.
std::string summary_text(const ImportedProgram& program);

/// Table of collectives, longest exposed time first, with isolated and exposed times in the
/// baseline and in each format. `result` is of the step of the program.
std::string to_table(const ImportedProgram& program, const step::StepResult& result);

/// Report with all collectives as JSON (docs/results.md).
input::Json to_json(const ImportedProgram& program, const step::StepResult& result);

}  // namespace equarx::imports
