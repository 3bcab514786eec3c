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
  if (!fs::exists(status)) return path;
  if (!fs::is_regular_file(status))
    cannot_write(path, "it is a pipe or a device; name a regular file");
  return fs::canonical(path);
}

}  // namespace

OutputFile::OutputFile(const fs::path& path)
    : path_(path),
      target_(target_of(path)),
      partial_(target_.string() + ".partial"),
      file_(partial_, std::ios::binary) {
  if (!file_) cannot_write(path_, std::strerror(errno));
}

OutputFile::~OutputFile() {
  file_.close();
  std::error_code ignored;  // it is gone after keep()
  fs::remove(partial_, ignored);
}

void OutputFile::keep() {
  file_.close();
  std::error_code error;
  if (file_) fs::rename(partial_, target_, error);
  if (!file_ || error) cannot_write(path_, "is there room on the disk?");
}

}  // namespace equarx::output
