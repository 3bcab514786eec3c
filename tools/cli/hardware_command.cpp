#include "tools/cli/hardware_command.hpp"

#include "experiments/hardware_json.hpp"
#include "experiments/hardware_report.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {
namespace {

void print_json(const experiments::Json& json) { print(json.dump(2) + "\n"); }

}  // namespace

void hardware(const HardwareArguments& arguments) {
  if (arguments.chip.empty()) {
    const auto chips = experiments::built_in_chips();
    if (arguments.json) return print_json(experiments::to_json(chips));
    return print(experiments::to_table(chips));
  }
  const auto chip = experiments::load_chip(arguments.chip, "");
  if (arguments.json) return print_json(experiments::to_json(chip));
  print(experiments::to_report(chip));
}

}  // namespace equarx::cli
