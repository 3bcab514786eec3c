// A file that has its name only when it is complete.
#pragma once

#include <filesystem>
#include <optional>

#include "models/os/file_descriptor.hpp"
#include "models/os/unfinished_files.hpp"

namespace equarx::os {

/// What a path leads to over all its links, also if nothing is there yet. @throws std::system_error if links run in
/// a circle or cannot be read.
std::filesystem::path behind_links(std::filesystem::path path);

/// A new file in the folder of `target`, to take its place. Until then it has no name, so that it is gone with this
/// process, whatever ends it; where the file system has no such files, it has a hidden one of its own, and is an
/// unfinished file for handlers of signals.
class NewFile {
 public:
  /// Not open, and errno says why, if there can be none.
  explicit NewFile(std::filesystem::path target);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Leaves nothing behind unless the file is in its place.
  ~NewFile();

  const FileDescriptor& descriptor() const { return descriptor_; }
  /// Its hidden name; empty while it has none.
  const std::filesystem::path& temporary() const { return temporary_; }

  /// Puts it in its place and closes it. Returns 0, or the error: then what was there before still is. SIGINT, SIGTERM
  /// and SIGHUP come before or after it; only SIGKILL can leave a hidden name, of a file that replaces another one.
  int put_in_place();

 private:
  FileDescriptor create();
  FileDescriptor create_named();
  std::filesystem::path hidden_name(unsigned attempt) const;
  int give_name();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::optional<UnfinishedFile> unfinished_;  ///< temporary_
  FileDescriptor descriptor_;
};

}  // namespace equarx::os
