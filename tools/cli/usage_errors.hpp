// What is wrong with a command line, in the words of whoever typed it.
#pragma once

#include "experiments/input/errors.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace equarx::cli {

/// Looks at the first argument before the command line is parsed. @throws InputError if it is neither an option nor
/// a subcommand
void check_subcommand(const CLI::App& app, int argc, const char* const* argv);

/// What the parser found wrong, with the help of the subcommand that was used.
input::InputError usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace equarx::cli
