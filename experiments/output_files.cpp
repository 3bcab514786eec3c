#include "experiments/output_files.hpp"

#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "experiments/input_error.hpp"
#include "experiments/output_file.hpp"

namespace equarx::experiments {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

}  // namespace

void check_folder(const std::filesystem::path& folder) {
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there) && there.has_relative_path()) there = there.parent_path();
  if (!std::filesystem::is_directory(there) || access(there.c_str(), W_OK) != 0)
    throw InputError("", fmt::format("cannot write to {}: {} is not a folder that you may write to",
                                     folder.string(), there.string()));
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw InputError(
        "", fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
}

std::filesystem::path write_file(const std::filesystem::path& path, const std::string& text) {
  OutputFile file(path);
  file.stream() << text;
  file.keep();
  return path;
}

std::string csv(const std::vector<CsvRow>& rows) {
  std::string text;
  for (const CsvRow& row : rows) {
    CsvRow fields;
    for (const std::string& field : row) fields.push_back(quoted(field));
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

}  // namespace equarx::experiments
