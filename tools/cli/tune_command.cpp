#include "tools/cli/tune_command.hpp"

#include <optional>

#include "experiments/output_file.hpp"
#include "experiments/tune_report.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  parts.emplace_back();
  for (const char letter : text)
    if (letter == ',')
      parts.emplace_back();
    else
      parts.back() += letter;
  return parts;
}

experiments::TuneResult find(const experiments::ExperimentConfig& config,
                             const experiments::TuneOptions& options) {
  const ProgressLine line;
  return experiments::tune(config, options, [&](const std::string& text) { line.show(text); });
}

}  // namespace

void tune(const TuneArguments& arguments) {
  experiments::TuneOptions options;
  options.limits =
      experiments::read_limits({arguments.max_nmse, arguments.min_sqnr, arguments.max_time});
  options.formats = split(arguments.formats);
  options.exhaustive = arguments.exhaustive;
  const ConfigFile file = read_config_file(arguments.config);
  std::optional<experiments::OutputFile> output;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  const experiments::TuneResult result = find(file.config, options);
  if (output) {
    output->stream() << best_config(file.json, result).dump(2) << '\n';
    output->keep();
  }
  print(arguments.json ? to_json(result, file.json).dump(2) + "\n" : to_table(result));
}

}  // namespace equarx::cli
