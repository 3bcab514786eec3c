#include <optional>
#include <string>
#include <variant>

#include "base/input/json.hpp"
#include "base/output/output_file.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/tune/report.hpp"
#include "experiments/tune_step/report.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

tune::TuneOptions options_of(const TuneArguments& arguments) {
  tune::TuneOptions options;
  options.limits = tune::read_limits({arguments.max_nmse, arguments.min_sqnr, arguments.max_time});
  options.promises = contract::read_promises(split_at_commas(arguments.contract));
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

void tune_config(const TuneArguments& arguments, const tune::TuneOptions& options,
                 const input::Json& json, const config::ExperimentConfig& config) {
  find_and_print(arguments, json, [&](const run::Progress& progress) {
    return naming_file(arguments.config.path,
                       [&] { return tune::tune(config, options, progress); });
  });
}

void tune_config(const TuneArguments& arguments, const tune::TuneOptions& options,
                 const input::Json& json, const config::StepConfig& config) {
  const config::StepConfig step =
      naming_file(arguments.config.path, [&] { return config::step_form(config); });
  find_and_print(arguments, config.compared ? to_json(step) : json,
                 [&](const tune_step::Progress& progress) {
                   return tune_step::tune_step(step, options, progress);
                 });
}

}  // namespace

void tune(const TuneArguments& arguments) {
  const tune::TuneOptions options = options_of(arguments);
  const input::JsonValue json = read_json(arguments.config);
  const config::Config config = read_any(arguments.config.path, json);
  std::visit([](const auto& read) { print_warnings(read); }, config);
  if (!arguments.output.empty()) check_not_read(arguments.output, arguments.config.path, config);
  std::visit([&](const auto& read) { tune_config(arguments, options, *json, read); }, config);
}

}  // namespace equarx::cli
