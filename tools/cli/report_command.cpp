#include "tools/cli/report_command.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "experiments/report.hpp"
#include "experiments/report_pictures.hpp"
#include "experiments/result_json.hpp"

namespace equarx::cli {
namespace {

/// More would make the page heavy.
constexpr std::size_t kMostPictures = 24;

/// "sweep.jsonl", or "sweep.jsonl and 3 more"
std::string title_of(const std::vector<std::string>& paths) {
  const std::string first = std::filesystem::path(paths.front()).filename().string();
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

/// Written beside its place and then moved there, so that a reader never sees half of it.
void write(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path partial = path.string() + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(partial, path, error);
  if (file && !error) return;
  std::filesystem::remove(partial, error);
  throw experiments::InputError(
      "", fmt::format("cannot write {}; is there room, and may you write there?", path.string()));
}

}  // namespace

void report(const ReportArguments& arguments) {
  const std::string title = arguments.title.empty() ? title_of(arguments.results) : arguments.title;
  experiments::ReportInput input{.title = title,
                                 .results = experiments::read_results(arguments.results),
                                 .pictures = {},
                                 .version = std::string(experiments::version())};
  experiments::fill_in_parameters(input.results);
  input.pictures = experiments::make_pictures(input.results, kMostPictures);
  write(arguments.output, make_report(input));
  for (const std::string& note : input.results.notes)
    fmt::print(stderr, "equarx-sim: note: {}\n", note);
}

}  // namespace equarx::cli
