#include "tools/cli/gates_command.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/advise/gates_report.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/requested_machines.hpp"

namespace equarx::cli {
namespace {

void check_options(const AdviseArguments& arguments) {
  const char* const option = first_given({{!arguments.max_nmse.empty(), "--max-nmse"},
                                          {!arguments.min_sqnr.empty(), "--min-sqnr"},
                                          {!arguments.max_time.empty(), "--max-time"},
                                          {!arguments.contract.empty(), "--contract"},
                                          {!arguments.budget.empty(), "--budget"},
                                          {!arguments.report.empty(), "--report"},
                                          {!arguments.plot.empty(), "--plot"}});
  if (option != nullptr)
    throw input::InputError("--gates",
                            fmt::format("lists all codecs and sizes; remove {}", option));
}

}  // namespace

void print_gates(const AdviseArguments& arguments) {
  check_options(arguments);
  const std::vector<std::string> formats = split_at_commas(arguments.formats);
  std::vector<advise::MachineGates> machines;
  bool any = false;
  {
    ProgressLine line;
    for (const RequestedMachine& requested :
         with_ranks(requested_machines(arguments.config, arguments.chips, arguments.slices),
                    arguments.ranks)) {
      const config::ExperimentConfig config = read_config_file(requested.config).config;
      try {
        machines.push_back(
            advise::find_gates(config, formats, [&](const std::string& text) { line.show(text); }));
        any = true;
      } catch (const input::InputError& error) {
        machines.push_back({.config = config, .ranks = 0, .gates = {}, .why_not = error.what()});
      }
    }
  }
  if (!any) throw input::InputError("", machines.front().why_not);
  print(arguments.json ? to_json(machines).dump(2) + "\n" : to_text(machines));
}

}  // namespace equarx::cli
