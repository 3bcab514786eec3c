#include "experiments/plan/programs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan::programs_test {
namespace {

using testing::changed;
using testing::check_refused;
using testing::plan_of;

TEST_CASE("an unsupported algorithm is refused with the supported ones") {
  const auto refuse = [](const std::string& topology, const std::string& algorithm,
                         const std::string& why, const std::string& others) {
    input::Json json = changed("/topology", topology);
    json["collectives"] = {{{"algorithm", algorithm}}};
    json.erase("baseline");
    CAPTURE(topology, algorithm);
    check_refused([&] { plan_of(json); }, "/collectives/0/algorithm", why);
    check_refused([&] { plan_of(json); }, "/collectives/0/algorithm",
                  "this topology can run " + others);
  };
  const std::string no_halving = "ring, equarx, torus, two-shot, one-shot, auto";
  refuse(R"({"ring": 6})", "halving-doubling", "needs a power of two chips, but there are 6",
         no_halving);
  refuse(R"({"torus": "3x4"})", "recursive-doubling", "power of two", no_halving);
  refuse(R"({"fully-connected": 6})", "torus", "needs a grid of chips",
         "ring, equarx, two-shot, one-shot, auto");
  refuse(R"({"fully-connected": 8})", "torus", "needs a grid of chips",
         "ring, equarx, two-shot, halving-doubling, recursive-doubling, one-shot, auto");
  for (const std::string algorithm :
       {"torus", "halving-doubling", "recursive-doubling", "one-shot", "two-shot"})
    refuse(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j", algorithm,
           "cannot avoid the links of /topology/avoid", "ring, equarx, auto");
}

TEST_CASE("rank grids match the algorithms") {
  const config::ExperimentConfig config = config::read_config(changed("/topology/mesh", "4x1x2"));
  const auto lengths = [&](std::string_view algorithm) {
    return value_or_throw(rank_grid(collectives::find_algorithm(algorithm), config, "")).lengths();
  };
  CHECK(std::ranges::equal(lengths("ring"), std::vector<std::uint32_t>{8}));
  CHECK(std::ranges::equal(lengths("torus"), std::vector<std::uint32_t>{4, 2}));
  CHECK(std::ranges::equal(lengths("halving-doubling"), std::vector<std::uint32_t>{2, 2, 2}));
  CHECK(std::ranges::equal(lengths("one-shot"), std::vector<std::uint32_t>{8}));
}

TEST_CASE("ranks of slices joined by a network are numbered slice by slice") {
  const config::ExperimentConfig config = config::read_config(changed(
      "/topology",
      R"({"slice": "4x2", "network": {"slices": 3, "bandwidth": "1 GB/s", "latency": "1 us"}})"));
  const auto lengths = [&](std::string_view algorithm) {
    return value_or_throw(rank_grid(collectives::find_algorithm(algorithm), config, "")).lengths();
  };
  CHECK(lengths("hierarchical") == std::vector<std::uint32_t>{3, 4, 2});
  CHECK(lengths("hierarchical-two-shot") == std::vector<std::uint32_t>{3, 8});
  CHECK(lengths("two-shot") == std::vector<std::uint32_t>{24});
}

TEST_CASE("a program follows the configuration") {
  const config::ExperimentConfig config = config::read_config(testing::good_config());
  for (const config::CollectiveConfig& collective : config.collectives) {
    const collectives::RankGrid grid = value_or_throw(rank_grid(collective.algorithm, config, ""));
    const collectives::ProgramRequest request = program_request(collective, grid, config);
    CHECK(request.elements == 64 * 1024);
    CHECK(request.cut.minishards == collective.minishards);
    const collectives::Program program = make_program(collective, grid, config);
    CHECK(program.ranks() == 8);
    CHECK(program.format(collectives::Phase::all_gather).scaled == collective.format.scaled);
  }
}

TEST_CASE("axes without wraparound are folded for rings along axes") {
  const auto folded = [](const std::string& topology, std::string_view algorithm) {
    const config::ExperimentConfig config = config::read_config(changed("/topology", topology));
    config::CollectiveConfig collective = config.collectives.front();
    collective.algorithm = collectives::find_algorithm(algorithm);
    const collectives::RankGrid grid = value_or_throw(rank_grid(collective.algorithm, config, ""));
    return program_request(collective, grid, config).folded;
  };
  using Axes = std::vector<bool>;
  CHECK(folded(R"({"slice": "8x16"})", "torus") == Axes{true, false});
  CHECK(folded(R"({"torus": "4x8"})", "torus") == Axes{false, false});
  CHECK(folded(R"({"mesh": "4x1x2"})", "torus") == Axes{true, false});
  CHECK(folded(R"({"mesh": "4x2"})", "ring").empty());
  // Within a slice.
  CHECK(folded(R"({"slice": "8x16",
                   "network": {"slices": 2, "bandwidth": "1 GB/s", "latency": "1 us"}})",
               "hierarchical") == Axes{true, false});
}

}  // namespace
}  // namespace equarx::plan::programs_test
