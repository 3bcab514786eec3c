#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "base/input/renamed_keys.hpp"
#include "base/output/files.hpp"
#include "base/output/folder_lock.hpp"
#include "experiments/study/check.hpp"
#include "experiments/study/outcomes.hpp"
#include "experiments/study/points.hpp"
#include "experiments/study/report.hpp"
#include "experiments/study/script.hpp"
#include "experiments/study/study.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/results_folder.hpp"
#include "tools/cli/script_study.hpp"

namespace equarx::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kExitOutsideTolerance = 1;

fs::path folder_of(const ReproduceArguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  const fs::path study = arguments.study;
  return fs::path("results") /
         (study.has_filename() ? study.filename() : study.parent_path().filename());
}

void report_failures(const std::vector<std::string>& failures) {
  if (failures.empty()) return;
  const std::string more =
      failures.size() == 1 ? "" : fmt::format(" ({} more points failed)", failures.size() - 1);
  print_message(fmt::format("equarx-sim: {}{}; rows of failed points count as outside tolerance\n",
                            failures.front(), more));
}

void note_old_metrics(const study::Study& study) {
  for (const study::StudyRow& row : study.rows)
    if (row.metric != row.written_metric)
      print_message(fmt::format(
          "equarx-sim: note: {}\n",
          input::renamed_note(input::pointer(row.pointer, "metric"), row.written_metric)));
}

void print_report(const study::Study& study, const std::vector<study::StudyOutcome>& outcomes,
                  const std::vector<fs::path>& files) {
  std::string text = to_table(study, outcomes) + "\n";
  for (const fs::path& file : files) text += file.string() + "\n";
  print(text);
}

bool is_known(const std::vector<study::StudyOutcome>& outcomes) {
  return std::ranges::all_of(outcomes, &study::StudyOutcome::as_known);
}

int reproduce_script(const study::Study& study, const ReproduceArguments& arguments,
                     const fs::path& output) {
  output::check_folder(output);
  output::make_folder(output);
  const output::FolderLock lock(output);
  const fs::path folder = output / "script";
  const int exit_code =
      run_script(*study.script, folder, arguments.fresh, jobs_or_cores(arguments.jobs));
  if (exit_code != EXIT_SUCCESS) return exit_code;
  const input::Json results = script_results(*study.script, folder);
  const auto outcomes = naming_file(study::study_file(arguments.study).string(),
                                    [&] { return compare(study, results); });
  print_report(study, outcomes, write_report(study, outcomes, output));
  return arguments.strict && !is_known(outcomes) ? kExitOutsideTolerance : EXIT_SUCCESS;
}

int reproduce_points(const study::Study& study, const study::StudyPoints& points,
                     const ReproduceArguments& arguments, const fs::path& output) {
  // Results of another version are moved aside.
  ResultsFolder results(output, arguments.fresh || sweep::is_of_another_version(output));
  const sweep::SweepOutcome outcome = results.compute(
      points, {.jobs = jobs_or_cores(arguments.jobs), .shard = {}, .retry = arguments.retry});
  if (outcome.signal != 0) return exit_code_of_signal(outcome.signal);

  // Plots show every stored point, so points of earlier states of the study are removed.
  keep_only(points, outcome.keyed, results.store());
  const auto outcomes = compare(study, points, outcome.keyed, results.store());
  std::vector<fs::path> files = {results.store().file(), results.write_table(points, outcome)};
  for (const fs::path& file : write_report(study, outcomes, output)) files.push_back(file);
  print_report(study, outcomes, files);
  const std::vector<std::string> failed = failures(points, outcome.keyed, results.store());
  report_failures(failed);
  if (!failed.empty()) return kExitPointsFailed;
  return arguments.strict && !is_known(outcomes) ? kExitOutsideTolerance : EXIT_SUCCESS;
}

}  // namespace

int reproduce(const ReproduceArguments& arguments) {
  const study::Study study = study::load_study(arguments.study);
  note_old_metrics(study);
  const study::StudyPoints points(study);
  naming_file(study::study_file(arguments.study).string(),
              [&] { study::check_study(study, points); });
  const fs::path output = folder_of(arguments);
  return study.script ? reproduce_script(study, arguments, output)
                      : reproduce_points(study, points, arguments, output);
}

}  // namespace equarx::cli
