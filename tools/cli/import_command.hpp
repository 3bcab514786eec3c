// Reader of HLO programs, for `import` and `advise`.
#pragma once

#include <string>

#include "importers/common/program.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Imports the HLO program `text` of the file `arguments.file` for the machine, mesh, loops and
/// formats of the arguments. @throws input::InputError naming the file or the option
imports::ImportedProgram read_hlo(const ImportArguments& arguments, const std::string& text);

}  // namespace equarx::cli
