#include "tools/cli/commands.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/format_names.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
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
                plan::Look look = plan::Look::at_it) {
  ConfigFile file = read_config_file(arguments, std::move(json));
  config::UncertaintyConfig& asked = file.config.uncertainty;
  if (uncertainty && asked.samples == 0) asked.samples = config::UncertaintyConfig::kDefaultSamples;
  return naming_file(arguments.path, [&] { return plan::make_plan(file.config, look); });
}

/// The options are read as the keys of a configuration are, with the same rules and messages.
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

}  // namespace

void run(const RunArguments& arguments) {
  input::JsonValue json = read_json(arguments.config);
  if (config::is_step(json)) return run_step(arguments, json);
  const plan::Plan plan = load(arguments.config, std::move(json), arguments.uncertainty,
                               arguments.trace.empty() ? plan::Look::at_it : plan::Look::at_events);
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
                                  .keeper = tensors ? &*tensors : nullptr,
                                  .share = [&](double done) { line.share(done); }});
  }
  // First, so that a disk without room for the trace loses nothing else.
  print(arguments.json ? result::to_json(result, {.links = arguments.links}).dump(2) + "\n"
                       : result::to_table(result));
  if (trace) {
    trace->finish();
    file->keep();
  }
  if (tensors) tensors->keep();
}

void show(const ConfigArguments& arguments) {
  input::JsonValue json = read_json(arguments);
  print(config::is_step(json) ? show_step(arguments.path, json)
                              : to_json(load(arguments, std::move(json)).config).dump(2) + "\n");
}

void validate(const ConfigArguments& arguments) {
  input::JsonValue json = read_json(arguments);
  if (config::is_step(json))
    check_step(arguments.path, json);
  else
    load(arguments, std::move(json));
  print(fmt::format("{}: valid\n", name_of(arguments.path)));
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

}  // namespace equarx::cli
