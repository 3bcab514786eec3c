// Means over neighbours on graphs, grids and rings: times in closed form, bytes, and refused machines.
#include <algorithm>
#include <string>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing::neighbors_test {
namespace {

constexpr std::uint64_t kElements = 100'000;
constexpr double kRate = 1e9;
constexpr double kLatency = 1e-6;
constexpr double kRelative = 2e-5;  // work on the values, at 1e9 Top/s

/// Chips whose links alone take time.
input::Json fast_chip() {
  input::Json chip = input::parse_json(R"({
    "based_on": "tpu-v5e", "link_bandwidth": "1 GB/s", "link_efficiency": 1, "hop_latency": "1 us",
    "collective_startup": "0 s", "instruction_overhead": "0 s", "dma_overhead": "0 s",
    "wait_overhead": "0 s", "barrier_time": "0 s", "vector_rate": "1e9 Top/s",
    "hbm_bandwidth": "1e15 B/s", "vmem_bandwidth": "1e18 B/s" })");
  return chip;
}

input::Json average(const input::Json& topology, const input::Json& collective) {
  return {{"hardware", fast_chip()},
          {"topology", topology},
          {"tensor", {{"shape", {kElements}}}},
          {"collective", "neighbor-average"},
          {"collectives", {collective}},
          {"timed_as", "step"}};
}

/// Four chips around one, the last at half the rate.
const std::string kStar = R"({ "name": "star", "chips": 5, "links": [
  { "between": ["0", "1"] }, { "between": ["2", "0"] }, { "between": ["0", "3"] },
  { "between": ["0", "4"], "bandwidth": "500 MB/s" } ] })";

const input::Json kPlain = {{"algorithm", "neighbors"}};
const input::Json kInt4 = {
    {"algorithm", "neighbors"}, {"format", "int4"}, {"layout", "contiguous"}, {"block", 32}};

double bytes_of(const input::Json& collective) {
  const double elements = kElements;
  return collective == kPlain ? 2.0 * elements : elements / 2.0 + elements / 32.0 * 4.0;
}

TEST_CASE("an exchange takes one message over the slowest link, whatever the degrees") {
  const TemporaryFile star(kStar);
  for (const input::Json& collective : {kPlain, kInt4})
    for (const auto& [topology, slowest] : {std::pair<input::Json, double>{{{"ring", 7}}, kRate},
                                            {{{"fully-connected", 5}}, kRate},
                                            {{{"mesh", "3x3"}}, kRate},
                                            {{{"file", star.path()}}, kRate / 2.0}}) {
      CAPTURE(topology.dump(), collective.dump());
      const run::RunResult one = run(average(topology, collective)).runs.front();
      CHECK(one.time_s == Approx(bytes_of(collective) / slowest + kLatency).epsilon(kRelative));
      for (const run::LinkUse& link : one.links)
        CHECK(static_cast<double>(link.bytes) == bytes_of(collective));
    }
}

TEST_CASE("both engines time an exchange alike, with the overheads of a chip") {
  for (const std::string topology :
       {R"({"ring": 5})", R"({"torus": "3x4"})", R"({"mesh": "2x3"})", R"({"fully-connected": 4})"})
    for (const input::Json& collective : {kPlain, kInt4}) {
      CAPTURE(topology, collective.dump());
      input::Json json = average(input::parse_json(topology), collective);
      json["hardware"] = "tpu-v5e";
      json["engine"] = "simgrid";
      const double simgrid_s = run(json).runs.front().time_s;
      json["engine"] = "direct";
      CHECK(run(json).runs.front().time_s == Approx(simgrid_s).epsilon(1e-9));
      json["wire_buffers"] = "hbm";
      const double direct_s = run(json).runs.front().time_s;
      json["engine"] = "simgrid";
      CHECK(run(json).runs.front().time_s == Approx(direct_s).epsilon(1e-9));
    }
}

TEST_CASE("a chip with more neighbours copies more on a GPU with workgroups") {
  input::Json json = average({{"fully-connected", 2}}, kInt4);
  json["hardware"] = "mi300x";
  const double pair_s = run(json).runs.front().time_s;
  json["topology"] = {{"fully-connected", 8}};
  CHECK(run(json).runs.front().time_s > pair_s);
}

TEST_CASE("auto finds the exchange, on neighbours alone") {
  const run::RunResult one =
      run(average({{"ring", 4}}, {{"algorithm", "auto"}, {"format", "int8"}})).runs.front();
  CHECK(one.algorithm->name == "neighbors");
  CHECK(one.numerics->against_exact.nmse > 0.0);
}

TEST_CASE("machines without links between chips are refused, with a remedy") {
  const auto refused = [](const input::Json& topology, const std::string& place,
                          const std::string& remedy) {
    check_refused([&] { plan_of(average(topology, kPlain)); }, place, remedy);
  };
  refused({{"switch", 8}}, "/collectives/0/algorithm", "use \"fully-connected\"");
  refused({{"ring", 4}, {"network", {{"slices", 2}, {"bandwidth", "1 GB/s"}, {"latency", "1 us"}}}},
          "/collectives/0/algorithm", "does not run across a network");
  refused({{"ring", 1}}, "/topology", "");
  check_refused(
      [&] {
        plan_of(average({{"ring", 4}}, {{"algorithm", "ring"}}));
      },
      "/collectives/0/algorithm", "neighbors");
}

}  // namespace
}  // namespace equarx::testing::neighbors_test
