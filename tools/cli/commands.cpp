#include "tools/cli/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiments/config_json.hpp"
#include "experiments/config_place.hpp"
#include "experiments/experiment.hpp"
#include "experiments/input_error.hpp"
#include "experiments/output_file.hpp"
#include "experiments/output_files.hpp"
#include "experiments/quantize_file.hpp"
#include "experiments/result_json.hpp"
#include "experiments/result_table.hpp"
#include "experiments/study.hpp"
#include "experiments/study_report.hpp"
#include "experiments/trace_json.hpp"
#include "models/tensors/file_error.hpp"
#include "models/tensors/tensor_file.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

using experiments::InputError;
using experiments::Json;

experiments::Plan load(const ConfigArguments& arguments) {
  const ConfigFile file = read_config_file(arguments);
  return naming_file(arguments.path, [&] { return experiments::make_plan(file.config); });
}

}  // namespace

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw InputError("", "cannot write to standard output");
}

void run(const RunArguments& arguments) {
  const experiments::Plan plan = load(arguments.config);
  std::optional<experiments::OutputFile> file;
  std::optional<experiments::TraceFile> trace;
  if (!arguments.trace.empty()) {
    file.emplace(arguments.trace);
    trace.emplace(file->stream(), plan.config, arguments.trace_run);
  }
  experiments::ExperimentResult result;
  {
    const ProgressLine line;
    result = run_experiment(plan, [&](const std::string& text) { line.show(text); },
                            {.trace = trace ? &*trace : nullptr});
  }
  if (trace) {
    trace->finish();
    file->keep();
  }
  print(arguments.json ? to_json(result, {.links = arguments.links}).dump(2) + "\n"
                       : to_table(result));
}

void show(const ConfigArguments& arguments) {
  print(to_json(load(arguments).config).dump(2) + "\n");
}

void validate(const ConfigArguments& arguments) {
  load(arguments);
  print(fmt::format("{}: valid\n", arguments.path));
}

bool reproduce(const ReproduceArguments& arguments) {
  const std::filesystem::path folder = arguments.study;
  const experiments::Study study = experiments::load_study(folder);
  const std::filesystem::path name =
      folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  const std::filesystem::path output = arguments.output.empty()
                                           ? std::filesystem::path("results") / name
                                           : std::filesystem::path(arguments.output);
  experiments::check_folder(output);
  experiments::StudyResult result;
  {
    const ProgressLine line;
    result = run_study(study, [&](const std::string& text) { line.show(text); });
  }
  const auto files = write_report(result, output);
  std::string text = to_table(result) + "\n";
  for (const std::filesystem::path& file : files) text += file.string() + "\n";
  print(text);
  return !arguments.strict ||
         std::ranges::all_of(result.outcomes, &experiments::StudyOutcome::within_tolerance);
}

void quantize(const QuantizeArguments& arguments) {
  // The options are read as the keys of a configuration are, with the same rules and messages.
  Json json = Json::object();
  for (const auto& [key, value] :
       {std::pair{"format", arguments.format}, std::pair{"scale", arguments.scale},
        std::pair{"layout", arguments.layout}, std::pair{"rounding", arguments.rounding},
        std::pair{"block", arguments.block},
        std::pair{"elements_per_scale", arguments.elements_per_scale}})
    if (!value.empty()) experiments::override_value(json, std::string("/") + key, value);
  const experiments::QuantizeOptions options = experiments::read_quantize_options(json);
  try {
    std::optional<std::string_view> name;
    if (!arguments.tensor.empty()) name = arguments.tensor;
    const auto file = tensors::TensorFile::open(arguments.file, name);
    std::optional<std::filesystem::path> output;
    if (!arguments.output.empty()) output = arguments.output;
    print(to_table(quantize_file(file, options, output)));
  } catch (const tensors::FileError& error) {
    throw InputError("", error.what());
  }
}

}  // namespace equarx::cli
