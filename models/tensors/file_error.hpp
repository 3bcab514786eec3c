#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/exceptions/exceptions.hpp"

namespace equarx::tensors {

/// Thrown if a user's file cannot be read or written. The place is the file.
class FileError : public exceptions::UserError {
 public:
  FileError(const std::filesystem::path& file, std::string_view problem)
      : UserError(file.string(), std::string(problem)) {}
};

/// Thrown if a file holds several tensors and none was selected. Callers add how to select one.
class NoTensorNamed : public FileError {
 public:
  using FileError::FileError;
};

/// Quotes text from a file for a message; long text is truncated.
std::string in_quotes(std::string_view text);

}  // namespace equarx::tensors
