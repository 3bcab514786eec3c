#include "experiments/config/json.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::json_test {
namespace {

using numerics::ElementFormat;
using testing::changed;
using testing::good_config;

input::Json smallest_config() {
  return input::parse_json(R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
                        "tensor": {"bytes": "1 MiB"}, "collectives": [{"algorithm": "ring"}]})");
}

TEST_CASE("every key of a configuration is read") {
  input::Json json = good_config();
  json["collectives"][1] = input::parse_json(R"({
    "label": "x", "algorithm": "equarx", "ring": "semi-loop", "quantize": "all-gather",
    "format": "fp8-e5m2", "scale": "bf16", "layout": "contiguous", "block": 32,
    "minishards": 3, "microshards": 5})");
  json["tensor"] = input::parse_json(R"({"shape": [3, 5, 7], "dtype": "fp32",
    "values": {"distribution": "heavy-tailed", "seed": 12345678901, "ranks": "identical"}})");
  json["baseline"] = "x";
  json["wire_buffers"] = "hbm";
  json["timed_as"] = "program";
  json["numerics"] = "off";
  json["simulation"] = "symmetric";
  json["engine"] = "direct";
  const ExperimentConfig config = read_config(json);
  CHECK(config.hardware == "tpu-v5e");
  CHECK(config.chip.name == "tpu-v5e");
  CHECK(config.topology.kind == TopologyKind::slice);
  CHECK(config.topology.shape.lengths == std::vector<std::uint32_t>{4, 2});
  CHECK(config.topology.shape.wraparound == std::vector<bool>{false, false});
  CHECK(config.tensor.shape == std::vector<std::uint64_t>{3, 5, 7});
  CHECK(config.tensor.elements == 105);
  CHECK(config.tensor.dtype == ElementFormat::fp32);
  CHECK(config.tensor.bytes() == 420);
  CHECK(config.tensor.values.distribution == numerics::Distribution::heavy_tailed);
  CHECK(config.tensor.values.seed == 12345678901U);
  CHECK(config.tensor.values.identical_ranks);
  REQUIRE(config.collectives.size() == 2);
  const CollectiveConfig& collective = config.collectives[1];
  CHECK(collective.label == "x");
  CHECK(collective.algorithm == collectives::find_algorithm("equarx"));
  CHECK(collective.ring == collectives::RingStyle::semi_loop);
  CHECK(collective.quantize == QuantizedPhases::all_gather);
  CHECK(collective.format.element == ElementFormat::fp8_e5m2);
  CHECK(collective.format.scaled);
  CHECK(collective.format.scale == numerics::ScaleFormat::bf16);
  CHECK(collective.format.layout == numerics::ScaleLayout::contiguous);
  CHECK(collective.format.block == 32);
  CHECK(collective.minishards == 3U);
  CHECK(collective.microshards == 5U);
  CHECK(config.baseline == 1);
  CHECK(config.wire_buffers == collectives::WireBuffers::hbm);
  CHECK(config.timed_as == TimedAs::program);
  CHECK_FALSE(config.numerics);
  CHECK(config.simulation == SimulationMode::symmetric);
  CHECK(config.engine == EngineMode::direct);
}

TEST_CASE("omitted keys get their defaults") {
  const ExperimentConfig config = read_config(smallest_config());
  CHECK(config.tensor.shape.empty());
  CHECK(config.tensor.elements == 524288);
  CHECK(config.tensor.dtype == ElementFormat::bf16);
  CHECK(config.tensor.values.distribution == numerics::Distribution::normal);
  CHECK(config.tensor.values.seed == 1);
  CHECK_FALSE(config.tensor.values.identical_ranks);
  CHECK(config.collectives[0].label == "ring bf16");
  CHECK(config.collectives[0].ring == collectives::RingStyle::full_loop);
  CHECK(config.baseline == 0);
  CHECK(config.timed_as == TimedAs::program);
  CHECK(config.numerics);
  CHECK(config.simulation == SimulationMode::automatic);
  CHECK(config.engine == EngineMode::automatic);

  input::Json json = smallest_config();
  json["collectives"][0]["algorithm"] = "equarx";
  const CollectiveConfig collective = read_config(json).collectives[0];
  CHECK(collective.label == "equarx int8");
  CHECK(collective.quantize == QuantizedPhases::both);
  CHECK(collective.format.element == ElementFormat::int8);
  CHECK(collective.format.scale == numerics::ScaleFormat::fp32);
  CHECK(collective.format.layout == numerics::ScaleLayout::strided);
  CHECK_FALSE(collective.minishards);
  CHECK_FALSE(collective.microshards);
}

