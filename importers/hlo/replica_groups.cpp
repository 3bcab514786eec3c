#include "importers/hlo/replica_groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "importers/hlo/device_order.hpp"
#include "importers/hlo/mesh_groups.hpp"

namespace equarx::hlo {
namespace {

/// Parses "[4,2]<=[2,4]T(1,0)".
std::optional<DeviceGroups> read_iota_groups(std::string_view text, std::uint64_t most) {
  const std::size_t arrow = text.find("<=");
  if (arrow == std::string_view::npos) return std::nullopt;
  const AxisNumbers shape = numbers_in(text.substr(0, arrow));
  const std::optional<std::uint64_t> size = product_of(shape);
  if (!size || *size > most || shape.empty() || shape.size() > 2) return std::nullopt;
  const auto numbers = read_iota(text.substr(arrow), *size);
  if (!numbers) return std::nullopt;
  return in_runs(*numbers, *size / static_cast<std::uint64_t>(shape.front()));
}

/// Parses "{{0,1},{2,3}}".
std::optional<DeviceGroups> read_lists(std::string_view text, std::uint64_t most) {
  if (!text.starts_with("{") || !text.ends_with("}")) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  DeviceGroups groups;
  std::uint64_t count = 0;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) return std::nullopt;
    std::vector<std::uint32_t>& group = groups.emplace_back();
    for (const std::int64_t number : numbers_in(text.substr(at, end - at))) {
      if (static_cast<std::uint64_t>(number) >= kMaxDevices || ++count > most) return std::nullopt;
      group.push_back(static_cast<std::uint32_t>(number));
    }
    at = end;
  }
  return groups;
}

std::string_view name_of(Numbers numbers) {
  if (numbers == Numbers::devices) return "chip";
  return numbers == Numbers::partitions ? "partition" : "replica";
}
std::uint64_t count_of(Numbers numbers, const Module& module) {
  switch (numbers) {
    case Numbers::devices: return module.devices();
    case Numbers::partitions: return module.partitions;
    case Numbers::replicas:
    case Numbers::replicas_with_all_partitions: return module.replicas;
  }
  return 0;
}

bool all_below(const DeviceGroups& groups, std::uint64_t count) {
  return std::ranges::all_of(groups, [&](const std::vector<std::uint32_t>& group) {
    return std::ranges::all_of(group, [&](std::uint32_t number) { return number < count; });
  });
}

/// Expands groups of numbers to groups of chips.
DeviceGroups as_devices(const DeviceGroups& groups, Numbers numbers, const Module& module) {
  if (numbers == Numbers::devices) return groups;
  const std::uint32_t partitions = module.partitions;
  DeviceGroups devices;
  for (const std::vector<std::uint32_t>& group : groups) {
    if (numbers == Numbers::replicas_with_all_partitions) {
      std::vector<std::uint32_t>& all = devices.emplace_back();
      for (const std::uint32_t replica : group)
        for (std::uint32_t partition = 0; partition < partitions; ++partition)
          all.push_back(replica * partitions + partition);
      continue;
    }
    const bool of_partitions = numbers == Numbers::partitions;
    for (std::uint32_t other = 0; other < (of_partitions ? module.replicas : partitions); ++other) {
      std::vector<std::uint32_t>& one = devices.emplace_back();
      for (const std::uint32_t number : group)
        one.push_back(of_partitions ? other * partitions + number : number * partitions + other);
    }
  }
  return devices;
}

}  // namespace

Numbers numbers_of(const Instruction& instruction) {
  const bool has_channel = !instruction.attribute("channel_id").empty();
  if (!has_channel) return Numbers::replicas;
  if (instruction.attribute("use_global_device_ids") == "true") return Numbers::devices;
  constexpr std::string_view kOfPartitions[] = {"all-to-all", "collective-permute",
                                                "collective-broadcast", "ragged-all-to-all"};
  const bool of_partitions = std::ranges::any_of(kOfPartitions, [&](std::string_view opcode) {
    return instruction.opcode.starts_with(opcode);
  });
  return of_partitions ? Numbers::partitions : Numbers::replicas_with_all_partitions;
}

std::optional<DeviceGroups> read_groups(std::string_view text, std::uint64_t most) {
  if (text.empty() || text == "{}") return DeviceGroups{};
  if (text.starts_with("mesh") || text.starts_with("@mesh")) return read_mesh_groups(text, most);
  return text.front() == '[' ? read_iota_groups(text, most) : read_lists(text, most);
}

std::optional<DeviceGroups> groups_of(const Instruction& instruction, const Module& module) {
  if (module.devices() > kMaxDevices) return std::nullopt;
  const Numbers numbers = numbers_of(instruction);
  const std::uint64_t count = count_of(numbers, module);
  std::optional<DeviceGroups> groups = read_groups(instruction.attribute("replica_groups"), count);
  if (!groups) return std::nullopt;
  if (groups->empty()) {
    std::vector<std::uint32_t>& all = groups->emplace_back(count);
    std::iota(all.begin(), all.end(), std::uint32_t{0});
  }
  if (!all_below(*groups, count)) return std::nullopt;
  return as_devices(*groups, numbers, module);
}

std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs_of(
    const Instruction& instruction, const Module& module) {
  if (module.devices() > kMaxDevices) return std::nullopt;
  const Numbers numbers = numbers_of(instruction);
  const std::uint64_t count = count_of(numbers, module);
  // At most one pair per sender.
  const std::optional<DeviceGroups> lists =
      read_groups(instruction.attribute("source_target_pairs"), 2 * count);
  if (!lists || !all_below(*lists, count)) return std::nullopt;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const std::vector<std::uint32_t>& pair : as_devices(*lists, numbers, module)) {
    if (pair.size() != 2) return std::nullopt;
    pairs.emplace_back(pair[0], pair[1]);
  }
  return pairs;
}

std::optional<std::uint64_t> largest_number(const Instruction& instruction) {
  std::optional<std::uint64_t> largest;
  for (const std::string_view key : {"replica_groups", "source_target_pairs"}) {
    const std::optional<DeviceGroups> groups = read_groups(instruction.attribute(key), kMaxDevices);
    if (!groups) continue;
    for (const std::vector<std::uint32_t>& group : *groups)
      for (const std::uint32_t number : group)
        largest = std::max(largest.value_or(0), std::uint64_t{number});
  }
  return largest;
}

std::string group_problem(const Instruction& instruction, const Module& module) {
  const bool has_pairs = instruction.opcode.starts_with("collective-permute");
  const char* const key = has_pairs ? "source_target_pairs" : "replica_groups";
  const std::uint64_t count = count_of(numbers_of(instruction), module);
  const std::optional<std::uint64_t> largest = largest_number(instruction);
  if (largest && *largest >= count) {
    const std::string_view what = name_of(numbers_of(instruction));
    return fmt::format("its {} name {} {}, but the program is for {} {}{} by its header or --chips",
                       key, what, *largest, count, what, count == 1 ? "" : "s");
  }
  constexpr std::size_t kMaxShown = 40;
  return fmt::format("unreadable {} '{}'", key, instruction.attribute(key).substr(0, kMaxShown));
}

}  // namespace equarx::hlo
