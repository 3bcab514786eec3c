// The executable under test, and configurations for it.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/run_command.hpp"

namespace equarx::testing {

inline CommandResult equarx_sim(std::vector<std::string> arguments,
                                const CommandOptions& options = {}) {
  arguments.insert(arguments.begin(), EQUARX_SIM_PATH);
  return run_command(arguments, options);
}

/// The experiment of the README.
inline const std::string kExample =
    std::string(EQUARX_CONFIGS_DIR) + "/experiments/allreduce_v5e_4x2.json";

/// Makes the example small.
inline const std::vector<std::string> kSmall = {"--set", "/tensor/bytes=128 KiB", "--set",
                                                "/collectives/1/minishards=1"};

/// `command` on the small example.
inline std::vector<std::string> on_small_example(const std::string& command,
                                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {command, kExample};
  arguments.insert(arguments.end(), kSmall.begin(), kSmall.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace equarx::testing
