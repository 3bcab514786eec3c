#include <array>
#include <optional>
#include <string>
#include <utility>

#include "experiments/config/step_json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/output/files.hpp"
#include "experiments/output/output_file.hpp"
#include "experiments/tune/report.hpp"
#include "experiments/tune_step/report.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/step_command.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

tune::TuneOptions options_of(const TuneArguments& arguments) {
  tune::TuneOptions options;
  options.limits = tune::read_limits({arguments.max_nmse, arguments.min_sqnr, arguments.max_time});
  options.formats = split_at_commas(arguments.formats);
  options.exhaustive = arguments.exhaustive;
  options.budget_s = tune::read_time("--budget", arguments.budget);
  return options;
}

/// Runs `find` with progress output, prints its result, and writes the best configuration to
/// --output. `find`: takes a progress callback. `json`: the tuned configuration
template <typename Find>
void find_and_print(const TuneArguments& arguments, const input::Json& json, Find find) {
  const StopNotice notice(arguments.output);
  std::optional<output::OutputFile> output;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  const auto result = [&] {
    ProgressLine line;
    return find([&](const std::string& text) { line.show(text); });
  }();
  // Printed first: survives a full disk.
  print(arguments.json ? to_json(result, json).dump(2) + "\n" : to_table(result));
  if (output) {
    output->stream() << best_config(json, result).dump(2) << '\n';
    output->keep();
  }
}

void tune_collective(const TuneArguments& arguments, const tune::TuneOptions& options,
                     input::JsonValue json) {
  const ConfigFile file = read_config_file(arguments.config, std::move(json));
  warn_of_labels(file.config);
  if (!arguments.output.empty())
    check_not_read(arguments.output, arguments.config.path, file.config);
  find_and_print(arguments, file.json, [&](const run::Progress& progress) {
    return tune::tune(file.config, options, progress);
  });
}

void tune_whole_step(const TuneArguments& arguments, const tune::TuneOptions& options,
                     const input::JsonValue& json) {
  const config::StepConfig config = read_step(arguments.config.path, json);
  if (!arguments.output.empty())
    output::check_not_input(arguments.output, std::array{arguments.config.path});
  find_and_print(arguments, json, [&](const tune_step::Progress& progress) {
    return tune_step::tune_step(config, options, progress);
  });
}

}  // namespace

void tune(const TuneArguments& arguments) {
  const tune::TuneOptions options = options_of(arguments);
  input::JsonValue json = read_json(arguments.config);
  if (config::is_step(json)) return tune_whole_step(arguments, options, json);
  tune_collective(arguments, options, std::move(json));
}

}  // namespace equarx::cli
