// Prevents two processes from writing to the same folder.
#pragma once

#include <filesystem>

#include "base/os/file_descriptor.hpp"

namespace equarx::output {

/// Holds a lock file in the folder until it is destroyed or its process ends in any way. Child
/// processes do not inherit it.
class FolderLock {
 public:
  /// @throws InputError if another process holds the lock, or the folder is not writable.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  os::FileDescriptor file_;
};

}  // namespace equarx::output
