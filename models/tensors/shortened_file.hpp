// Handling of mapped files that are truncated while they are read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace equarx::tensors {

/// Installs a SIGBUS handler: reading beyond the new end of a mapped file, or from a failing disk,
/// then ends the process with exit code 2 and a line on standard error that names the file, instead
/// of a silent SIGBUS.
void install_truncation_handler();

/// Registers a mapped file by name for the SIGBUS handler, for the lifetime of the object.
class NamedMapping {
 public:
  NamedMapping(std::span<const std::byte> bytes, const std::filesystem::path& file);
  ~NamedMapping();
  NamedMapping(const NamedMapping&) = delete;
  NamedMapping& operator=(const NamedMapping&) = delete;

  bool has(const void* address) const;
  const std::string& name() const { return name_; }
  /// Next older mapping that is still registered; nullptr if none.
  const NamedMapping* next() const { return next_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;  ///< safe to print on a terminal
  NamedMapping* next_ = nullptr;
};

}  // namespace equarx::tensors
