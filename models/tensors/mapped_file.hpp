#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "models/tensors/shortened_file.hpp"

namespace equarx::tensors {

/// A regular file mapped read-only. Its pages belong to the page cache, and only a few stay mapped.
/// The file must not be truncated while mapped: reading beyond the new end terminates the program
/// (see shortened_file.hpp).
class MappedFile {
 public:
  /// Never blocks. Throws FileError if the file is missing, unreadable, empty or not a regular
  /// file.
  explicit MappedFile(const std::filesystem::path& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

  /// Records that `bytes` were read. Unmaps the pages once they are many, so that the program's
  /// memory does not grow with the file; contents are unaffected. Thread-safe.
  void was_read(std::size_t bytes) const;

 private:
  std::span<const std::byte> bytes_;
  std::optional<NamedMapping> named_;
  mutable std::atomic<std::size_t> bytes_read_ = 0;  ///< since pages were last unmapped
};

}  // namespace equarx::tensors
