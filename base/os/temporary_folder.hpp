// Folders for temporary files.
#pragma once

#include <filesystem>

namespace equarx::os {

/// A new empty folder for temporary files, deleted with its contents.
class TemporaryFolder {
 public:
  /// @throws std::filesystem::filesystem_error with its path, or "TMPDIR", if it cannot be created
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace equarx::os
