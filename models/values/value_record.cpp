#include "models/values/value_record.hpp"

#include <algorithm>
#include <tuple>

namespace equarx::values {

std::string_view name(StepKind kind) {
  switch (kind) {
    case StepKind::cast: return "cast";
    case StepKind::sum: return "sum";
    case StepKind::residual: return "residual";
    case StepKind::rounded: return "rounded";
    case StepKind::scales: return "scales";
    case StepKind::encoded: return "encoded";
    case StepKind::decoded: return "decoded";
  }
  return "";
}

void ValueRecord::sort() {
  std::ranges::stable_sort(steps, {}, [](const RecordedStep& step) {
    return std::tuple(step.instruction, step.ranks.front(), step.range.begin);
  });
  for (std::vector<ResultPart>& parts : results)
    std::ranges::sort(parts, {}, [](const ResultPart& part) { return part.range.begin; });
}

}  // namespace equarx::values
