#include "tools/cli/hardware_command.hpp"

#include "experiments/config/hardware_json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/inspect/hardware.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

void print_json(const input::Json& json) { print(json.dump(2) + "\n"); }

}  // namespace

void hardware(const HardwareArguments& arguments) {
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
