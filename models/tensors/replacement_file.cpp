#include "models/tensors/replacement_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "models/tensors/file_error.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  throw FileError(file, fmt::format("cannot be written: {}; nothing was changed",
                                    std::generic_category().message(error)));
}

/// Resolves symbolic links, so that they are kept. Refuses to replace a device or a pipe.
fs::path target_of(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status)) throw FileError(file, "is a directory; name a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw FileError(file, "is a pipe or a device; name a regular file");
  try {
    return os::resolve_links(file);
  } catch (const std::system_error& links) {
    cannot_write(file, links.code().value());
  }
}

}  // namespace

ReplacementFile::ReplacementFile(fs::path file) : file_(std::move(file)), new_(target_of(file_)) {
  if (!new_.descriptor().is_open()) cannot_write(file_, errno);
}

ReplacementFile::~ReplacementFile() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

void ReplacementFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(new_.descriptor().number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(file_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    written_ += static_cast<std::uint64_t>(written);
  }
}

std::span<std::byte> ReplacementFile::map(std::uint64_t bytes) {
  const int descriptor = new_.descriptor().number();
  // Reserves the space: a write to a mapped page on a full disk would terminate the program.
  const int error =
      ::posix_fallocate(descriptor, static_cast<off_t>(written_), static_cast<off_t>(bytes));
  if (error != 0) cannot_write(file_, error);
  const std::size_t size = written_ + bytes;
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) cannot_write(file_, errno);
  mapped_ = {static_cast<std::byte*>(data), size};
  return mapped_;
}

void ReplacementFile::replace() {
  if (!mapped_.empty() && ::msync(mapped_.data(), mapped_.size(), MS_SYNC) != 0)
    cannot_write(file_, errno);
  if (const int error = new_.put_in_place(); error != 0) cannot_write(file_, error);
}

}  // namespace equarx::tensors
