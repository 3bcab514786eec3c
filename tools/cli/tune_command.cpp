#include <optional>
#include <string>
#include <variant>

#include "base/input/json.hpp"
#include "base/output/output_file.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/tune/report.hpp"
#include "experiments/tune_layouts/report.hpp"
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
/// --output. `find`: takes a progress callback. `json`: the tuned configuration, if reports need it
template <typename Find, typename... Json>
void find_and_print(const TuneArguments& arguments, Find find, const Json&... json) {
  const StopNotice notice(arguments.output);
  std::optional<output::OutputFile> output;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  const auto result = [&] {
    ProgressLine line;
    return find([&](const std::string& text) { line.show(text); });
  }();
  // Printed first: survives a full disk.
  print(arguments.json ? to_json(result, json...).dump(2) + "\n" : to_table(result));
  if (output) {
    output->stream() << best_config(json..., result).dump(2) << '\n';
    output->keep();
  }
}

/// @throws input::InputError at the first given option that goes with --layouts, or without it
void check_options(const TuneArguments& arguments) {
  const auto reject = [](const char* option, const std::string& value, const char* why) {
    if (!value.empty()) throw input::InputError(option, why);
  };
  if (!arguments.layouts) {
    reject("--axes", arguments.axes, "is for layouts; add --layouts");
    reject("--layout", arguments.layout, "is for layouts; add --layouts");
    return;
  }
  constexpr const char* kPlain =
      "does not apply to --layouts, whose collectives are unquantized; "
      "remove it, and tune the best layout then";
  reject("--max-nmse", arguments.max_nmse, kPlain);
  reject("--min-sqnr", arguments.min_sqnr, kPlain);
  reject("--max-time", arguments.max_time, kPlain);
  reject("--contract", arguments.contract, kPlain);
  reject("--formats", arguments.formats, kPlain);
}

void tune_layout(const TuneArguments& arguments, const input::Json& json,
                 const config::Config& config) {
  const auto* step = std::get_if<config::StepConfig>(&config);
  if (step == nullptr)
    throw input::InputError("--layouts", "needs a configuration with a \"step\"");
  const tune_layouts::TuneOptions options{
      .space = {.axes = split_at_commas(arguments.axes),
                .fixed = tune_layouts::read_fixed(split_at_commas(arguments.layout))},
      .budget_s = tune::read_time("--budget", arguments.budget),
      .exhaustive = arguments.exhaustive};
  find_and_print(arguments, [&](const tune_layouts::Progress& progress) {
    return naming_file(arguments.config.path,
                       [&] { return tune_layouts::tune(json, *step, options, progress); });
  });
}

void tune_config(const TuneArguments& arguments, const tune::TuneOptions& options,
                 const input::Json& json, const config::ExperimentConfig& config) {
  find_and_print(
      arguments,
      [&](const run::Progress& progress) {
        return naming_file(arguments.config.path,
                           [&] { return tune::tune(config, options, progress); });
      },
      json);
}

void tune_config(const TuneArguments& arguments, const tune::TuneOptions& options,
                 const input::Json& json, const config::StepConfig& config) {
  const config::StepConfig step =
      naming_file(arguments.config.path, [&] { return config::step_form(config); });
  find_and_print(
      arguments,
      [&](const tune_step::Progress& progress) {
        return tune_step::tune_step(step, options, progress);
      },
      config.compared ? to_json(step) : json);
}

}  // namespace

void tune(const TuneArguments& arguments) {
  check_options(arguments);
  const tune::TuneOptions options = options_of(arguments);
  const input::JsonValue json = read_json(arguments.config);
  const config::Config config = read_any(arguments.config.path, json);
  std::visit([](const auto& read) { print_warnings(read); }, config);
  if (!arguments.output.empty()) check_not_read(arguments.output, arguments.config.path, config);
  if (arguments.layouts) return tune_layout(arguments, *json, config);
  std::visit([&](const auto& read) { tune_config(arguments, options, *json, read); }, config);
}

}  // namespace equarx::cli
