// Keeps two processes from writing to one folder.
#pragma once

#include <filesystem>

#include "models/os/file_descriptor.hpp"

namespace equarx::output {

/// Holds the folder, by a lock on a file in it, until it is destroyed or its process ends in whatever
/// way. Child processes do not inherit it.
class FolderLock {
 public:
  /// @throws InputError if another process holds the folder, or it cannot be written to.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  os::FileDescriptor file_;
};

}  // namespace equarx::output
