#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace equarx::tensors {

/// Thrown if a user's file cannot be read or written. The message is one line: the file, the
/// problem and, where possible, a remedy. Control characters and malformed UTF-8 from the file or
/// its name become question marks, so that the message is safe to print on a terminal.
class FileError : public std::runtime_error {
 public:
  FileError(const std::filesystem::path& file, std::string_view problem);
};

/// Thrown if a file holds several tensors and none was selected. Callers add how to select one.
class NoTensorNamed : public FileError {
 public:
  using FileError::FileError;
};

/// Quotes text from a file for a message; long text is truncated.
std::string in_quotes(std::string_view text);

}  // namespace equarx::tensors
