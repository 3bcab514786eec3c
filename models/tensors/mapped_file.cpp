#include "models/tensors/mapped_file.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/os/file_descriptor.hpp"
#include "models/tensors/file_error.hpp"

namespace equarx::tensors {
namespace {

/// Bytes read between unmappings: large enough to amortize unmapping (microseconds), small compared
/// with the memory of a run that maps one file per rank.
constexpr std::size_t kMostMapped = std::size_t{1} << 20;

std::string reason(int error) { return std::generic_category().message(error); }

std::string missing_file_problem(const std::filesystem::path& file) {
  std::error_code unknown;
  if (file.is_absolute()) return "does not exist; check the path";
  return fmt::format("does not exist in {} (the current directory); check the path",
                     std::filesystem::current_path(unknown).string());
}

std::size_t regular_file_size(const std::filesystem::path& file,
                              const os::FileDescriptor& descriptor) {
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0)
    throw FileError(file, fmt::format("cannot be examined: {}", reason(errno)));
  if (S_ISDIR(status.st_mode))
    throw FileError(file, "is a directory; name a .npy or .safetensors file in it");
  if (!S_ISREG(status.st_mode))
    throw FileError(file, "is a pipe or a device; copy its contents into a regular file first");
  if (status.st_size == 0) throw FileError(file, "is empty; write the tensor again");
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  // O_NONBLOCK: opening a pipe would otherwise block until it has a writer.
  const os::FileDescriptor descriptor(
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor.is_open()) {
    const int error = errno;
    throw FileError(file, error == ENOENT ? missing_file_problem(file)
                                          : fmt::format("cannot be opened: {}", reason(error)));
  }
  const std::size_t size = regular_file_size(file, descriptor);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.number(), 0);
  if (start == MAP_FAILED)
    throw FileError(file, fmt::format("cannot be mapped into memory: {}", reason(errno)));
  bytes_ = {static_cast<const std::byte*>(start), size};
  named_.emplace(bytes_, file);
}

MappedFile::~MappedFile() {
  named_.reset();
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::was_read(std::size_t bytes) const {
  if (bytes_read_.fetch_add(bytes, std::memory_order_relaxed) + bytes < kMostMapped) return;
  bytes_read_.store(0, std::memory_order_relaxed);
  // Pages that another thread still reads are mapped again from the page cache.
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace equarx::tensors
