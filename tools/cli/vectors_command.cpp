#include "tools/cli/vectors_command.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "experiments/vectors/folder.hpp"
#include "experiments/vectors/manifest.hpp"
#include "experiments/vectors/vectors.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

/// Arguments of `vectors`.
struct VectorsArguments {
  ConfigArguments config;
  std::string output;
  std::string cases;
  bool json = false;
};

std::string to_text(const std::string& folder, const vectors::Vectors& made) {
  const std::vector<std::string> names = vectors::folder_names(made);
  std::vector<output::TableRow> rows = {{"collective", "folder", "cases", "not run"}};
  std::string obstacles;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const vectors::CollectiveVectors& one = made.collectives[i];
    rows.push_back({one.config.label, names[i], fmt::format("{}", one.cases.size()),
                    fmt::format("{}", one.not_run.size())});
    for (const vectors::NotRun& left : one.not_run)
      obstacles +=
          fmt::format("Not run: {} of {}: {}\n", left.info.name, one.config.label, left.reason);
  }
  return fmt::format("Golden vectors of {} ranks in {}\n\n{}\n{}", made.ranks, folder,
                     output::aligned_table(rows), obstacles);
}

input::Json to_json(const std::string& folder, const vectors::Vectors& made) {
  input::Json list = input::Json::array();
  const std::vector<std::string> names = vectors::folder_names(made);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const vectors::CollectiveVectors& one = made.collectives[i];
    input::Json cases = input::Json::array();
    input::Json not_run = input::Json::array();
    for (const vectors::CaseVectors& run : one.cases) cases.push_back(run.info.name);
    for (const vectors::NotRun& left : one.not_run)
      not_run.push_back({{"name", left.info.name}, {"reason", left.reason}});
    list.push_back({{"label", one.config.label},
                    {"folder", names[i]},
                    {"cases", cases},
                    {"not_run", not_run}});
  }
  return {{"folder", folder},
          {"manifest", vectors::kManifest},
          {"ranks", made.ranks},
          {"collectives", list}};
}

void make_vectors(const VectorsArguments& arguments) {
  const ConfigFile file = read_config_file(arguments.config);
  const auto cases = vectors::select_cases(split_at_commas(arguments.cases));
  vectors::check_vectors_folder(arguments.output);
  print_warnings(file.config);
  const vectors::Vectors made = [&] {
    ProgressLine line;
    return naming_file(arguments.config.path, [&] {
      return vectors::make_vectors(file.config, cases,
                                   [&](const std::string& part) { line.show(part); });
    });
  }();
  vectors::write_vectors(arguments.output, made);
  print(arguments.json ? to_json(arguments.output, made).dump(2) + "\n"
                       : to_text(arguments.output, made));
}

std::string cases_help() {
  std::vector<std::string_view> names;
  for (const vectors::CaseInfo& one : vectors::all_cases()) names.push_back(one.name);
  return fmt::format("Only these cases, separated by commas: {}", fmt::join(names, ", "));
}

}  // namespace

void add_vectors(CLI::App& app) {
  const auto arguments = std::make_shared<VectorsArguments>();
  CLI::App* command = app.add_subcommand(
      "vectors", "Write golden vectors of collectives: awkward inputs, sums, and results by rank");
  command->footer(kVectorsFooter);
  add_config(*command, arguments->config);
  command
      ->add_option("--output,-o", arguments->output, "Folder: a new one, or one of earlier vectors")
      ->type_name(kFolder)
      ->required();
  command->add_option("--cases", arguments->cases, cases_help())->type_name(kCases);
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command->callback([arguments] { make_vectors(*arguments); });
}

}  // namespace equarx::cli
