// The command line as a function of the page's module.
#include <cstdlib>
#include <string>
#include <vector>

#include <emscripten/emscripten.h>

#include "tools/cli/execute.hpp"

/// Runs a command; page/engine calls it by Module.command() (module.js). Files are in the module's memory. Returns the
/// exit code (tools/cli/execute.hpp).
extern "C" EMSCRIPTEN_KEEPALIVE int equarx_command(int count, const char* const* arguments) {
  setenv("EQUARX_PROGRESS", "lines", 1);  // progress on standard error, half a second apart
  return equarx::cli::execute(std::vector<std::string>(arguments, arguments + count));
}
