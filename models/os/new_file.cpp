#include "models/os/new_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace equarx::os {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadAndWriteForAll = 0666;  // less the umask

std::string name_of_descriptor(const FileDescriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.number());
}

}  // namespace

fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  for (int links = 0; fs::is_symlink(fs::symlink_status(path)); ++links) {
    if (links == kMostLinks)
      throw std::system_error(std::make_error_code(std::errc::too_many_symbolic_link_levels));
    path = path.parent_path() / fs::read_symlink(path);  // an absolute one takes its place
  }
  return path;
}

NewFile::NewFile(fs::path target) : target_(std::move(target)), descriptor_(create()) {}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

int NewFile::put_in_place() {
  if (temporary_.empty())
    if (const int error = give_name(); error != 0) return error;
  if (!descriptor_.close()) return errno;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
  temporary_.clear();
  return 0;
}

FileDescriptor NewFile::create() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  FileDescriptor unnamed(
      ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kReadAndWriteForAll));
  // Without /proc it would never have a name.
  const bool can_be_named =
      unnamed.is_open() && ::access(name_of_descriptor(unnamed).c_str(), F_OK) == 0;
  return can_be_named ? std::move(unnamed) : create_named();
}

FileDescriptor NewFile::create_named() {
  for (unsigned attempt = 0;; ++attempt) {
    const fs::path name = hidden_name(attempt);
    const int number =
        ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kReadAndWriteForAll);
    if (number >= 0) temporary_ = name;
    if (number >= 0 || errno != EEXIST) return FileDescriptor(number);
  }
}

fs::path NewFile::hidden_name(unsigned attempt) const {
  fs::path name = target_;
  return name.replace_filename(fmt::format(".equarx-{}-{}.part", ::getpid(), attempt));
}

/// Of a file without one: a link cannot take the place of another file, but a file that has a name can.
int NewFile::give_name() {
  const std::string unnamed = name_of_descriptor(descriptor_);
  for (unsigned attempt = 0;; ++attempt) {
    const fs::path name = hidden_name(attempt);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
}

}  // namespace equarx::os
