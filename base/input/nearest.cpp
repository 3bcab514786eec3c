#include "base/input/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::input {
namespace {

/// More than the keys of any object.
constexpr std::size_t kMostKeys = 128;

/// Lowers ASCII letters; other bytes stay.
std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

/// Number of letters to substitute, delete, insert or transpose (optimal string alignment),
/// computed one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

constexpr std::size_t kLettersPerMistake = 3;

/// The edit distance if at most `most`. Texts whose lengths differ by more are not compared: a text
/// may be a million letters long.
std::optional<std::size_t> distance_up_to(std::size_t most, std::string_view a,
                                          std::string_view b) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return std::nullopt;
  const std::size_t distance = edit_distance(a, b);
  return distance <= most ? std::optional(distance) : std::nullopt;
}

/// Distance of a close name; std::nullopt for others.
std::optional<std::size_t> near_distance(std::string_view text, std::string_view name) {
  constexpr std::size_t kShortestPrefix = 3;
  const std::string a = lower_case(text);
  const std::string b = lower_case(name);
  const auto [shorter, longer] = std::minmax({a.size(), b.size()});
  if (shorter < 2) return a == b ? std::optional<std::size_t>(0) : std::nullopt;
  const bool begins =
      std::string_view(a).substr(0, shorter) == std::string_view(b).substr(0, shorter);
  if (begins && shorter >= kShortestPrefix) return longer - shorter;
  return distance_up_to(std::max<std::size_t>(1, shorter / kLettersPerMistake), a, b);
}

}  // namespace

std::optional<std::string_view> near(std::string_view text,
                                     std::span<const std::string_view> names) {
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view name : names) {
    const auto distance = near_distance(text, name);
    if (!distance || (best && *distance >= best_distance)) continue;
    best = name;
    best_distance = *distance;
  }
  return best;
}

bool is_misspelt(std::string_view text, std::string_view name) {
  constexpr std::size_t kMostEdits = 2;
  const std::size_t letters = std::min(text.size(), name.size());
  const std::size_t most = std::clamp<std::size_t>(letters / kLettersPerMistake, 1, kMostEdits);
  return text != name && letters > 1 &&
         distance_up_to(most, lower_case(text), lower_case(name)).has_value();
}

std::string remedy(std::string_view text, std::span<const std::string_view> names) {
  if (const auto name = near(text, names)) return fmt::format("did you mean '{}'?", *name);
  return fmt::format("use one of {}", list_of(names, kMostKeys));
}

std::string remedy_of_all(std::string_view text, std::span<const std::string_view> names) {
  std::string hint = remedy(text, names);
  return near(text, names) ? fmt::format("{} (one of {})", hint, list_of(names, kMostKeys)) : hint;
}

std::string list_of(std::span<const std::string_view> names, std::size_t most) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.first(most), ", "), names.size() - most);
}

}  // namespace equarx::input
