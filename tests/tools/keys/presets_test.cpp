#include "tools/keys/presets.hpp"

#include <algorithm>

#include "tests/catch.hpp"

namespace equarx::keys::presets_test {

TEST_CASE("presets have a line with name, algorithms, sums and source") {
  const std::vector<std::string> lines = preset_lines();
  const auto found = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("| `vllm-two-shot-ranks` |"); });
  REQUIRE(found != lines.end());
  CHECK(*found ==
        "| `vllm-two-shot-ranks` | `two-shot`, `direct` | in the order of ranks: the bits of one "
        "stage | [vllm 57042](https://github.com/vllm-project/vllm/pull/57042) |");
}

}  // namespace equarx::keys::presets_test
