#include "tools/cli/requested_machines.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/topology_json.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/config_file.hpp"

namespace equarx::cli {
namespace {

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

std::uint32_t read_ranks(const std::string& text) {
  constexpr std::uint32_t kMost = 4096;
  std::uint32_t ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc{} || end != text.data() + text.size() || ranks < 2 || ranks > kMost)
    throw input::InputError(
        "--ranks",
        fmt::format("'{}' is not a number of ranks from 2 to {}; use 2,4,8", text, kMost));
  return ranks;
}

}  // namespace

std::vector<std::uint32_t> numbers_of_ranks(const std::string& ranks, std::uint32_t chips) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& one : split_at_commas(ranks)) numbers.push_back(read_ranks(one));
  if (!numbers.empty()) return numbers;
  for (std::uint32_t number = 2; number < chips; number *= 2) numbers.push_back(number);
  numbers.push_back(chips);
  return numbers;
}

std::vector<RequestedMachine> requested_machines(const ConfigArguments& config,
                                                 const std::string& chip_list,
                                                 const std::string& slice_list) {
  const config::ExperimentConfig own = read_config_file(config).config;
  print_warnings(own);
  std::vector<std::string> names = split_at_commas(chip_list);
  std::vector<std::string> slices = split_at_commas(slice_list);
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
  std::vector<RequestedMachine> machines;
  for (const std::string& chip : names)
    for (const std::string& slice : slices) {
      ConfigArguments changed = config;
      if (other_chips) changed.overrides.set.push_back("/hardware=" + input::Json(chip).dump());
      if (other_slices)
        changed.overrides.set.push_back("/topology/slice=" + input::Json(slice).dump());
      machines.push_back({chip, slice, std::move(changed)});
    }
  return machines;
}

std::vector<RequestedMachine> with_ranks(const std::vector<RequestedMachine>& machines,
                                         const std::string& ranks) {
  const config::TopologyConfig own = read_config_file(machines.front().config).config.topology;
  if (!config::joins_all_alike(own)) {
    if (ranks.empty()) return machines;
    throw input::InputError("--ranks", fmt::format("is for chips on a switch or fully connected, "
                                                   "not for {}; use --slices",
                                                   config::topology_text(own)));
  }
  const char* const key =
      own.kind == config::TopologyKind::on_switch ? "switch" : "fully-connected";
  std::vector<RequestedMachine> all;
  for (const RequestedMachine& machine : machines)
    for (const std::uint32_t number : numbers_of_ranks(ranks, own.chips)) {
      all.push_back(machine);
      all.back().config.overrides.set.push_back(fmt::format("/topology/{}={}", key, number));
    }
  return all;
}

}  // namespace equarx::cli
