#include "tools/cli/tune_command.hpp"

#include <optional>

#include "experiments/input/json.hpp"
#include "experiments/output/output_file.hpp"
#include "experiments/tune/report.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

tune::TuneResult find(const config::ExperimentConfig& config, const tune::TuneOptions& options) {
  ProgressLine line;
  return tune::tune(config, options, [&](const std::string& text) { line.show(text); });
}

}  // namespace

void tune(const TuneArguments& arguments) {
  tune::TuneOptions options;
  options.limits = tune::read_limits({arguments.max_nmse, arguments.min_sqnr, arguments.max_time});
  options.formats = split_at_commas(arguments.formats);
  options.exhaustive = arguments.exhaustive;
  options.budget_s = tune::read_time("--budget", arguments.budget);
  const ConfigFile file = read_config_file(arguments.config);
  std::optional<output::OutputFile> output;
  if (!arguments.output.empty()) {
    check_not_read(arguments.output, arguments.config.path, file.config);
    output.emplace(arguments.output);
  }
  const StopNotice notice(output ? &*output : nullptr);
  const tune::TuneResult result = find(file.config, options);
  // First, so that a full disk loses nothing else.
  print(arguments.json ? to_json(result, file.json).dump(2) + "\n" : to_table(result));
  if (output) {
    output->stream() << best_config(file.json, result).dump(2) << '\n';
    output->keep();
  }
}

}  // namespace equarx::cli
