// Files that are installed with the program: configurations, studies and examples.
#pragma once

#include <string>

namespace equarx::cli {

/// The path itself, if there is such a file or folder or if it is absolute; else that of the file which is installed
/// under this name, like configs/experiments/allreduce_v5e_4x2.json, with a note on standard error. The path itself
/// if there is none either.
std::string here_or_installed(const std::string& path);

}  // namespace equarx::cli
