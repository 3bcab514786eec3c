#include "tools/cli/commands.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/files.hpp"
#include "base/output/output_file.hpp"
#include "experiments/compare/report.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/stored_json.hpp"
#include "experiments/inspect/hardware.hpp"
#include "experiments/inspect/quantize.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/result/step_table.hpp"
#include "experiments/result/table.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/tensor_files.hpp"
#include "experiments/step/run.hpp"
#include "experiments/step/tensors.hpp"
#include "experiments/trace/file.hpp"
#include "experiments/trace/step_tasks.hpp"
#include "models/tensors/file_error.hpp"
#include "models/tensors/tensor_file.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"
#include "tools/cli/stored_command.hpp"

namespace equarx::cli {

namespace {

using input::InputError;
using input::Json;

plan::Plan load(const std::string& path, const config::ExperimentConfig& config,
                plan::RunProfile profile = plan::RunProfile::single) {
  return naming_file(path, [&] { return plan::make_plan(config, profile); });
}

step::StepPlan load(const std::string& path, config::StepConfig config) {
  return naming_file(path, [&] { return step::make_plan(std::move(config)); });
}

/// Converts options to configuration keys, so that they have the same rules and messages.
inspect::QuantizeOptions quantize_options(const QuantizeArguments& arguments) {
  Json json = Json::object();
  for (const auto& [key, value] :
       {std::pair{"format", std::string(config::format_name(arguments.format))},
        std::pair{"scale", arguments.scale}, std::pair{"scale_rounding", arguments.scale_rounding},
        std::pair{"layout", arguments.layout}, std::pair{"rounding", arguments.rounding},
        std::pair{"block", arguments.block},
        std::pair{"elements_per_scale", arguments.elements_per_scale}})
    if (!value.empty()) config::override_value(json, std::string("/") + key, value);
  return inspect::read_quantize_options(json);
}

std::optional<std::filesystem::path> output_of(const QuantizeArguments& arguments) {
  if (arguments.output.empty()) return std::nullopt;
  return arguments.output;
}

/// Allocates the files of `--output-tensors`; null without it. `sets()`: tensors to write.
template <typename Plan, typename Sets>
std::unique_ptr<run::TensorFiles> open_tensors(const RunArguments& arguments, const Plan& plan,
                                               const Sets& sets) {
  if (arguments.tensors.empty()) return nullptr;
  auto files = naming_file(arguments.config.path, [&] {
    return std::make_unique<run::TensorFiles>(arguments.tensors, sets(), arguments.inputs);
  });
  for (const std::filesystem::path& path : files->all_paths())
    check_not_read(path.string(), arguments.config.path, plan.config);
  return files;
}

void run_config(const RunArguments& arguments, config::ExperimentConfig config) {
  if (arguments.uncertainty) config.uncertainty.request();
  const plan::Plan plan =
      load(arguments.config.path, config,
           arguments.trace.empty() ? plan::RunProfile::single : plan::RunProfile::traced);
  print_warnings(plan.config);
  const StopNotice notice(arguments.trace);
  std::optional<output::OutputFile> file;
  std::optional<trace::TraceFile> trace;
  if (!arguments.trace.empty()) {
    check_not_read(arguments.trace, arguments.config.path, plan.config);
    file.emplace(arguments.trace);
    trace.emplace(file->stream(), plan.config, arguments.trace_run);
  }
  const std::unique_ptr<run::TensorFiles> tensors =
      open_tensors(arguments, plan, [&] { return std::vector{run::tensor_set(plan)}; });
  run::ExperimentResult result;
  {
    ProgressLine line;
    result = run::run_experiment(plan, [&](const std::string& text) { line.show(text); },
                                 {.sensitivity = arguments.sensitivity,
                                  .observer = trace ? &*trace : nullptr,
                                  .sink = tensors ? &tensors->sink() : nullptr,
                                  .share = [&](double done) { line.share(done); }});
  }
  // Printed first: survives a disk too full for the trace.
  print(arguments.json ? result::to_json(result, {.links = arguments.links}).dump(2) + "\n"
                       : result::to_table(result, {.verbose = arguments.verbose}));
  if (trace) {
    trace->finish();
    file->keep();
  }
  if (tensors) tensors->keep();
}

/// Rejects options that do not apply to steps.
void check_step_options(const RunArguments& arguments) {
  if (!arguments.trace_run.empty())
    throw InputError("",
                     "--trace-run applies to collectives, but this configuration is a whole step; "
                     "remove it");
}

void run_config(const RunArguments& arguments, const config::StepConfig& config) {
  check_step_options(arguments);
  const step::StepPlan plan = load(arguments.config.path, config);
  print_warnings(config);
  const StopNotice notice(arguments.trace);
  std::optional<output::OutputFile> file;
  if (!arguments.trace.empty()) {
    check_not_read(arguments.trace, arguments.config.path, config);
    file.emplace(arguments.trace);
  }
  const std::unique_ptr<run::TensorFiles> tensors =
      open_tensors(arguments, plan, [&] { return step::tensor_sets(plan); });
  step::StepResult result;
  {
    ProgressLine line;
    result = step::run_step(plan, [&](const std::string& text) { line.show(text); },
                            {.uncertainty = arguments.uncertainty,
                             .sensitivity = arguments.sensitivity,
                             .tensors = tensors.get()});
  }
  print(arguments.json ? result::to_json(result, {.links = arguments.links}).dump(2) + "\n"
                       : result::to_table(result, {.verbose = arguments.verbose}));
  if (file) {
    trace::write_tasks(result, file->stream());
    file->keep();
  }
  if (tensors) tensors->keep();
}

}  // namespace

void run(const RunArguments& arguments) {
  std::visit([&](const auto& config) { run_config(arguments, config); },
             read_any(arguments.config.path, read_json(arguments.config)));
}

void show(const ConfigArguments& arguments) {
  const auto resolved = [&](const auto& config) {
    return to_json(load(arguments.path, config).config);
  };
  print(std::visit(resolved, read_any(arguments.path, read_json(arguments))).dump(2) + "\n");
}

void validate(const ConfigArguments& arguments) {
  const input::JsonValue json = read_json(arguments);
  if (json->is_object() && json->contains("serving"))
    read_serving(arguments.path, json);
  else
    std::visit(
        [&](const auto& config) {
          load(arguments.path, config);
          print_warnings(config);
        },
        read_any(arguments.path, json));
  print(fmt::format("{}: valid\n", name_of(arguments.path)));
}

void quantize(const QuantizeArguments& arguments) {
  output::check_not_input(arguments.output, std::array{arguments.file, arguments.importance,
                                                       arguments.inputs, arguments.hessian});
  if (config::is_stored_format(arguments.format)) return quantize_stored(arguments);
  if (const char* option = first_given({{!arguments.importance.empty(), "--importance"},
                                        {!arguments.inputs.empty(), "--inputs"},
                                        {!arguments.hessian.empty(), "--hessian"}}))
    throw InputError(option, "is for stored formats; remove it");
  const inspect::QuantizeOptions options =
      naming_options("", [&] { return quantize_options(arguments); });
  print(to_table(
      quantize_file(open_tensor(arguments.file, arguments.tensor), options, output_of(arguments))));
}

void compare(const CompareArguments& arguments) {
  const compare::Comparison comparison = compare::compare(arguments.a, arguments.b);
  print(arguments.json ? to_json(comparison).dump(2) + "\n" : to_table(comparison));
}

void hardware(const HardwareArguments& arguments) {
  const auto print_json = [](const Json& json) { print(json.dump(2) + "\n"); };
  if (arguments.chip.empty()) {
    const auto chips = inspect::built_in_chips();
    if (arguments.json) return print_json(inspect::to_json(chips));
    return print(inspect::to_table(chips));
  }
  const auto chip = config::load_chip(arguments.chip, "");
  if (arguments.json) return print_json(config::to_json(chip));
  print(inspect::to_report(chip));
}

}  // namespace equarx::cli
