#include "experiments/config_parts.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/configs.hpp"

namespace equarx::experiments {
namespace {

using testing::changed;

TEST_CASE("each kind of topology has its own wraparound") {
  const auto shape = [](const std::string& topology) {
    return read_config(changed("/topology", topology)).topology;
  };
  CHECK(shape(R"({"slice": "8x16"})").shape.wraparound == std::vector<bool>{false, true});
  CHECK(shape(R"({"slice": "16x16"})").shape.wraparound == std::vector<bool>{true, true});
  CHECK(shape(R"({"mesh": "16x16"})").shape.wraparound == std::vector<bool>{false, false});
  CHECK(shape(R"({"torus": "3x3x3"})").shape.wraparound == std::vector<bool>{true, true, true});
  CHECK(shape(R"({"torus": "4x4", "wraparound": [false, true]})").shape.wraparound ==
        std::vector<bool>{false, true});
  const TopologyConfig ring = shape(R"({"ring": 5})");
  CHECK(ring.kind == TopologyKind::ring);
  CHECK(ring.shape.lengths == std::vector<std::uint32_t>{5});
  CHECK(ring.shape.wraparound == std::vector<bool>{true});
}

}  // namespace
}  // namespace equarx::experiments
