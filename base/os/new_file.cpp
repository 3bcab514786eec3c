#include "base/os/new_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/held_signals.hpp"

namespace equarx::os {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadAndWriteForAll = 0666;  // minus the umask

/// Closes a duplicate of the descriptor, because some write errors are reported only by close().
/// Returns false on such an error; true also if dup() fails, as the error then surfaces when the
/// file itself is closed.
bool flush_succeeded(const FileDescriptor& file) {
  FileDescriptor copy(::dup(file.number()));
  return copy.close();
}

std::string name_of_descriptor(const FileDescriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.number());
}

}  // namespace

fs::path resolve_links(fs::path path) {
  constexpr int kMaxLinks = 40;  // limit of the kernel
  for (int links = 0; fs::is_symlink(fs::symlink_status(path)); ++links) {
    if (links == kMaxLinks)
      throw std::system_error(std::make_error_code(std::errc::too_many_symbolic_link_levels));
    path = path.parent_path() / fs::read_symlink(path);  // an absolute link replaces the path
  }
  return path;
}

NewFile::NewFile(fs::path target) : target_(std::move(target)), descriptor_(create()) {}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

int NewFile::put_in_place() {
  if (!flush_succeeded(descriptor_)) return errno;
  const HeldSignals held;  // otherwise a signal could leave the hidden file
  if (temporary_.empty())
    if (const int error = link_name(); error != 0) return error;
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
  unfinished_.reset();
  temporary_.clear();
  return descriptor_.close() ? 0 : errno;
}

FileDescriptor NewFile::create() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  FileDescriptor unnamed(
      ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kReadAndWriteForAll));
  // linkat() needs /proc to name an anonymous file.
  const bool can_be_named =
      unnamed.is_open() && ::access(name_of_descriptor(unnamed).c_str(), F_OK) == 0;
  return can_be_named ? std::move(unnamed) : create_named();
}

FileDescriptor NewFile::create_named() {
  const HeldSignals held;
  for (unsigned attempt = 0;; ++attempt) {
    const fs::path name = hidden_name(attempt);
    const int number =
        ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kReadAndWriteForAll);
    if (number >= 0) {
      temporary_ = name;
      unfinished_.emplace(temporary_.c_str());
    }
    if (number >= 0 || errno != EEXIST) return FileDescriptor(number);
  }
}

fs::path NewFile::hidden_name(unsigned attempt) const {
  fs::path name = target_;
  return name.replace_filename(fmt::format(".equarx-{}-{}.part", ::getpid(), attempt));
}

/// Names an anonymous file: `target` if that is free, else a hidden name for rename(), because
/// linkat() cannot replace an existing file.
int NewFile::link_name() {
  const std::string unnamed = name_of_descriptor(descriptor_);
  const auto link_to = [&](const fs::path& name) {
    const int failed =
        ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
    return failed == 0 ? 0 : errno;
  };
  int error = link_to(target_);
  for (unsigned attempt = 0; error == EEXIST; ++attempt) {
    fs::path name = hidden_name(attempt);
    error = link_to(name);
    if (error == 0) temporary_ = std::move(name);
  }
  return error;
}

}  // namespace equarx::os
