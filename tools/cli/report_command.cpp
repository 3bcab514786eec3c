#include "tools/cli/report_command.hpp"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "experiments/output_files.hpp"
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

}  // namespace

void report(const ReportArguments& arguments) {
  const std::string title = arguments.title.empty() ? title_of(arguments.results) : arguments.title;
  experiments::ReportInput input{.title = title,
                                 .results = experiments::read_results(arguments.results),
                                 .pictures = {},
                                 .version = std::string(experiments::version())};
  experiments::fill_in_parameters(input.results);
  input.pictures = experiments::make_pictures(input.results, kMostPictures);
  experiments::write_file(arguments.output, make_report(input));
  for (const std::string& note : input.results.notes)
    fmt::print(stderr, "equarx-sim: note: {}\n", note);
}

}  // namespace equarx::cli
