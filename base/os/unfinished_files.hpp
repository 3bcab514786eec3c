// Registry of temporary files to remove when a signal terminates the process.
#pragma once

#include <cstddef>

namespace equarx::os {

/// Registers an unfinished file for removal by remove_unfinished_files() during its lifetime.
class UnfinishedFile {
 public:
  /// Stores the pointer, not a copy, because a signal handler reads it; `name` must outlive the
  /// object.
  explicit UnfinishedFile(const char* name);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

 private:
  const char* name_;
  std::size_t place_ = 0;  ///< slot in the registry; past its end if it was full
};

/// Removes all registered files and clears the registry. Async-signal-safe.
void remove_unfinished_files();

}  // namespace equarx::os
