#include "tools/cli/reproduce_command.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "experiments/study/check.hpp"
#include "experiments/study/outcomes.hpp"
#include "experiments/study/points.hpp"
#include "experiments/study/report.hpp"
#include "experiments/study/study.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/results_folder.hpp"

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
  tell(fmt::format("equarx-sim: {}{}; rows without their points are not within\n", failures.front(),
                   more));
}

void print_report(const study::Study& study, const std::vector<study::StudyOutcome>& outcomes,
                  const std::vector<fs::path>& files) {
  std::string text = to_table(study, outcomes) + "\n";
  for (const fs::path& file : files) text += file.string() + "\n";
  print(text);
}

}  // namespace

int reproduce(const ReproduceArguments& arguments) {
  const study::Study study = study::load_study(arguments.study);
  const study::StudyPoints points(study);
  naming_file(study::study_file(arguments.study).string(),
              [&] { study::check_study(study, points); });
  const fs::path output = folder_of(arguments);
  // Whoever wants to see what this program reproduces need not know what another one has left there.
  ResultsFolder results(output, arguments.fresh || sweep::is_of_another_version(output));
  const sweep::SweepOutcome outcome = results.compute(
      points, {.jobs = jobs_or_cores(arguments.jobs), .shard = {}, .retry = arguments.retry});
  if (outcome.signal != 0) return exit_code_of_signal(outcome.signal);

  // Pictures show all that is there, so what an earlier state of the study left must go.
  keep_only(points, outcome.keyed, results.store());
  const auto outcomes = compare(study, points, outcome.keyed, results.store());
  std::vector<fs::path> files = {results.store().file(), results.write_table(points, outcome)};
  for (const fs::path& file : write_report(study, outcomes, output)) files.push_back(file);
  print_report(study, outcomes, files);
  const std::vector<std::string> failed = failures(points, outcome.keyed, results.store());
  report_failures(failed);
  if (!failed.empty()) return kExitPointsFailed;
  const bool known = std::ranges::all_of(outcomes, &study::StudyOutcome::as_known);
  return arguments.strict && !known ? kExitOutsideTolerance : EXIT_SUCCESS;
}

}  // namespace equarx::cli
