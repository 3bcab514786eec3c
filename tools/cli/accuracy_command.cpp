#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/files.hpp"
#include "experiments/accuracy/report.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

namespace fs = std::filesystem;

/// Rows of the results of a study, in a folder or as its study.json.
std::vector<accuracy::MeasuredRow> rows_in(const fs::path& results) {
  const fs::path file = results.extension() == ".json" ? results : results / "study.json";
  const fs::path folder = file.parent_path();
  return naming_file(file.string(), [&] {
    return accuracy::rows_of_study(input::parse_json(input::read_file(file.string())),
                                   folder.filename().string());
  });
}

}  // namespace

void accuracy(const AccuracyArguments& arguments) {
  std::vector<accuracy::MeasuredRow> rows;
  for (const std::string& results : arguments.results)
    std::ranges::move(rows_in(results), std::back_inserter(rows));
  if (arguments.results.empty()) rows = accuracy::built_in_rows();
  print(arguments.json ? report_json(rows).dump(2) + "\n" : to_table(rows, arguments.rows));
  if (!arguments.output.empty()) output::write_file(arguments.output, to_json(rows).dump(1) + "\n");
  if (!arguments.page.empty()) output::write_file(arguments.page, to_page(rows));
}

}  // namespace equarx::cli
