#include "experiments/output/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"

namespace equarx::output {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, const std::string& reason) {
  throw input::InputError("", fmt::format("cannot write {}: {}", path.string(), reason));
}

/// What will be replaced. A device or a pipe must not be.
fs::path target_of(const fs::path& path) {
  std::error_code ignored;  // opening the file says what is wrong
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) cannot_write(path, "it is a folder; name a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status))
    cannot_write(path, "it is a pipe or a device; name a regular file");
  try {
    return os::behind_links(path);
  } catch (const std::system_error& links) {
    cannot_write(path, links.code().message());
  }
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : path_(path), new_(target_of(path)) {
  if (new_.descriptor().is_open()) file_.open(new_.path(), std::ios::binary);
  if (!file_.is_open()) cannot_write(path_, std::strerror(errno));
}

void OutputFile::keep() {
  file_.close();
  if (!file_) cannot_write(path_, "is there room on the disk?");
  if (const int error = new_.put_in_place(); error != 0) cannot_write(path_, std::strerror(error));
}

}  // namespace equarx::output
