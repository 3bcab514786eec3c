#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"

namespace {

constexpr int kExitOurFault = 1;
constexpr int kExitWrongInput = 2;

void add_sweep(CLI::App& command, equarx::cli::SweepArguments& arguments) {
  command
      .add_option("SWEEP", arguments.file,
                  "Configuration and axes (configs/schema/sweep.schema.json)")
      ->type_name("FILE")
      ->required();
  command
      .add_option(
          "--output,-o", arguments.output,
          "Folder for results.jsonl and results.csv; by default results/<name of the sweep>, "
          "and with --shard a folder in it")
      ->type_name("FOLDER");
  command
      .add_option("--jobs,-j", arguments.jobs,
                  "Points that are computed side by side; by default as many as there are cores")
      ->type_name("COUNT")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--shard", arguments.shard,
                  "Compute only the i-th of n parts; their results.jsonl merge by concatenation")
      ->type_name("I/N");
  command.add_flag("--retry", arguments.retry, "Compute points again that failed");
  command.add_flag("--fresh", arguments.fresh,
                   "Move older results in the folder aside, and begin anew");
  command.add_flag("--yes", arguments.yes, "Run even more than 100,000 points");
  command.add_flag("--dry-run", arguments.dry_run,
                   "Say how many points there are, and how many are missing; compute nothing");
}

int complain(int code, const std::string& message) {
  fmt::print(stderr, "equarx-sim: error: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  using namespace equarx;
  int exit_code = EXIT_SUCCESS;
  const auto app = cli::make_app(exit_code);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != EXIT_SUCCESS)
      throw experiments::InputError("", fmt::format("{}; see 'equarx-sim --help'", error.what()));
    std::ostringstream text;  // of --help or --version
    app->exit(error, text, text);
    cli::print(text.str());
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const equarx::experiments::InputError& error) {
    return complain(kExitWrongInput, error.what());
  } catch (const std::exception& error) {
    return complain(kExitOurFault, error.what());
  }
}
