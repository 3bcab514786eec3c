// A file that is written atomically.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <streambuf>

#include "base/os/new_file.hpp"

namespace equarx::output {

/// Written without a name (or next to its destination, if the file system has no unnamed files),
/// and renamed when complete: no reader ever sees a partial file, even if this process is killed or
/// another writes to the same path. The target of a symbolic link is replaced, not the link.
class OutputFile {
 public:
  /// @throws InputError if it cannot be written there, or if the path is a folder, a pipe or a
  /// device.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Discards the file unless keep() was called.
  ~OutputFile() = default;

  std::ostream& stream() { return stream_; }
  /// The path as the user wrote it.
  const std::filesystem::path& path() const { return path_; }

  /// Moves the file to its destination. @throws InputError if it could not be written completely;
  /// the previous file then remains.
  void keep();

 private:
  std::filesystem::path path_;  ///< as the user wrote it
  os::NewFile new_;
  std::unique_ptr<std::streambuf> buffer_;  ///< unflushed output
  std::ostream stream_;
};

}  // namespace equarx::output
