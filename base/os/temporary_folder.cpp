#include "base/os/temporary_folder.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace equarx::os {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) throw fs::filesystem_error("no folder for temporary files", "TMPDIR", error);
  std::string path = parent / "equarx-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    throw fs::filesystem_error("cannot be created", path,
                               std::error_code(errno, std::generic_category()));
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace equarx::os
