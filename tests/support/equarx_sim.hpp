// The executable under test, and configurations for it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::testing {

inline CommandResult equarx_sim(std::vector<std::string> arguments,
                                const CommandOptions& options = {}) {
  arguments.insert(arguments.begin(), EQUARX_SIM_PATH);
  return run_command(arguments, options);
}

/// Returns the output of a command that succeeded with nothing on standard error.
inline std::string output_of(const CommandResult& result) {
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.files_left == 0);
  return result.out;
}

/// Checks for a user error: one line on standard error that contains `part`, and no other output.
inline void check_refusal(const CommandResult& result, const std::string& part) {
  constexpr int kWrongInput = 2;
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == kWrongInput);
  CHECK(result.out.empty());
  CHECK(std::ranges::count(result.err, '\n') == 1);
  CHECK(result.err.ends_with('\n'));
  CHECK_THAT(result.err, Catch::Matchers::StartsWith("equarx-sim: error: "));
  CHECK_THAT(result.err, ContainsSubstring(part));
  CHECK(result.files_left == 0);
}

/// The experiment of the README.
inline const std::string kExample =
    std::string(EQUARX_CONFIGS_DIR) + "/experiments/allreduce_v5e_4x2.json";

/// Options that shrink the example.
inline const std::vector<std::string> kSmall = {"--set", "/tensor/bytes=128 KiB", "--set",
                                                "/collectives/1/minishards=1"};

/// Runs `command` on the small example.
inline std::vector<std::string> on_small_example(const std::string& command,
                                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {command, kExample};
  arguments.insert(arguments.end(), kSmall.begin(), kSmall.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace equarx::testing
