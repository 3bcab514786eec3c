#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace equarx::tensors {

/// A file that the user named cannot be read or written. One line: the file, what is wrong, and what to
/// do where something can be done. Whatever the file or its name brings into the message is made
/// harmless to a terminal: control characters and malformed UTF-8 become question marks.
class FileError : public std::runtime_error {
 public:
  FileError(const std::filesystem::path& file, std::string_view problem);
};

/// A file holds several tensors, and none was asked for by name. Callers know how that is done.
class NoTensorNamed : public FileError {
 public:
  using FileError::FileError;
};

/// Text out of a file, for a message: in quotes, and cut short if it is long.
std::string in_quotes(std::string_view text);

}  // namespace equarx::tensors
