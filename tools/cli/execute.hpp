// One command of the command line, from its arguments to its exit code.
#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// Runs the command that `arguments`, without the program's name, describe. Prints results on standard output, and
/// errors on standard error. Returns 0, a command's own exit code, 2 for invalid input, or 1 for an internal error.
int execute(std::vector<std::string> arguments);

}  // namespace equarx::cli
