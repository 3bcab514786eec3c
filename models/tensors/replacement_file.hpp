// Atomic replacement of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/os/new_file.hpp"

namespace equarx::tensors {

/// A temporary file in the directory of `file` that either replaces it or is removed: readers of
/// `file` see the old contents or the new ones, and the old ones after an error. A symbolic link is
/// kept; its target is replaced.
class ReplacementFile {
 public:
  /// Throws FileError if `file` cannot be written, or is a directory, a pipe or a device.
  explicit ReplacementFile(std::filesystem::path file);
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  /// Appends `bytes`. Throws FileError on failure, for example because the disk is full.
  void write(std::span<const std::byte> bytes);
  /// Extends the file by `bytes` and maps the whole file, to be filled in any order; its pages
  /// belong to the page cache. Call once, after the last write(). Throws FileError as write().
  std::span<std::byte> map(std::uint64_t bytes);
  /// Moves the file to its final name. Throws FileError if it could not be written completely.
  void replace();

 private:
  std::filesystem::path file_;  ///< as named by the user
  os::NewFile new_;
  std::uint64_t written_ = 0;
  std::span<std::byte> mapped_;
};

}  // namespace equarx::tensors
