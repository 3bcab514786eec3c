// Place of the running program.
#pragma once

#include <filesystem>
#include <system_error>

namespace equarx::os {

/// Folder of the executable of this process; empty if it is unknown, as without /proc.
inline std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace equarx::os
