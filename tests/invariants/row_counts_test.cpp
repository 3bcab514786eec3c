// AllToAlls with row counts: times against equal shards, closed forms, and both engines.
#include <cstdint>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::row_counts_test {
namespace {

constexpr std::uint32_t kRow = 4096;

const std::vector<std::pair<std::string, std::string>> kMachines = {
    {"tpu-v5e", R"({"ring": 5})"},
    {"tpu-v5e", R"({"torus": "4x2"})"},
    {"tpu-v5e", R"({"fully-connected": 4})"},
    {"h100", R"({"switch": 8})"},
    {"tpu-v5e",
     R"({"slice": "2x2", "network": {"slices": 2, "bandwidth": "5 GB/s", "latency": "10 us"}})"}};

input::Json config_of(const std::pair<std::string, std::string>& machine,
                      const input::Json& counts) {
  return {{"hardware", machine.first},
          {"topology", input::parse_json(machine.second)},
          {"tensor", {{"shape", {kRow}}, {"counts", counts}, {"sample", 0.01}}},
          {"collective", "all-to-all"},
          {"collectives",
           {{{"algorithm", "direct"}, {"label", "bf16"}},
            {{"algorithm", "direct"}, {"format", "int8"}, {"label", "int8"}}}}};
}

std::string csv(std::uint32_t ranks, std::uint32_t rows) {
  std::string text;
  for (std::uint32_t from = 0; from < ranks; ++from)
    for (std::uint32_t to = 0; to < ranks; ++to)
      text += std::to_string(rows) + (to + 1 < ranks ? "," : "\n");
  return text;
}

TEST_CASE("equal row counts take the time of equal shards") {
  for (const auto& machine : kMachines) {
    CAPTURE(machine.first, machine.second);
    const std::uint32_t ranks = machine.second.find("ring") != std::string::npos        ? 5
                                : machine.second.find("connected") != std::string::npos ? 4
                                                                                        : 8;
    const TemporaryFile file(csv(ranks, 64));
    input::Json json = config_of(machine, {{"file", file.path()}});
    const std::vector<run::RunResult> counted = run(json).runs;
    json["tensor"] = {{"shape", {ranks * 64, kRow}}, {"sample", 0.01}};
    const std::vector<run::RunResult> equal = run(json).runs;
    for (std::size_t i = 0; i < equal.size(); ++i) {
      CHECK(counted[i].time_s == Approx(equal[i].time_s).epsilon(1e-9));
      CHECK(counted[i].lower_bound_s == Approx(equal[i].lower_bound_s).epsilon(1e-9));
      CHECK(counted[i].bus_bytes == Approx(equal[i].bus_bytes).epsilon(1e-9));
    }
  }
}

TEST_CASE("both engines agree on skewed routing, which meets its bound") {
  for (const auto& machine : kMachines) {
    CAPTURE(machine.first, machine.second);
    for (const std::string direction : {"dispatch", "combine"}) {
      input::Json json = config_of(machine, {{"tokens", 256},
                                             {"experts", 40},
                                             {"top_k", 4},
                                             {"skew", 0.8},
                                             {"direction", direction}});
      json["numerics"] = "off";
      json["engine"] = "simgrid";
      const std::vector<run::RunResult> simgrid = run(json).runs;
      json["engine"] = "direct";
      const std::vector<run::RunResult> direct = run(json).runs;
      for (std::size_t i = 0; i < direct.size(); ++i) {
        CHECK(direct[i].time_s == Approx(simgrid[i].time_s).epsilon(1e-9));
        CHECK(direct[i].time_s >= direct[i].lower_bound_s * (1.0 - 1e-9));
      }
    }
  }
}

TEST_CASE("skew makes an exchange slower by the busiest rank") {
  input::Json counts = {{"tokens", 2048}, {"experts", 64}, {"top_k", 8}};
  const auto time_s = [&] {
    input::Json json = config_of({"h100", R"({"switch": 8})"}, counts);
    json["numerics"] = "off";
    return run(json).runs.front().time_s;
  };
  const double balanced_s = time_s();
  counts["skew"] = 1.0;
  CHECK(time_s() > 1.2 * balanced_s);
}

}  // namespace
}  // namespace equarx::testing::row_counts_test
