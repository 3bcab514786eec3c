#include "experiments/output/files.hpp"

#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "experiments/input/errors.hpp"
#include "experiments/output/output_file.hpp"

namespace equarx::output {
void check_folder(const std::filesystem::path& folder) {
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there) && there.has_relative_path()) there = there.parent_path();
  if (!std::filesystem::is_directory(there) || access(there.c_str(), W_OK) != 0)
    throw input::InputError(
        "", fmt::format("cannot write to {}: {} is not a folder that you may write to",
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
        "", fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
}

std::filesystem::path write_file(const std::filesystem::path& path, const std::string& text) {
  OutputFile file(path);
  file.stream() << text;
  file.keep();
  return path;
}

}  // namespace equarx::output
