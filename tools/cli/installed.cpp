#include "tools/cli/installed.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "tools/cli/messages.hpp"

namespace equarx::cli {

namespace fs = std::filesystem;

std::string here_or_installed(const std::string& path) {
  std::error_code ignored;  // whoever reads the file says what is wrong with it
  if (path.empty() || fs::path(path).is_absolute() || fs::exists(path, ignored)) return path;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed =
      (program.parent_path() / EQUARX_DATA_FROM_BIN / path).lexically_normal();
  if (program.empty() || !fs::exists(installed, ignored)) return path;
  tell(
      fmt::format("equarx-sim: note: there is no {} here; reading {}\n", path, installed.string()));
  return installed.string();
}

}  // namespace equarx::cli
