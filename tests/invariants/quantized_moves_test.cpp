// AllToAlls and Broadcasts with scales: times near their bounds, the break-even, and both engines.
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::quantized_moves_test {
namespace {

struct Move {
  std::string collective;
  std::string algorithm;
  std::string hardware;
  std::string topology;
};

/// Rings of even and odd lengths, tori, a link per pair, switches and networks.
std::vector<Move> moves() {
  std::vector<Move> all;
  for (const std::string topology :
       {R"({"ring": 8})", R"({"ring": 5})", R"({"torus": "4x4"})", R"({"mesh": "3x2"})",
        R"({"fully-connected": 4})",
        R"({"slice": "2x2", "network": {"slices": 2, "bandwidth": "5 GB/s", "latency": "10 us"}})"})
    for (const std::string collective : {"all-to-all", "broadcast"})
      all.push_back({collective, "direct", "tpu-v5e", topology});
  for (const std::string ring : {R"({"ring": 8})", R"({"ring": 5})"})
    all.push_back({"broadcast", "equarx", "tpu-v5e", ring});
  all.push_back({"all-to-all", "direct", "h100", R"({"switch": 8})"});
  return all;
}

input::Json config_of(const Move& move, const std::string& bytes) {
  const std::string plain = move.algorithm == "equarx" ? "ring" : move.algorithm;
  return {{"hardware", move.hardware},
          {"topology", input::parse_json(move.topology)},
          {"tensor", {{"bytes", bytes}}},
          {"collective", move.collective},
          {"collectives",
           {{{"algorithm", plain}, {"format", "bf16"}, {"label", "bf16"}},
            {{"algorithm", move.algorithm}, {"format", "int8"}, {"label", "int8"}}}},
          {"numerics", "off"}};
}

TEST_CASE("large quantized moves take half the time, direct ones near their bounds") {
  for (const Move& move : moves()) {
    CAPTURE(move.collective, move.algorithm, move.hardware, move.topology);
    const std::vector<run::RunResult> runs = run(config_of(move, "256 MiB")).runs;
    CHECK(runs[1].time_s >= runs[1].lower_bound_s * (1.0 - 1e-9));
    CHECK(runs[1].time_s < 0.6 * runs[0].time_s);
    if (move.algorithm == "equarx") continue;  // its first message passes all chips
    CHECK(runs[1].time_s <= 1.1 * runs[1].lower_bound_s);
    CHECK(runs[1].time_s > 0.5 * runs[0].time_s);
  }
}

TEST_CASE("tiny quantized moves are no faster than plain ones") {
  for (const Move& move : moves()) {
    CAPTURE(move.collective, move.algorithm, move.hardware, move.topology);
    const std::vector<run::RunResult> runs = run(config_of(move, "1 KiB")).runs;
    CHECK(runs[1].time_s >= runs[0].time_s);
  }
}

TEST_CASE("both engines agree on quantized moves") {
  for (const Move& move : moves()) {
    CAPTURE(move.collective, move.algorithm, move.hardware, move.topology);
    input::Json json = config_of(move, "256 KiB");
    json["engine"] = "simgrid";
    const double simgrid_s = run(json).runs[1].time_s;
    json["engine"] = "direct";
    CHECK(run(json).runs[1].time_s == Approx(simgrid_s).epsilon(1e-9));
  }
}

TEST_CASE("auto runs quantized moves with the fastest algorithm") {
  for (const Move& move : moves()) {
    CAPTURE(move.collective, move.algorithm, move.hardware, move.topology);
    input::Json json = config_of(move, "4 MiB");
    const double named_s = run(json).runs[1].time_s;
    json["collectives"][1]["algorithm"] = "auto";
    CHECK(run(json).runs[1].time_s <= named_s * (1.0 + 1e-9));
  }
}

}  // namespace
}  // namespace equarx::testing::quantized_moves_test
