#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "experiments/input/errors.hpp"
#include "models/os/shortage.hpp"
#include "models/tensors/shortened_file.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"
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

/// Files that this program opens must not get the numbers of standard ones that whoever started it has closed: what is
/// said on standard error would go into them. Reading and writing fail as before.
void occupy_standard_files() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF)
      open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// A file that may not grow (`ulimit -f`) is then as a disk that is full: an error of writing, and no end without a word.
void see_limits_of_files_as_errors() { std::signal(SIGXFSZ, SIG_IGN); }

/// The Python package, which starts this program in a session of its own, may be killed without a chance to end it.
void end_with_parent_if_asked() {
  if (std::getenv("EQUARX_SIM_ENDS_WITH_PARENT") != nullptr) prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int complain(int code, const std::string& message) {
  equarx::cli::tell(fmt::format("equarx-sim: error: {}\n", message));
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
  end_with_parent_if_asked();
  occupy_standard_files();
  see_limits_of_files_as_errors();
  keep_freed_memory();
  equarx::tensors::end_in_words_if_shortened();
  try {
    return run(argc, argv);
  } catch (const equarx::input::InputError& error) {
    return complain(kExitWrongInput, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(kExitWrongInput,
                    fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    if (const auto shortage = equarx::os::shortage(error))
      return complain(kExitWrongInput, *shortage);
    return complain(kExitOurFault, error.what());
  }
}
