#include "tools/cli/execute.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/nearest.hpp"
#include "base/os/shortage.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

// --- Errors in the command line

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The first unknown option; the parser reports missing arguments before unknown options. Empty if
/// none.
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

/// "help run" becomes "run --help".
std::vector<std::string> with_help_option(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

/// Checks the first argument before parsing. @throws InputError if it is neither an option nor a
/// subcommand
void check_subcommand(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return;
  const std::string& typed = arguments.front();
  std::vector<std::string> listed;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == typed) return;
    if (!command->get_group().empty()) listed.push_back(command->get_name());  // not hidden
  }
  const std::vector<std::string_view> names(listed.begin(), listed.end());
  throw input::InputError(
      "", fmt::format("unknown subcommand '{}'; {}", typed, input::remedy(typed, names)));
}

/// Converts a parse error, pointing to the help of the subcommand.
input::InputError usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto used = app.get_subcommands();
  if (used.empty()) return {"", fmt::format("{}; see 'equarx-sim --help'", error.what())};
  return {"", fmt::format("{}; see 'equarx-sim {} --help'", problem(*used.front(), error),
                          used.front()->get_name())};
}

constexpr int kExitInternalError = 1;
constexpr int kExitInvalidInput = 2;

int report_error(int code, const std::string& message) {
  print_message(fmt::format("equarx-sim: error: {}\n", message));
  return code;
}

int run(std::vector<std::string> arguments) {
  int exit_code = EXIT_SUCCESS;
  const auto app = make_app(exit_code);
  arguments = with_help_option(std::move(arguments));
  check_subcommand(*app, arguments);
  try {
    std::ranges::reverse(arguments);  // as the parser requires
    app->parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != EXIT_SUCCESS) throw usage_error(*app, error);
    std::ostringstream text;  // of --help or --version
    app->exit(error, text, text);
    print(text.str());
  }
  return exit_code;
}

}  // namespace

int execute(std::vector<std::string> arguments) {
  try {
    return run(std::move(arguments));
  } catch (const input::UserError& error) {
    return report_error(kExitInvalidInput, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return report_error(kExitInvalidInput,
                        fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    if (const auto shortage = os::shortage(error))
      return report_error(kExitInvalidInput, *shortage);
    return report_error(kExitInternalError, error.what());
  }
}

}  // namespace equarx::cli
