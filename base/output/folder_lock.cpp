#include "base/output/folder_lock.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/input/errors.hpp"

namespace equarx::output {
namespace {

constexpr mode_t kMode = 0666;  // restricted by the umask

// A record lock: it is not inherited, so workers that outlive their parent do not hold it, and it
// works over NFS.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : file_(open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode)) {
  if (!file_.is_open())
    throw input::InputError(
        "", fmt::format("cannot write to {}: {}", folder.string(), std::strerror(errno)));
  struct flock lock = whole_file();
  if (fcntl(file_.number(), F_SETLK, &lock) == 0) return;
  const int error = errno;
  const bool held = error == EACCES || error == EAGAIN;
  const bool known = held && fcntl(file_.number(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  if (!held)
    throw input::InputError(
        "", fmt::format("cannot lock {}: {}", folder.string(), std::strerror(error)));
  throw input::InputError(
      "", fmt::format(
              "another sweep or study{} is writing to {}; wait until it ends, or choose another "
              "folder with -o",
              known ? fmt::format(" (process {})", lock.l_pid) : "", folder.string()));
}

}  // namespace equarx::output
