#include <array>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/files.hpp"
#include "base/units/quantity.hpp"
#include "experiments/calibrate/kernel_times.hpp"
#include "experiments/config/hardware_json.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"

namespace equarx::cli {
namespace {

double overhead_s(const KernelsArguments& arguments) {
  if (arguments.timer_overhead.empty()) return 0.0;
  const input::Json option = {{"timer_overhead", arguments.timer_overhead}};
  const double seconds = naming_options("", [&] {
    return input::ObjectReader(option, "").quantity("timer_overhead", units::Dimension::time);
  });
  if (seconds < 0.0) throw input::InputError("--timer-overhead", "must not be negative");
  return seconds;
}

}  // namespace

void kernels(const KernelsArguments& arguments) {
  const hardware::Chip chip = config::load_chip(arguments.hardware, "--hardware");
  output::check_not_input(arguments.output, std::array{arguments.file});
  const auto timed = calibrate::time_kernels(arguments.file, overhead_s(arguments), chip);
  const input::Json json =
      study_json(timed, chip, arguments.origin.empty() ? arguments.file : arguments.origin);
  print(arguments.json ? json.dump(2) + "\n" : to_table(timed, chip));
  if (!arguments.output.empty()) output::write_file(arguments.output, json.dump(2) + "\n");
}

}  // namespace equarx::cli
