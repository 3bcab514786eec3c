// `advise --gates`.
#pragma once

#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Prints the gates of each requested machine. @throws input::InputError for options that do not
/// apply, and if no machine has any
void print_gates(const AdviseArguments& arguments);

}  // namespace equarx::cli
