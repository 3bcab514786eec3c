// A file that takes the place of another one in one step, or leaves nothing behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "models/os/new_file.hpp"

namespace equarx::tensors {

/// A new file beside `file`, which takes its place or disappears: whoever reads `file` sees the old contents or
/// the new ones, and after an error the old ones. A link stays, and what it names is replaced.
class ReplacementFile {
 public:
  /// FileError if it cannot be written there, or if a folder, a pipe or a device is there.
  explicit ReplacementFile(std::filesystem::path file);
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  /// Appends. FileError if it cannot, for example because the disk is full.
  void write(std::span<const std::byte> bytes);
  /// Makes room for `bytes` behind what was written and maps the whole file, to be filled in any order; its pages
  /// belong to the page cache. To be called once, and nothing is to be written after it. FileError as of write().
  std::span<std::byte> map(std::uint64_t bytes);
  /// Puts the file in its place. FileError if not all of it could be written.
  void replace();

 private:
  std::filesystem::path file_;  ///< as the user calls it
  os::NewFile new_;
  std::uint64_t written_ = 0;
  std::span<std::byte> mapped_;
};

}  // namespace equarx::tensors
