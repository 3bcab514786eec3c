// The published schemas accept everything that the program reads and writes.
#include <filesystem>

#include "experiments/config/any_config.hpp"
#include "experiments/config/graph_json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

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
