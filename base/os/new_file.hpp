// Atomic creation and replacement of files.
#pragma once

#include <filesystem>
#include <optional>

#include "base/os/file_descriptor.hpp"
#include "base/os/unfinished_files.hpp"

namespace equarx::os {

/// Resolves the symbolic links of `path`; the target need not exist. @throws std::system_error if
/// links form a cycle or cannot be read.
std::filesystem::path resolve_links(std::filesystem::path path);

/// A new file in the directory of `target` that replaces it on put_in_place(). Anonymous until then
/// (O_TMPFILE), so it vanishes with the process however that ends. On file systems without
/// anonymous files it has a hidden temporary name and is registered as an UnfinishedFile for signal
/// handlers.
class NewFile {
 public:
  /// Creates the file. On failure the descriptor is not open and errno is set.
  explicit NewFile(std::filesystem::path target);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Removes the file unless it was put in place.
  ~NewFile();

  const FileDescriptor& descriptor() const { return descriptor_; }
  /// The hidden temporary name; empty while the file is anonymous.
  const std::filesystem::path& temporary() const { return temporary_; }

  /// Renames the file to `target` and closes it. Returns 0, or an errno value, in which case
  /// `target` is unchanged. Atomic with respect to SIGINT, SIGTERM and SIGHUP; only SIGKILL while
  /// replacing an existing file can leave a hidden file.
  int put_in_place();

 private:
  FileDescriptor create();
  FileDescriptor create_named();
  std::filesystem::path hidden_name(unsigned attempt) const;
  int link_name();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::optional<UnfinishedFile> unfinished_;  ///< temporary_
  FileDescriptor descriptor_;
};

}  // namespace equarx::os
