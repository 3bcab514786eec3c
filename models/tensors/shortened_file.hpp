// What becomes of a process that reads a file which somebody shortens meanwhile.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace equarx::tensors {

/// From now on, reading beyond the new end of a mapped file (or from a disk that fails) ends this process with a line
/// on standard error that names the file, and with exit code 2; without this, without a word, by SIGBUS.
void end_in_words_if_shortened();

/// A file in memory that the line can name while this lives.
class NamedMapping {
 public:
  NamedMapping(std::span<const std::byte> bytes, const std::filesystem::path& file);
  ~NamedMapping();
  NamedMapping(const NamedMapping&) = delete;
  NamedMapping& operator=(const NamedMapping&) = delete;

  bool has(const void* address) const;
  const std::string& name() const { return name_; }
  /// The one that was made before it and is still there; nullptr if there is none.
  const NamedMapping* next() const { return next_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;  ///< as a terminal may be shown it
  NamedMapping* next_ = nullptr;
};

}  // namespace equarx::tensors
