// The published schemas accept everything that the program reads and writes.
#include <filesystem>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/graph_json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/serving_json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/result/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::testing::schemas_test {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(EQUARX_CONFIGS_DIR) / folder))
    paths.push_back(entry.path().string());
  return paths;
}

TEST_CASE("every experiment in configs/ is valid, and so is its resolved form") {
  REQUIRE_FALSE(files_in("experiments").empty());
  for (const std::string& path : files_in("experiments")) {
    CAPTURE(path);
    const input::Json json = input::parse_json(input::read_file(path));
    if (json.contains("serving")) {
      CHECK_NOTHROW(input::check_schema(json, "serving"));
      CHECK_NOTHROW(input::check_schema(config::to_json(config::read_serving(json)), "serving"));
      continue;
    }
    const std::string schema = config::schema_of(config::read(json));
    CHECK_NOTHROW(input::check_schema(json, schema));
    CHECK_NOTHROW(input::check_schema(config::read_any_config(json).resolved, schema));
    if (schema == "experiment" && !json.contains("workload")) CHECK_NOTHROW(plan_of(json));
  }
}

TEST_CASE("every hardware file in configs/ is valid, and built in") {
  REQUIRE_FALSE(files_in("hardware").empty());
  for (const std::string& path : files_in("hardware")) {
    CAPTURE(path);
    CHECK_NOTHROW(input::check_schema(input::parse_json(input::read_file(path)), "hardware"));
    CHECK(config::load_chip(path, "").name == std::filesystem::path(path).stem());
    CHECK_NOTHROW(config::load_chip(std::filesystem::path(path).stem(), ""));
  }
}

TEST_CASE("every graph file in configs/ is valid") {
  REQUIRE_FALSE(files_in("topologies").empty());
  for (const std::string& path : files_in("topologies")) {
    CAPTURE(path);
    CHECK_NOTHROW(input::check_schema(input::parse_json(input::read_file(path)), "topology"));
    CHECK_FALSE(config::load_graph(path, "").description.empty());
  }
}

TEST_CASE("the schema accepts everything that the reader accepts") {
  for (const input::Json& json :
       {good_config(), changed("/topology/ring", "6"), changed("/topology/torus", "3x3x3"),
        changed("/topology/mesh", "4x2"), changed("/tensor/bytes", "8 MiB"),
        changed("/tensor/values/seed", "9223372036854775807"), changed("/tensor/values/seed", "0"),
        changed("/tensor/shape", "[1]"), changed("/tensor", R"({"shape": [64, 64]})"),
        changed("/topology", R"({"torus": "4x4", "wraparound": [true, false]})"),
        changed("/topology", R"({"fully-connected": 8, "avoid": [[0, "7"]]})"),
        changed("/topology", R"({"ring": 4, "avoid": []})"),
        changed("/topology/file", EQUARX_CONFIGS_DIR "/topologies/two_islands.json"),
        changed("/collectives/1", R"({"algorithm": "equarx", "layout": "contiguous",
                                         "block": 32, "scale": "bf16", "format": "fp8-e4m3"})"),
        changed("/collectives/1", R"({"algorithm": "equarx", "quantize": "all-gather",
                                         "ring": "semi-loop", "format": "fp8-e5m2"})")}) {
    CAPTURE(json.dump());
    input::Json with_labels = json;
    with_labels.erase("baseline");
    REQUIRE_NOTHROW(config::read_config(with_labels));
    CHECK_NOTHROW(input::check_schema(with_labels, "experiment"));
    CHECK_NOTHROW(
        input::check_schema(config::to_json(config::read_config(with_labels)), "experiment"));
  }
}

/// The largest integers of an experiment and of steps, by JSON pointer.
struct Limit {
  std::string pointer;
  std::uint64_t most;
};

/// Refuses `most` + 1 by reader and schema, and `most` by neither because of its size.
void check_limit(const input::Json& config, const Limit& limit, const std::string& schema) {
  CAPTURE(limit.pointer, limit.most);
  input::Json json = config;
  const std::string above = std::to_string(limit.most + 1);
  config::override_value(json, limit.pointer, above);
  CHECK_THROWS_AS(input::check_schema(json, schema), input::InputError);
  check_refused([&] { config::read_any_config(json); }, limit.pointer,
                above + " is not an integer from");
  config::override_value(json, limit.pointer, std::to_string(limit.most));
  CHECK_NOTHROW(input::check_schema(json, schema));
  try {
    config::read_any_config(json);
  } catch (const input::InputError& error) {  // for another reason
    CHECK_THAT(error.what(), !ContainsSubstring("is not an integer"));
  }
}

TEST_CASE("integers have the limits of the reader in the schema") {
  input::Json workload = good_config();
  workload.erase("tensor");
  workload.erase("timed_as");
  workload["collectives"][1].erase("minishards");
  workload["workload"] = {{"model", "gemma3-27b"}, {"phase", "prefill"}, {"tokens", 512}};
  for (const Limit& limit : std::vector<Limit>{{"/workload/tokens", std::uint64_t{1} << 32},
                                               {"/workload/batch", std::uint64_t{1} << 32},
                                               {"/workload/chunks", 64},
                                               {"/collectives/1/minishards", 1 << 20},
                                               {"/collectives/1/elements_per_scale", 1 << 20},
                                               {"/collectives/1/microshards", 1 << 20},
                                               {"/uncertainty/seed", 0xFFFFFFFF}})
    check_limit(workload, limit, "experiment");
  input::Json step = good_training();
  for (const Limit& limit : std::vector<Limit>{{"/step/training/prefetch", 1024},
                                               {"/step/training/buckets", 1024},
                                               {"/step/training/sequence", 1 << 24},
                                               {"/step/training/batch", 1 << 24},
                                               {"/step/training/microbatches", 1 << 24},
                                               {"/mesh/fsdp", 1 << 24}})
    check_limit(step, limit, "step");
}

TEST_CASE("results fit their schema, with values and without") {
  CHECK_NOTHROW(input::check_schema(result::to_json(run(good_config())), "result"));
  CHECK_NOTHROW(input::check_schema(result::to_json(run(changed("/numerics", "off"))), "result"));
  CHECK_NOTHROW(
      input::check_schema(result::to_json(run(changed("/simulation", "symmetric"))), "result"));
}

TEST_CASE("the schema of results refuses invalid results") {
  const input::Json good =
      input::parse_json(result::to_json(run(changed("/numerics", "off"))).dump());
  REQUIRE_NOTHROW(input::check_schema(good, "result"));
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"/runs", "[]"},           {"/runs/0/time_s", "0"}, {"/runs/0/time_s", "null"},
      {"/runs/0/chips", "1"},    {"/runs/0/extra", "1"},  {"/runs/0/simulation", "auto"},
      {"/config_hash", "xyz"},   {"/program", "other"},   {"/runs/0/wire_bytes_per_link", "-1"},
      {"/runs/0/numerics", "{}"}};
  for (const auto& [pointer, value] : changes) {
    CAPTURE(pointer, value);
    input::Json json = good;
    config::override_value(json, pointer, value);
    CHECK_THROWS_AS(input::check_schema(json, "result"), input::InputError);
  }
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    input::Json json = good;
    json.erase(key);
    CHECK_THROWS_AS(input::check_schema(json, "result"), input::InputError);
  }
}

}  // namespace
}  // namespace equarx::testing::schemas_test
