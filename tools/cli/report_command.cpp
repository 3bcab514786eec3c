#include <filesystem>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/files.hpp"
#include "base/output/provenance.hpp"
#include "experiments/report/pictures.hpp"
#include "experiments/report/report.hpp"
#include "experiments/result/json.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

/// Limits the size of the page.
constexpr std::size_t kMostPictures = 24;

/// Display name of a results file: the folder's name for sweeps and studies, else the file name.
std::string sweep_name(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(path).lexically_normal();
  const std::filesystem::path folder = file.parent_path();
  const std::string name = folder.filename().string();
  if (file.filename() != "results.jsonl" || name.empty()) return file.filename().string();
  const bool is_shard = name.starts_with("shard-");
  return is_shard ? fmt::format("{}, {}", folder.parent_path().filename().string(), name) : name;
}

/// "size_and_slice", or "size_and_slice and 3 more"
std::string title_of(const std::vector<std::string>& paths) {
  const std::string first = sweep_name(paths.front());
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

}  // namespace

void report(const ReportArguments& arguments) {
  output::check_not_input(arguments.output, arguments.results);
  const std::string title = arguments.title.empty() ? title_of(arguments.results) : arguments.title;
  report::ReportInput input{.title = title,
                            .results = report::read_results(arguments.results),
                            .pictures = {},
                            .version = std::string(output::version())};
  report::fill_in_parameters(input.results);
  input.pictures = report::make_pictures(input.results, kMostPictures);
  output::write_file(arguments.output, make_report(input));
  for (const std::string& note : input.results.notes)
    print_message(fmt::format("equarx-sim: note: {}\n", note));
}

}  // namespace equarx::cli