TEST_CASE("numerics are switched by a boolean or by words") {
  for (const auto& [text, on] :
       {std::pair{"true", true}, {"on", true}, {"false", false}, {"off", false}})
    CHECK(read_config(changed("/numerics", text)).numerics == on);
  testing::check_refused([] { read_config(changed("/numerics", "1")); }, "/numerics", "off, on");
  testing::check_refused([] { read_config(changed("/numerics", "yes")); }, "/numerics", "off, on");
  testing::check_refused([] { read_config(changed("/timed_as", "steps")); }, "/timed_as",
                         "did you mean 'step'?");
}

TEST_CASE("an unquantized ring has the tensor's format by default") {
  input::Json json = smallest_config();
  json["tensor"]["dtype"] = "fp32";
  CHECK(read_config(json).collectives[0].format.element == ElementFormat::fp32);
}

TEST_CASE("a configuration survives a round trip") {
  std::vector<input::Json> configs = {good_config(), smallest_config()};
  configs.push_back(changed("/topology/torus", "4x4"));
  configs.back()["topology"]["wraparound"] = {true, false};
  configs.push_back(changed("/topology/ring", "6"));
  configs.push_back(changed("/topology/mesh", "4x2"));
  configs.push_back(changed("/tensor/bytes", "12345678 B"));
  configs.push_back(changed("/tensor/bytes", "123456.5 kB"));
  configs.push_back(changed("/tensor/values/seed", "9223372036854775807"));
  configs.push_back(changed("/collectives/1", R"({"algorithm": "equarx", "layout": "contiguous",
      "block": 128, "scale": "bf16", "format": "fp8-e4m3", "quantize": "reduce-scatter"})"));
  configs.push_back(changed("/baseline", "int8"));
  configs.push_back(changed("/faults", R"j({"links": [{"between": ["(0,0)", "(0,1)"],
      "bandwidth_factor": 0.1, "extra_latency": "1.5 us", "fails_at": "3 ms"}],
      "chips": [{"chip": "(3,1)", "slowdown": 1.25}]})j"));
  configs.push_back(changed("/collective", "reduce-scatter"));
  configs.back()["collectives"][1].erase("quantize");
  configs.push_back(changed("/collectives/1", R"({"algorithm": "auto", "format": "int8"})"));
  configs.back().erase("baseline");
  configs.push_back(changed("/collectives/1", R"({"algorithm": "torus", "format": "mxfp4"})"));
  configs.back().erase("baseline");
  configs.push_back(
      changed("/collectives/1", R"({"algorithm": "two-shot", "quantize": "all-gather"})"));
  configs.back().erase("baseline");
  configs.push_back(changed("/collectives/1/label", R"("\"quoted\" \\ \u00e9")"));
  for (const input::Json& json : configs) {
    CAPTURE(json.dump());
    const input::Json once = to_json(read_config(json));
    CHECK(to_json(read_config(once)) == once);
    CHECK(read_config(once).tensor.elements == read_config(json).tensor.elements);
    const input::Json planned = to_json(plan::make_plan(read_config(json)).config);
    CHECK(to_json(plan::make_plan(read_config(planned)).config) == planned);
  }
}

TEST_CASE("the resolved configuration has every key, and one of each alternative") {
  const input::Json json = to_json(read_config(smallest_config()));
  for (const std::string key : {"hardware", "topology", "tensor", "collective", "collectives",
                                "baseline", "wire_buffers", "numerics", "simulation", "engine"})
    CHECK(json.contains(key));
  CHECK(json["collective"] == "all-reduce");
  CHECK_FALSE(json.contains("faults"));
  CHECK(json["tensor"]["bytes"] == "1 MiB");
  CHECK_FALSE(json["tensor"].contains("shape"));
  CHECK(json["baseline"] == "ring bf16");
}

}  // namespace
}  // namespace equarx::config::json_test
