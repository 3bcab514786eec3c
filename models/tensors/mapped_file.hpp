#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "models/tensors/shortened_file.hpp"

namespace equarx::tensors {

/// A regular file in memory, read-only. Its pages belong to the page cache, not to the program, and
/// only a few stay mapped. The file must not be shortened meanwhile: reading beyond its new end
/// ends the program (shortened_file.hpp says how).
class MappedFile {
 public:
  /// FileError if it is missing, unreadable, empty, or anything but a regular file; never waits for one.
  explicit MappedFile(const std::filesystem::path& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

  /// To be told after that many bytes were read, from any thread: unmaps the pages once they are
  /// many, so that the program's memory does not grow with the file. Contents are not affected.
  void was_read(std::size_t bytes) const;

 private:
  std::span<const std::byte> bytes_;
  std::optional<NamedMapping> named_;
  mutable std::atomic<std::size_t> bytes_read_ = 0;  ///< since pages were last unmapped
};

}  // namespace equarx::tensors
