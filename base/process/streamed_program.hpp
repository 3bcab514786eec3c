// Programs whose messages are passed on while they run.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace equarx::process {

/// End of a program.
struct ProgramEnd {
  int status = 0;            ///< as waitpid()
  int signal = 0;            ///< the last one that stopped it; 0: none
  std::string last_message;  ///< last line of its standard error, which was not passed on
};

/// Runs a program, found on PATH, and waits for its end. Its standard output is this process's
/// standard error; message(line) gets the lines of its standard error, without empty ones and the
/// last. SIGINT, SIGTERM and SIGHUP are passed on to it and its children, which are killed if they
/// run `patience` later. It ends with this process.
/// @throws std::system_error if no process can be created
ProgramEnd run_streamed(const std::vector<std::string>& command,
                        const std::function<void(const std::string& line)>& message,
                        std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace equarx::process
