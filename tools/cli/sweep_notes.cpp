#include "tools/cli/sweep_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/json.hpp"

namespace equarx::cli {
namespace {

constexpr std::size_t kMostReasons = 3;
constexpr std::size_t kMostDifferences = 3;

struct Reason {
  std::string text;
  std::string first;  ///< point
  std::size_t points = 1;
};

/// "8 MiB 4x4"
std::string values_of(const input::Json& axes) {
  std::string text;
  for (const auto& axis : axes.items()) {
    if (!text.empty()) text += ' ';
    text += axis.value().is_string() ? axis.value().get<std::string>() : axis.value().dump();
  }
  return text;
}

std::vector<Reason> reasons_of(const sweep::PointSet& points,
                               const std::vector<sweep::KeyedPoint>& keyed,
                               const sweep::SweepStore& store) {
  std::vector<Reason> reasons;
  for (const sweep::KeyedPoint& at : keyed) {
    const sweep::StoredPoint* stored = store.find(at.key);
    if (stored == nullptr || !stored->failed()) continue;
    const std::string text = store.results(*stored).front()->at("error").get<std::string>();
    const auto known = std::ranges::find(reasons, text, &Reason::text);
    if (known != reasons.end())
      ++known->points;
    else
      reasons.push_back({text, values_of(points.axes(at.point))});
  }
  return reasons;
}

std::string rows_text(std::size_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", rows);
}

std::string differences_text(const std::vector<config::Difference>& differences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(differences.size(), kMostDifferences); ++i) {
    const config::Difference& difference = differences[i];
    const auto value = [](const input::Json& json) {
      return json.is_null() ? std::string("absent") : json.dump();
    };
    text += fmt::format("{}{} was {} and is {}", i == 0 ? ": " : ", ", difference.pointer,
                        value(difference.a), value(difference.b));
  }
  if (differences.size() > kMostDifferences)
    text += fmt::format(", and {} more", differences.size() - kMostDifferences);
  return text;
}

}  // namespace

std::vector<std::string> failure_notes(const sweep::PointSet& points,
                                       const std::vector<sweep::KeyedPoint>& keyed,
                                       const sweep::SweepStore& store) {
  const std::vector<Reason> reasons = reasons_of(points, keyed, store);
  std::vector<std::string> notes;
  std::size_t others = 0;
  for (const Reason& reason : reasons) {
    if (notes.size() < kMostReasons)
      notes.push_back(fmt::format("{} failed{}: {}: {}", reason.points,
                                  reason.points == 1 ? "" : ", the first", reason.first,
                                  reason.text));
    else
      others += reason.points;
  }
  if (others > 0)
    notes.push_back(fmt::format("{} more failed for other reasons; see the results", others));
  return notes;
}

std::string does_not_fit_text(std::size_t points) {
  return points == 1 ? "1 does not fit" : fmt::format("{} do not fit", points);
}

std::vector<std::string> does_not_fit_notes(const sweep::PointSet& points,
                                            const std::vector<sweep::KeyedPoint>& keyed,
                                            const sweep::SweepStore& store) {
  std::size_t count = 0;
  std::string first;
  for (const sweep::KeyedPoint& at : keyed) {
    const sweep::StoredPoint* stored = store.find(at.key);
    if (stored == nullptr || stored->state != sweep::PointState::does_not_fit) continue;
    if (count++ == 0)
      first =
          fmt::format("{}: {}", values_of(points.axes(at.point)),
                      store.results(*stored).front()->at("reason").get_ref<const std::string&>());
  }
  if (count == 0) return {};
  return {
      fmt::format("{}{}: {}", does_not_fit_text(count), count == 1 ? "" : ", the first", first)};
}

std::vector<std::string> older_rows_notes(const sweep::OlderRows& older,
                                          const std::filesystem::path& file) {
  std::vector<std::string> notes;
  if (older.of_other_bases > 0)
    notes.push_back(fmt::format(
        "{}: {} from another base{}; reports and plots show this as an axis; --fresh starts "
        "without "
        "them",
        file.string(), rows_text(older.of_other_bases), differences_text(older.differences)));
  if (older.of_other_files > 0)
    notes.push_back(fmt::format(
        "{}: {} from earlier contents of files named in the configuration; reports and plots omit "
        "them",
        file.string(), rows_text(older.of_other_files)));
  return notes;
}

}  // namespace equarx::cli
