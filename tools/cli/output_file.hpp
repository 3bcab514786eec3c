// A file that is there whole or not at all.
#pragma once

#include <filesystem>
#include <fstream>

namespace equarx::cli {

/// Written beside its place, and moved there when it is complete, so that nobody ever reads half of it.
class OutputFile {
 public:
  /// @throws experiments::InputError if it cannot be written there.
  explicit OutputFile(std::filesystem::path path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Leaves nothing behind if keep() was not called.
  ~OutputFile();

  std::ostream& stream() { return file_; }

  /// Puts what was written in place. @throws experiments::InputError if it could not all be written.
  void keep();

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::ofstream file_;
};

}  // namespace equarx::cli
