#include "tools/cli/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "experiments/input_error.hpp"

namespace equarx::cli {

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)),
      partial_(path_.string() + ".partial"),
      file_(partial_, std::ios::binary) {
  const std::string reason = std::strerror(errno);
  if (std::filesystem::is_directory(path_))
    throw experiments::InputError(
        "", fmt::format("cannot write {}: it is a folder; name a file in it", path_.string()));
  if (!file_)
    throw experiments::InputError("", fmt::format("cannot write {}: {}", path_.string(), reason));
}

OutputFile::~OutputFile() {
  file_.close();
  std::error_code ignored;  // it is gone after keep()
  std::filesystem::remove(partial_, ignored);
}

void OutputFile::keep() {
  file_.close();
  std::error_code error;
  if (file_) std::filesystem::rename(partial_, path_, error);
  if (!file_ || error)
    throw experiments::InputError(
        "", fmt::format("cannot write {}; is there room on the disk?", path_.string()));
}

}  // namespace equarx::cli
