#include "tools/cli/script_study.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/os/child.hpp"
#include "base/os/program_folder.hpp"
#include "base/output/files.hpp"
#include "base/process/streamed_program.hpp"
#include "experiments/study/script.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/results_folder.hpp"

namespace equarx::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kExitScriptFailed = 1;

void move_aside(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  fs::path aside;
  int number = 1;
  do aside = fmt::format("{}.{}", folder.string(), number++);
  while (fs::exists(aside));
  std::error_code error;
  fs::rename(folder, aside, error);
  if (error)
    throw input::InputError("",
                            fmt::format("cannot move {}: {}", folder.string(), error.message()));
  print_message(fmt::format("equarx-sim: older results moved to {}\n", aside.string()));
}

/// Lets scripts import the Python package of the build tree of this program, if it is there. A folder
/// that PYTHONPATH names already comes first.
void find_package() {
  std::error_code ignored;
  const fs::path folder = os::program_folder() / "python";
  if (!fs::exists(folder / "equarx" / "__init__.py", ignored)) return;
  const char* named = std::getenv("PYTHONPATH");
  const std::string path = named == nullptr || *named == '\0'
                               ? folder.string()
                               : fmt::format("{}:{}", named, folder.string());
  setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

int run_script(const study::StudyScript& script, const fs::path& output, bool fresh,
               std::size_t jobs) {
  if (fresh) move_aside(output);
  output::make_folder(output);
  std::error_code ignored;  // reported when it is read
  fs::remove(output / script.results, ignored);
  find_package();
  const process::ProgramEnd end =
      process::run_streamed(study::script_command(script, output, jobs),
                            [](const std::string& line) { print_message(line + "\n"); });
  if (end.signal != 0) {
    print_message(fmt::format(
        "equarx-sim: stopped by signal {}; run the same command again to continue\n", end.signal));
    return exit_code_of_signal(end.signal);
  }
  if (os::succeeded(end.status)) {
    if (!end.last_message.empty()) print_message(end.last_message + "\n");
    return EXIT_SUCCESS;
  }
  print_message(fmt::format("equarx-sim: the script failed with {}{}{}\n",
                            os::describe_end(end.status), end.last_message.empty() ? "" : ": ",
                            end.last_message));
  return kExitScriptFailed;
}

}  // namespace equarx::cli
