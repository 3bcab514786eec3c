#include "experiments/config/machine_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/embedded.hpp"
#include "base/input/nearest.hpp"
#include "experiments/config/slices_json.hpp"

namespace equarx::config {
namespace {

// Google Cloud TPU documentation: accelerator types; GKE documentation: values of
// cloud.google.com/gke-tpu-accelerator; JAX: Device.device_kind.
constexpr std::array kChipAliases = {ChipAlias{"v4", "tpu-v4"},
                                     ChipAlias{"v4-podslice", "tpu-v4"},
                                     ChipAlias{"v5e", "tpu-v5e"},
                                     ChipAlias{"v5lite", "tpu-v5e"},
                                     ChipAlias{"v5-lite", "tpu-v5e"},
                                     ChipAlias{"v5litepod", "tpu-v5e"},
                                     ChipAlias{"v5-lite-podslice", "tpu-v5e"},
                                     ChipAlias{"v5p", "tpu-v5p"},
                                     ChipAlias{"v5p-slice", "tpu-v5p"},
                                     ChipAlias{"v6e", "tpu-v6e"},
                                     ChipAlias{"v6-lite", "tpu-v6e"},
                                     ChipAlias{"v6e-slice", "tpu-v6e"},
                                     ChipAlias{"trillium", "tpu-v6e"},
                                     ChipAlias{"v7", "tpu-v7"},
                                     ChipAlias{"v7x", "tpu-v7"},
                                     ChipAlias{"7x", "tpu-v7"},
                                     ChipAlias{"ironwood", "tpu-v7"}};

/// Chips whose accelerator types count TensorCores, two per chip: Google Cloud TPU documentation.
constexpr std::array<std::string_view, 3> kTwoCores = {"tpu-v4", "tpu-v5p", "tpu-v7"};

/// A known chip without a hardware file.
struct OtherChip {
  std::string_view name;
  std::string_view nearest;  ///< built-in chip
  std::string_view changes;  ///< parameters that differ, from its data sheet
};

constexpr std::string_view kMostParameters =
    "set the /hardware parameters that differ (docs/hardware.md)";
constexpr std::array kOtherChips = {
    OtherChip{"b300", "b200", kMostParameters},
    OtherChip{"gb300", "gb200", kMostParameters},
    OtherChip{"v100", "a100", kMostParameters},
    OtherChip{"mi325x", "mi300x",
              "set /hardware/hbm_bandwidth to 6 TB/s and /hardware/hbm_capacity to 256 GB"},
    OtherChip{"mi355x", "mi300x", kMostParameters},
    OtherChip{"v2", "tpu-v4", kMostParameters},
    OtherChip{"v3", "tpu-v4", kMostParameters}};

/// Lower case, with hyphens for spaces and underscores.
std::string normalized(std::string_view name) {
  std::string text(name);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (letter == ' ' || letter == '_') letter = '-';
  }
  return text;
}

std::string_view without_tpu(std::string_view name) {
  for (const std::string_view prefix : {"tpu-", "tpu"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

/// The built-in chip of a normalized name; empty if unknown.
std::string_view find_chip(std::string_view name) {
  for (const input::EmbeddedFile& file : input::embedded_hardware())
    if (file.name == name) return file.name;
  const auto found = std::ranges::find(kChipAliases, without_tpu(name), &ChipAlias::alias);
  return found == kChipAliases.end() ? std::string_view{} : found->name;
}

/// Quoted names of built-in chips that begin with a normalized name, with or without "tpu-"; else
/// the chip with the nearest name or alias, if any is close.
std::vector<std::string> chips_like(std::string_view wanted,
                                    std::span<const std::string_view> names) {
  constexpr std::size_t kShortest = 2;
  std::vector<std::string> found;
  const std::string_view begin = without_tpu(wanted);
  for (const std::string_view name : names)
    if (begin.size() >= kShortest && without_tpu(name).starts_with(begin))
      found.push_back(fmt::format("'{}'", name));
  if (!found.empty()) return found;
  std::vector<std::string_view> known(names.begin(), names.end());
  for (const ChipAlias& alias : kChipAliases) known.push_back(alias.alias);
  const auto nearest = input::near(wanted, known);
  if (nearest) found.push_back(fmt::format("'{}'", chip_name(*nearest)));
  return found;
}

}  // namespace

std::span<const ChipAlias> chip_aliases() { return kChipAliases; }

std::string chip_name(std::string_view name) {
  const std::string_view found = find_chip(normalized(name));
  return std::string(found.empty() ? name : found);
}

std::optional<AcceleratorType> accelerator_type(std::string_view text) {
  const std::string name = normalized(text);
  const std::size_t hyphen = name.rfind('-');
  if (hyphen == std::string::npos) return std::nullopt;
  AcceleratorType type;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + hyphen + 1, end, type.count);
  if (error != std::errc() || stop != end || type.count == 0) return std::nullopt;
  type.chip = find_chip(std::string_view(name).substr(0, hyphen));
  if (!type.chip.starts_with("tpu-")) return std::nullopt;
  if (std::ranges::find(kTwoCores, type.chip) != kTwoCores.end()) type.units_per_chip = 2;
  return type;
}

hardware::SliceLengths slice_of(const AcceleratorType& type, const hardware::Slices& slices) {
  const std::uint32_t chips = type.count / type.units_per_chip;
  if (type.count % type.units_per_chip != 0)
    throw std::invalid_argument(fmt::format(
        "the number in accelerator types of {} counts TensorCores, {} per chip; {} is not a "
        "multiple of {}",
        type.chip, type.units_per_chip, type.count, type.units_per_chip));
  const std::vector<hardware::SliceLengths> found = hardware::slices_of(slices, chips);
  if (found.empty())
    throw std::invalid_argument(fmt::format("{} has no slice of {} chips; its slices are {}",
                                            type.chip, chips, slices_text(slices)));
  if (found.size() > 1)
    throw std::invalid_argument(fmt::format("{} has several slices of {} chips; use one of {}",
                                            type.chip, chips, list_of_slices(found)));
  return found.front();
}

std::string unknown_chip(std::string_view name, std::span<const std::string_view> names) {
  const std::string wanted = normalized(name);
  const auto other = std::ranges::find(kOtherChips, without_tpu(wanted), &OtherChip::name);
  if (other != kOtherChips.end())
    return fmt::format("no built-in chip '{}'; nearest: {}; {}", name, other->nearest,
                       other->changes);
  const std::string meant = fmt::format("{}", fmt::join(chips_like(wanted, names), " or "));
  const std::string all =
      fmt::format("one of {}, or the path of a hardware file", input::list_of(names));
  return fmt::format("'{}' is not a known chip; {}", name,
                     meant.empty() ? fmt::format("use {}", all)
                                   : fmt::format("did you mean {}? ({})", meant, all));
}

}  // namespace equarx::config
