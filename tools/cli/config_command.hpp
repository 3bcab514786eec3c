// equarx-sim config: files to start from.
#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// Of `equarx-sim config`.
struct ConfigNewArguments {
  std::string action;    ///< "new"
  std::string question;  ///< one of questions()
  std::string output;    ///< path of the file to write; empty: standard output
};

/// What there is a file to start from for, the usual ones first: "collective", "prefill", ...
std::vector<std::string> questions();

/// Writes a configuration with comments. @throws input::InputError for other words, or if the output is there already, which may be
/// somebody's work, or cannot be written.
void new_config(const ConfigNewArguments& arguments);

}  // namespace equarx::cli
