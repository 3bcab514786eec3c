#include "experiments/result/expenses_note.hpp"

#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units/quantity.hpp"

namespace equarx::result {
namespace {

using step::StepResult;
using step::VariantResult;

/// "$0.523 with bf16, $0.498 with int8"; the value alone of a single variant.
std::string by_variant(const StepResult& result,
                       const std::function<std::string(const VariantResult&)>& text) {
  std::vector<std::string> parts;
  for (const VariantResult& variant : result.runs)
    parts.push_back(result.runs.size() == 1
                        ? text(variant)
                        : fmt::format("{} with {}", text(variant), variant.label));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Four significant digits, without an exponent for large amounts: "$104800".
std::string dollars_text(double dollars) {
  constexpr double kLarge = 1e4;
  if (dollars < kLarge) return fmt::format("${:.4g}", dollars);
  return fmt::format("${:.0f}", std::strtod(fmt::format("{:.4g}", dollars).c_str(), nullptr));
}

}  // namespace

std::string cost_text(const StepResult& result) {
  if (!result.runs.front().expenses.dollars) return {};
  // A training run takes that many tokens.
  const double tokens = result.config.training ? 1e12 : 1e6;
  const std::string costs = by_variant(result, [=](const VariantResult& variant) {
    return dollars_text(*variant.expenses.dollars * tokens / variant.tokens().value_or(tokens));
  });
  const bool has_tokens = result.runs.front().efficiency.has_value();
  const double price = result.config.machine.chip.price.value;
  return fmt::format(
      "per {} at {} per chip: {}",
      has_tokens ? fmt::format("1e{} tokens", result.config.training ? 12 : 6) : "step",
      units::format(price, units::Dimension::price), costs);
}

std::string energy_text(const StepResult& result) {
  const VariantResult& first = result.runs.front();
  const std::optional<hardware::Energy>& energy = first.expenses.energy;
  if (!energy) return {};
  const std::string energies = by_variant(result, [](const VariantResult& variant) {
    return units::format_short(variant.expenses.energy->joules / variant.tokens().value_or(1.0),
                               units::Dimension::energy);
  });
  const std::string missing = energy->left_out.empty()
                                  ? ""
                                  : fmt::format(", without {}", fmt::join(energy->left_out, ", "));
  return fmt::format("per {}, model \"{}\"{}{}: {}", first.efficiency ? "token" : "step",
                     name(energy->model), energy->limited ? ", limited by power_busy" : "", missing,
                     energies);
}

std::string expenses_note(const StepResult& result) {
  std::string lines;
  if (const std::string cost = cost_text(result); !cost.empty()) lines += "  Cost " + cost + ".\n";
  if (const std::string energy = energy_text(result); !energy.empty())
    lines += "  Energy " + energy + ".\n";
  return lines;
}

}  // namespace equarx::result
