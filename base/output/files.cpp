#include "base/output/files.hpp"

#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "base/output/output_file.hpp"

namespace equarx::output {
void check_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path there = fs::absolute(folder, error);  // empty if the current folder has been removed
  fs::file_status status = fs::status(there, error);
  while (status.type() == fs::file_type::not_found && there.has_relative_path()) {
    there = there.parent_path();
    status = fs::status(there, error);
  }
  if (status.type() == fs::file_type::none)
    throw input::InputError(
        "", fmt::format("cannot write to {}: {}", folder.string(), error.message()));
  if (!fs::is_directory(status) || access(there.c_str(), W_OK) != 0)
    throw input::InputError("", fmt::format("cannot write to {}: {} is not a writable folder",
                                            folder.string(), there.string()));
}

void check_not_input(const std::filesystem::path& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code no_file;
    if (!std::filesystem::equivalent(output, input, no_file) || no_file) continue;
    throw input::InputError("", fmt::format("cannot write {}: it is an input ({}); name another "
                                            "file",
                                            output.string(), input));
  }
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw input::InputError(
        "", fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
}

std::filesystem::path write_file(const std::filesystem::path& path, const std::string& text) {
  OutputFile file(path);
  file.stream() << text;
  file.keep();
  return path;
}

}  // namespace equarx::output
