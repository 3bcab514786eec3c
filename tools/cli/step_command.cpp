#include "tools/cli/step_command.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/step_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/output/files.hpp"
#include "experiments/output/output_file.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/step/report.hpp"
#include "experiments/step/run.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

step::StepPlan load(const std::string& path, const input::JsonValue& json) {
  const config::StepConfig config = read_step(path, json);
  return naming_file(path, [&] { return step::make_plan(config); });
}

/// Rejects options that do not apply to steps.
void check_options(const RunArguments& arguments) {
  const char* const option = first_given({{arguments.links, "--links"},
                                          {arguments.inputs, "--output-inputs"},
                                          {!arguments.tensors.empty(), "--output-tensors"},
                                          {!arguments.trace_run.empty(), "--trace-run"}});
  if (option != nullptr)
    throw input::InputError(
        "", fmt::format("{} applies to collectives, but this configuration is a whole step; "
                        "remove it",
                        option));
}

}  // namespace

config::StepConfig read_step(const std::string& path, const input::JsonValue& json) {
  return naming_file(path, [&] {
    config::StepConfig config = config::read_step_config(json);
    input::check_schema(json, "step");
    step::check_memory(config);
    return config;
  });
}

void run_step(const RunArguments& arguments, const input::JsonValue& json) {
  check_options(arguments);
  const step::StepPlan plan = load(arguments.config.path, json);
  const StopNotice notice(arguments.trace);
  std::optional<output::OutputFile> file;
  if (!arguments.trace.empty()) {
    output::check_not_input(arguments.trace, std::array{arguments.config.path});
    file.emplace(arguments.trace);
  }
  step::StepResult result;
  {
    ProgressLine line;
    result = step::run_step(
        plan, [&](const std::string& text) { line.show(text); },
        {.uncertainty = arguments.uncertainty, .sensitivity = arguments.sensitivity});
  }
  print(arguments.json ? step::to_json(result).dump(2) + "\n" : step::to_table(result));
  if (file) {
    step::write_trace(result, file->stream());
    file->keep();
  }
}

void check_step(const std::string& path, const input::JsonValue& json) { load(path, json); }

std::string show_step(const std::string& path, const input::JsonValue& json) {
  return to_json(load(path, json).config).dump(2) + "\n";
}

}  // namespace equarx::cli
