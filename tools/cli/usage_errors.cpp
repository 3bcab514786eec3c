#include "tools/cli/usage_errors.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "experiments/input/nearest.hpp"

namespace equarx::cli {
namespace {

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The first option that the subcommand has not; the parser complains of what is missing before it does of that.
/// Empty if there is none.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& argument : command.remaining())
    if (argument.starts_with('-')) return argument.substr(0, argument.find('='));
  return {};
}

std::string problem(const CLI::App& command, const CLI::ParseError& error) {
  const std::string unknown = unknown_option(command);
  if (unknown.empty()) return error.what();
  const std::vector<std::string> options = options_of(command);
  const std::vector<std::string_view> names(options.begin(), options.end());
  const auto meant = input::near(unknown, names);
  return fmt::format("'{}' has no option {}{}", command.get_name(), unknown,
                     meant ? fmt::format(" (did you mean {}?)", *meant) : "");
}

}  // namespace

void check_subcommand(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || std::string_view(argv[1]).starts_with('-')) return;
  const std::string_view typed = argv[1];
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::ranges::find(known, typed) != known.end()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw input::InputError(
      "", fmt::format("there is no subcommand '{}'; {}", typed, input::remedy(typed, names)));
}

input::InputError usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto used = app.get_subcommands();
  if (used.empty()) return {"", fmt::format("{}; see 'equarx-sim --help'", error.what())};
  return {"", fmt::format("{}; see 'equarx-sim {} --help'", problem(*used.front(), error),
                          used.front()->get_name())};
}

}  // namespace equarx::cli
