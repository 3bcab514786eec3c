// Readers of the files that experiments refer to, each also used in an experiment.
#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/graph_json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/model_json.hpp"
#include "experiments/inspect/topology.hpp"
#include "tests/fuzz/json_configs.hpp"
#include "tests/fuzz/json_readers.hpp"

namespace equarx::testing {
namespace {

using input::Json;

const Json kTensor = {{"bytes", "1 MiB"}};
const Json kSlice = {{"mesh", "2x2"}};
const Json kCollectives = Json::parse(R"([
  {"label": "plain", "algorithm": "auto", "format": "bf16"},
  {"label": "quantized", "algorithm": "equarx", "format": "int8", "minishards": 2, "microshards": 2}])");

void plan(const Json& json) { plan_if_small(config::read_config(json)); }

/// A chip, alone and in an experiment.
void read_hardware(std::string_view text) {
  const std::string path = scratch_file("chip.json", text);
  const hardware::Chip chip = config::load_chip(path, "/hardware");
  const Json written = config::to_json(chip);
  expect(config::to_json(config::read_chip(written)) == written,
         "a written chip reads back unchanged");
  plan({{"hardware", path},
        {"topology", kSlice},
        {"tensor", kTensor},
        {"collectives", kCollectives}});
}

/// A transformer, in both phases.
void read_model(std::string_view text) {
  const std::string path = scratch_file("model.json", text);
  config::load_model(path, "/workload/model");
  for (const Json& phase : {Json{{"phase", "prefill"}, {"tokens", 4096}, {"batch", 2}},
                            Json{{"phase", "decode"}, {"context", 1024}, {"batch", 3}}}) {
    Json workload = phase;
    workload["model"] = path;
    plan({{"hardware", "tpu-v6e"},
          {"topology", kSlice},
          {"workload", workload},
          {"collectives", kCollectives}});
  }
}

/// A machine graph: its metrics, its picture, and a collective on it.
void read_graph(std::string_view text) {
  const std::string path = scratch_file("graph.json", text);
  constexpr std::size_t kMostChips = 40;
  if (config::load_graph(path, "/topology/file").chips.size() > kMostChips) return;
  const config::ExperimentConfig config = config::read_config({{"hardware", "tpu-v6e"},
                                                               {"topology", {{"file", path}}},
                                                               {"tensor", kTensor},
                                                               {"collectives", kCollectives}});
  const inspect::TopologyReport report = inspect::report_topology(config.topology, config.chip);
  inspect::to_table(report);
  inspect::to_svg(report);
  plan_if_small(config);
}

}  // namespace

std::vector<JsonReader> part_readers() {
  return {{"hardware", {"hardware"}, read_hardware},
          {"model", {"model"}, read_model},
          {"graph", {"topology"}, read_graph}};
}

}  // namespace equarx::testing
