// Files that are to be gone when a signal ends the process.
#pragma once

#include <cstddef>

namespace equarx::os {

/// A file that is not finished. While this lives, remove_unfinished_files() removes it.
class UnfinishedFile {
 public:
  /// `name` is kept, not copied: a handler of signals reads it.
  explicit UnfinishedFile(const char* name);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

 private:
  const char* name_;
  std::size_t place_ = 0;  ///< in the list; behind its end if that was full
};

/// May be called by a handler of signals. After it, no file counts as unfinished.
void remove_unfinished_files();

}  // namespace equarx::os
