#include "tools/cli/commands.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiments/compare/report.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/inspect/hardware.hpp"
#include "experiments/inspect/quantize.hpp"
#include "experiments/output/files.hpp"
#include "experiments/output/output_file.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/tensor_files.hpp"
#include "experiments/trace/file.hpp"
#include "models/tensors/file_error.hpp"
#include "models/tensors/tensor_file.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/step_command.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

using input::InputError;
using input::Json;

plan::Plan load(const ConfigArguments& arguments, input::JsonValue json, bool uncertainty = false,
                plan::RunProfile profile = plan::RunProfile::single) {
  ConfigFile file = read_config_file(arguments, std::move(json));
  if (uncertainty) file.config.uncertainty.request();
  return naming_file(arguments.path, [&] { return plan::make_plan(file.config, profile); });
}

/// Converts options to configuration keys, so that they have the same rules and messages.
inspect::QuantizeOptions quantize_options(const QuantizeArguments& arguments) {
  Json json = Json::object();
  for (const auto& [key, value] :
       {std::pair{"format", std::string(config::format_name(arguments.format))},
        std::pair{"scale", arguments.scale}, std::pair{"layout", arguments.layout},
        std::pair{"rounding", arguments.rounding}, std::pair{"block", arguments.block},
        std::pair{"elements_per_scale", arguments.elements_per_scale}})
    if (!value.empty()) config::override_value(json, std::string("/") + key, value);
  return inspect::read_quantize_options(json);
}

/// A configuration, a workload on one chip as its step.
struct Given {
  input::JsonValue json;
  bool is_one_chip = false;

  bool is_step() const { return config::is_step(json); }
};

Given read_given(const ConfigArguments& arguments) {
  Given given{read_json(arguments)};
  input::JsonValue step = config::step_of_one_chip(given.json);
  if (!step->is_null()) given = {std::move(step), true};
  return given;
}

/// Printed last, since errors are a single line.
void note_one_chip(const Given& given) {
  if (given.is_one_chip)
    print_message(
        "equarx-sim: note: a workload on one chip has no collectives and runs as a step "
        "(docs/steps.md); \"collectives\" and \"tensor\" do not apply\n");
}

}  // namespace

void run(const RunArguments& arguments) {
  Given given = read_given(arguments.config);
  if (given.is_step()) {
    run_step(arguments, given.json);
    return note_one_chip(given);
  }
  const plan::Plan plan =
      load(arguments.config, std::move(given.json), arguments.uncertainty,
           arguments.trace.empty() ? plan::RunProfile::single : plan::RunProfile::traced);
  warn_of_labels(plan.config);
  const StopNotice notice(arguments.trace);
  std::optional<output::OutputFile> file;
  std::optional<trace::TraceFile> trace;
  if (!arguments.trace.empty()) {
    check_not_read(arguments.trace, arguments.config.path, plan.config);
    file.emplace(arguments.trace);
    trace.emplace(file->stream(), plan.config, arguments.trace_run);
  }
  std::optional<run::TensorFiles> tensors;
  if (!arguments.tensors.empty()) {
    naming_file(arguments.config.path,
                [&] { tensors.emplace(arguments.tensors, plan, arguments.inputs); });
    for (const std::filesystem::path& path : run::all_of(tensors->paths()))
      check_not_read(path.string(), arguments.config.path, plan.config);
  }
  run::ExperimentResult result;
  {
    ProgressLine line;
    result = run::run_experiment(plan, [&](const std::string& text) { line.show(text); },
                                 {.sensitivity = arguments.sensitivity,
                                  .observer = trace ? &*trace : nullptr,
                                  .sink = tensors ? &*tensors : nullptr,
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

void show(const ConfigArguments& arguments) {
  Given given = read_given(arguments);
  print(given.is_step() ? show_step(arguments.path, given.json)
                        : to_json(load(arguments, given.json).config).dump(2) + "\n");
  note_one_chip(given);
}

void validate(const ConfigArguments& arguments) {
  const Given given = read_given(arguments);
  if (given.is_step())
    check_step(arguments.path, given.json);
  else
    load(arguments, given.json);
  print(fmt::format("{}: valid\n", name_of(arguments.path)));
  note_one_chip(given);
}

void quantize(const QuantizeArguments& arguments) {
  const inspect::QuantizeOptions options =
      naming_options("", [&] { return quantize_options(arguments); });
  output::check_not_input(arguments.output, std::array{arguments.file});
  try {
    std::optional<std::string_view> name;
    if (!arguments.tensor.empty()) name = arguments.tensor;
    const auto file = tensors::TensorFile::open(arguments.file, name);
    std::optional<std::filesystem::path> output;
    if (!arguments.output.empty()) output = arguments.output;
    print(to_table(quantize_file(file, options, output)));
  } catch (const tensors::NoTensorNamed& error) {
    throw InputError("", fmt::format("{} by --tensor", error.what()));
  } catch (const tensors::FileError& error) {
    throw InputError("", error.what());
  }
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
