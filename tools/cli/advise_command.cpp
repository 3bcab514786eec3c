#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiments/advise/report.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/input/json.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

/// Default error limit; about the SQNR of int8 over a hundred chips, which most models tolerate.
constexpr const char* kDefaultSqnr = "30 dB";

tune::TuneOptions read_options(const AdviseArguments& arguments) {
  const bool unlimited = arguments.max_nmse.empty() && arguments.min_sqnr.empty();
  tune::TuneOptions options;
  options.limits = tune::read_limits(
      {arguments.max_nmse, unlimited ? kDefaultSqnr : arguments.min_sqnr, arguments.max_time});
  options.formats = split_at_commas(arguments.formats);
  options.budget_s = tune::read_time("--budget", arguments.budget);
  return options;
}

advise::Advice advise_on(const ConfigFile& file, const tune::TuneOptions& options) {
  ProgressLine line;
  return advise::advise(file.config, options, [&](const std::string& text) { line.show(text); });
}

/// The slice in the shape in which a chip offers it. @throws InputError if no chip offers it
std::string offered_slice(const std::string& slice, const std::vector<hardware::Chip>& chips) {
  std::optional<input::InputError> first;
  for (const hardware::Chip& chip : chips) {
    try {
      return topology::format_lengths(config::slice_lengths(slice, chip, "--slices"));
    } catch (const input::InputError& error) {
      if (!first) first = error;
    }
  }
  throw *first;
}

/// The configuration for every requested chip and slice. @throws InputError if a chip is unknown,
/// or if no chip offers a slice
std::vector<std::pair<advise::MachineAdvice, ConfigArguments>> machines_of(
    const AdviseArguments& arguments) {
  const config::ExperimentConfig own = read_config_file(arguments.config).config;
  warn_of_labels(own);
  std::vector<std::string> names = split_at_commas(arguments.chips);
  std::vector<std::string> slices = split_at_commas(arguments.slices);
  const bool other_chips = !names.empty();
  const bool other_slices = !slices.empty();
  std::vector<hardware::Chip> chips;
  for (std::string& name : names) {
    chips.push_back(config::load_chip(name, "--chips"));
    name = config::chip_name(name);
  }
  if (!other_chips) {
    chips.push_back(own.chip);
    names.push_back(own.chip.name);
  }
  for (std::string& slice : slices) slice = offered_slice(slice, chips);
  if (!other_slices) slices.push_back(config::topology_text(own.topology));
  std::vector<std::pair<advise::MachineAdvice, ConfigArguments>> machines;
  for (const std::string& chip : names)
    for (const std::string& slice : slices) {
      ConfigArguments config = arguments.config;
      if (other_chips) config.overrides.set.push_back("/hardware=" + input::Json(chip).dump());
      if (other_slices)
        config.overrides.set.push_back("/topology/slice=" + input::Json(slice).dump());
      machines.emplace_back(advise::MachineAdvice{chip, slice, std::nullopt, {}},
                            std::move(config));
    }
  return machines;
}

/// Infeasible machines are rows of the table. @throws InputError if all are infeasible
std::vector<advise::MachineAdvice> advise_on_all(const AdviseArguments& arguments,
                                                 const tune::TuneOptions& options) {
  std::vector<advise::MachineAdvice> machines;
  bool any = false;
  for (auto& [machine, config] : machines_of(arguments)) {
    try {
      machine.advice = advise_on(read_config_file(config), options);
      any = true;
    } catch (const input::InputError& error) {
      machine.why_not = error.what();
    }
    machines.push_back(std::move(machine));
  }
  if (!any)
    throw input::InputError(
        "", fmt::format("no requested chip and slice can run: {}", machines.front().why_not));
  return machines;
}

}  // namespace

void advise(const AdviseArguments& arguments) {
  const tune::TuneOptions options = read_options(arguments);
  if (arguments.chips.empty() && arguments.slices.empty()) {
    const ConfigFile file = read_config_file(arguments.config);
    warn_of_labels(file.config);
    const advise::Advice advice = advise_on(file, options);
    return print(arguments.json ? to_json(advice).dump(2) + "\n" : to_text(advice));
  }
  const std::vector<advise::MachineAdvice> machines = advise_on_all(arguments, options);
  print(arguments.json ? to_json(machines).dump(2) + "\n" : to_table(machines));
}

}  // namespace equarx::cli
