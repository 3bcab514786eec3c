#include "experiments/accuracy/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/accuracy/summary.hpp"

namespace equarx::accuracy {
namespace {

/// Rows listed as evidence.
constexpr std::size_t kListed = 3;

/// |ln(own / asked)|; 0 if one of them is unknown.
double apart(double own, double asked) {
  return own > 0.0 && asked > 0.0 ? std::abs(std::log(own / asked)) : 0.0;
}

std::tuple<bool, double> distance(const MeasuredRow& row, const Asked& asked) {
  return {row.chip != asked.chip,
          apart(static_cast<double>(row.bytes.value_or(0)), static_cast<double>(asked.bytes)) +
              apart(row.chips.value_or(0), asked.chips)};
}

}  // namespace

std::vector<const MeasuredRow*> nearest(const std::vector<MeasuredRow>& rows, const Asked& asked,
                                        std::size_t most) {
  std::vector<const MeasuredRow*> found;
  for (const MeasuredRow& row : rows)
    if (row.question == asked.question && !row.chip.empty()) found.push_back(&row);
  std::ranges::stable_sort(found, {},
                           [&](const MeasuredRow* row) { return distance(*row, asked); });
  found.resize(std::min(most, found.size()));
  return found;
}

std::string nearest_text(const std::vector<const MeasuredRow*>& rows) {
  if (rows.empty()) return {};
  std::string text = "  Nearest measured rows, simulated / measured:\n";
  for (const MeasuredRow* row : rows)
    text += fmt::format("    {:.2f}  {} ({}, {})\n", row->simulated / row->measured, row->what,
                        row->origin, row->role());
  return text;
}

input::Json evidence_json(const std::vector<MeasuredRow>& rows, const Asked& asked) {
  const std::optional<Discrepancy> known = discrepancy(rows, asked.question);
  input::Json json = {{"question", name(asked.question)},
                      {"spread", known ? input::Json(known->spread) : input::Json(nullptr)},
                      {"rows", known ? known->rows : 0},
                      {"origins", known ? known->origins : 0},
                      {"nearest", input::Json::array()}};
  for (const MeasuredRow* row : nearest(rows, asked, kListed))
    json["nearest"].push_back({{"what", row->what},
                               {"study", row->study},
                               {"origin", row->origin},
                               {"role", row->role()},
                               {"ratio", row->simulated / row->measured}});
  return json;
}

}  // namespace equarx::accuracy
