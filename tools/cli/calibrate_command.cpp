#include <array>
#include <filesystem>
#include <optional>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/files.hpp"
#include "base/output/output_file.hpp"
#include "experiments/calibrate/report.hpp"
#include "experiments/config/hardware_json.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {

void calibrate(const CalibrateArguments& arguments) {
  const std::string text = input::read_file(arguments.file);
  const calibrate::CalibrationTask task = naming_file(arguments.file, [&] {
    return calibrate::read_task(input::parse_json(text),
                                std::filesystem::path(arguments.file).parent_path());
  });
  output::check_not_input(arguments.output, std::array{arguments.file, task.hardware});
  const StopNotice notice(arguments.output);
  std::optional<output::OutputFile> output;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  const calibrate::CalibrationResult result = naming_file(arguments.file, [&] {
    ProgressLine line;
    return calibrate::calibrate(task, [&](const std::string& text) { line.show(text); });
  });
  // Printed first: survives a full disk.
  print(arguments.json ? to_json(task, result).dump(2) + "\n" : to_table(task, result));
  if (output) {
    output->stream() << config::to_json(calibrated_chip(task, result)).dump(2) << '\n';
    output->keep();
  }
}

}  // namespace equarx::cli
