#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include "experiments/input/errors.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/usage_errors.hpp"

namespace {

constexpr int kExitOurFault = 1;
constexpr int kExitWrongInput = 2;

/// Large buffers come and go, lane by lane and trial by trial. By default the C library gives each back to the
/// system at once, and asks for the next: that took a quarter of the time of a tuning.
void keep_freed_memory() {
  constexpr int kMost = 256 << 20;  // bytes that stay with the process
  mallopt(M_TRIM_THRESHOLD, kMost);
  mallopt(M_MMAP_THRESHOLD, kMost);
}

int complain(int code, const std::string& message) {
  fmt::print(stderr, "equarx-sim: error: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  using namespace equarx;
  int exit_code = EXIT_SUCCESS;
  const auto app = cli::make_app(exit_code);
  cli::check_subcommand(*app, argc, argv);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != EXIT_SUCCESS) throw cli::usage_error(*app, error);
    std::ostringstream text;  // of --help or --version
    app->exit(error, text, text);
    cli::print(text.str());
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  try {
    return run(argc, argv);
  } catch (const equarx::input::InputError& error) {
    return complain(kExitWrongInput, error.what());
  } catch (const std::exception& error) {
    return complain(kExitOurFault, error.what());
  }
}
