// A file that is there whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <streambuf>

#include "models/os/new_file.hpp"

namespace equarx::output {

/// Written without a name (where the file system has no such files, beside its place), and moved there when it is
/// complete: nobody ever reads half of it, whatever ends this process, and whoever else writes there. What a symbolic
/// link names is replaced, not the link.
class OutputFile {
 public:
  /// @throws InputError if it cannot be written there, or if a folder, a pipe or a device is there.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Leaves nothing behind if keep() was not called.
  ~OutputFile() = default;

  std::ostream& stream() { return stream_; }
  /// As the user calls it.
  const std::filesystem::path& path() const { return path_; }

  /// Puts what was written in place. @throws InputError if it could not all be written; then what was
  /// there before still is.
  void keep();

 private:
  std::filesystem::path path_;  ///< as the user calls it
  os::NewFile new_;
  std::unique_ptr<std::streambuf> buffer_;  ///< of what is not in the file yet
  std::ostream stream_;
};

}  // namespace equarx::output
