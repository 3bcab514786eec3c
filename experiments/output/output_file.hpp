// A file that is there whole or not at all.
#pragma once

#include <filesystem>
#include <fstream>

namespace equarx::output {

/// Written beside its place, and moved there when it is complete, so that nobody ever reads half of it. What
/// a symbolic link names is replaced, not the link.
class OutputFile {
 public:
  /// @throws InputError if it cannot be written there, or if a folder, a pipe or a device is there.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Leaves nothing behind if keep() was not called.
  ~OutputFile();

  std::ostream& stream() { return file_; }
  /// As the user calls it.
  const std::filesystem::path& path() const { return path_; }
  /// The file that is written until keep().
  const std::filesystem::path& partial() const { return partial_; }

  /// Puts what was written in place. @throws InputError if it could not all be written; then what was
  /// there before still is.
  void keep();

 private:
  std::filesystem::path path_;  ///< as the user calls it
  std::filesystem::path target_;
  std::filesystem::path partial_;
  std::ofstream file_;
};

}  // namespace equarx::output
