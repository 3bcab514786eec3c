#include "models/tensors/replacement_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/tensors/file_error.hpp"

namespace equarx::tensors {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadAndWriteForAll = 0666;  // less the umask

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  throw FileError(file, fmt::format("cannot be written: {}; nothing was changed",
                                    std::generic_category().message(error)));
}

/// Follows a link, so that the link stays. A device or a pipe must not be replaced by a file.
fs::path target_of(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status)) throw FileError(file, "is a directory; name a file in it");
  if (!fs::exists(status)) return file;
  if (!fs::is_regular_file(status))
    throw FileError(file, "is a pipe or a device; name a regular file");
  return fs::canonical(file);
}

}  // namespace

ReplacementFile::ReplacementFile(fs::path file)
    : file_(std::move(file)), target_(target_of(file_)), descriptor_(create()) {
  if (!descriptor_.is_open()) cannot_write(file_, errno);
}

ReplacementFile::~ReplacementFile() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
  if (is_named_ && !replaced_) ::unlink(temporary_.c_str());
}

void ReplacementFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(file_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    written_ += static_cast<std::uint64_t>(written);
  }
}

std::span<std::byte> ReplacementFile::map(std::uint64_t bytes) {
  // Reserved, because a disk that is full when a mapped page is written ends the program.
  const int error = ::posix_fallocate(descriptor_.number(), static_cast<off_t>(written_),
                                      static_cast<off_t>(bytes));
  if (error != 0) cannot_write(file_, error);
  const std::size_t size = written_ + bytes;
  void* const data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.number(), 0);
  if (data == MAP_FAILED) cannot_write(file_, errno);
  mapped_ = {static_cast<std::byte*>(data), size};
  return mapped_;
}

void ReplacementFile::replace() {
  if (!mapped_.empty() && ::msync(mapped_.data(), mapped_.size(), MS_SYNC) != 0)
    cannot_write(file_, errno);
  if (!is_named_)
    if (const int error = give_name(); error != 0) cannot_write(file_, error);
  if (!descriptor_.close()) cannot_write(file_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) cannot_write(file_, errno);
  replaced_ = true;
}

/// Without a name, so that nothing is left behind even if this process is killed; where the file system has no
/// such files, with one.
os::FileDescriptor ReplacementFile::create() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  os::FileDescriptor unnamed(
      ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kReadAndWriteForAll));
  return unnamed.is_open() ? std::move(unnamed) : create_named();
}

os::FileDescriptor ReplacementFile::create_named() {
  is_named_ = true;
  for (unsigned attempt = 0;; ++attempt) {
    choose_name(attempt);
    const int number =
        ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kReadAndWriteForAll);
    if (number >= 0 || errno != EEXIST) return os::FileDescriptor(number);
  }
}

void ReplacementFile::choose_name(unsigned attempt) {
  temporary_ = target_;
  temporary_.replace_filename(fmt::format(".equarx-{}-{}.part", ::getpid(), attempt));
}

/// Of a file without one: a link cannot take the place of another file, but a file that has a name can.
/// @return 0 or the error
int ReplacementFile::give_name() {
  const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_.number());
  for (unsigned attempt = 0;; ++attempt) {
    choose_name(attempt);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      is_named_ = true;
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
}

}  // namespace equarx::tensors
