#include "tools/keys/presets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/arithmetic_json.hpp"

namespace equarx::keys {

std::vector<std::string> preset_lines() {
  std::vector<std::string> lines;
  for (const config::ArithmeticPreset& preset : config::arithmetic_presets())
    lines.push_back(fmt::format("| `{}` | `{}` | {} | {} |", preset.name,
                                fmt::join(preset.algorithms, "`, `"), preset.sums, preset.source));
  return lines;
}

}  // namespace equarx::keys
