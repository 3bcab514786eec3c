#include "importers/profile/groups.hpp"

#include <algorithm>
#include <charconv>

namespace equarx::profile {
namespace {

constexpr std::uint32_t kMaxRank = 1 << 20;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// `ranks` moved so that the first is `first`, if all are free; marks them as taken.
std::optional<std::vector<std::uint32_t>> moved(const std::vector<std::uint32_t>& ranks,
                                                std::uint32_t first, std::vector<bool>& taken) {
  std::vector<std::uint32_t> made;
  for (const std::uint32_t rank : ranks) {
    const std::uint32_t chip = rank - ranks.front() + first;
    if (chip >= taken.size() || taken[chip]) return std::nullopt;
    taken[chip] = true;
    made.push_back(chip);
  }
  return made;
}

}  // namespace

std::optional<RankList> read_ranks(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("[") || !text.ends_with("]")) return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  RankList list;
  while (!text.empty()) {
    const std::string_view one = trimmed(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
    std::uint32_t rank = 0;
    const auto [end, problem] = std::from_chars(one.data(), one.data() + one.size(), rank);
    if (one == "...")
      list.truncated = true;
    else if (problem == std::errc() && end == one.data() + one.size() && rank < kMaxRank)
      list.ranks.push_back(rank);
    else
      return std::nullopt;
  }
  return list;
}

std::optional<std::vector<std::uint32_t>> completed(const RankList& list, std::uint32_t size) {
  if (!list.truncated) return list.ranks;
  if (list.ranks.size() < 2 || list.ranks[1] <= list.ranks[0] || size > kMaxRank)
    return std::nullopt;
  const std::uint32_t stride = list.ranks[1] - list.ranks[0];
  std::vector<std::uint32_t> ranks;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t rank = list.ranks[0] + i * stride;
    if (rank >= kMaxRank) return std::nullopt;
    ranks.push_back(static_cast<std::uint32_t>(rank));
  }
  const bool fits = std::ranges::is_sorted(list.ranks) && std::ranges::includes(ranks, list.ranks);
  return fits ? std::optional(ranks) : std::nullopt;
}

std::optional<imports::DeviceGroups> tiled(const std::vector<std::uint32_t>& group,
                                           std::uint32_t chips) {
  if (group.empty()) return std::nullopt;
  imports::DeviceGroups groups;
  std::vector<bool> taken(chips, false);
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    if (taken[chip]) continue;
    const auto made = moved(group, chip, taken);
    if (!made) return std::nullopt;
    groups.push_back(*made);
  }
  const bool found = std::ranges::find(groups, group) != groups.end();
  return found ? std::optional(groups) : std::nullopt;
}

}  // namespace equarx::profile
