#include "experiments/config/chip_choice.hpp"

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::config::chip_choice_test {
namespace {

using testing::changed;
using testing::check_mistakes;
using testing::good_config;
using testing::TemporaryFile;

TEST_CASE("an override changes a parameter of a chip given by name, by path, or with changes") {
  const TemporaryFile file(testing::tpu_v5e().dump());
  for (const std::string& name : {std::string("tpu-v5e"), file.path()}) {
    input::Json json = changed("/hardware", name);
    override_value(json, "/hardware/link_bandwidth", "90 GB/s");
    override_value(json, "/hardware/dma_queue", "3");
    const ExperimentConfig config = read_config(json);
    CHECK(config.hardware == name);
    CHECK(config.changed_parameters.size() == 2);
    CHECK(config.chip.link_bandwidth.value == 90e9);
    CHECK(config.chip.dma_queue.value == 3);
    CHECK_NOTHROW(input::check_schema(json, "experiment"));
  }
}

TEST_CASE("a changed chip is written as it is read") {
  const input::Json json =
      changed("/hardware", R"({"based_on": "tpu-v5e", "step_sync_time": "0.5 us", "link_bandwidth":
                       {"value": "90 GB/s", "class": "datasheet", "source": "a test"}})");
  const input::Json written = to_json(read_config(json));
  CHECK(written["hardware"].dump() ==
        R"({"based_on":"tpu-v5e","link_bandwidth":{"value":"90 GB/s","class":"datasheet",)"
        R"("source":"a test"},"step_sync_time":"500 ns"})");
  CHECK(to_json(read_config(written)) == written);
}

TEST_CASE("a choice without changes is written as its name") {
  CHECK(to_json(read_config(changed("/hardware/link_bandwidth", "45 GB/s"))) ==
        to_json(read_config(good_config())));
}

TEST_CASE("a hardware file may override another chip, and be overridden itself") {
  const TemporaryFile whole(testing::tpu_v5e().dump());
  const std::string name = std::filesystem::path(whole.path()).filename();
  // The path of the base is relative to the file.
  const TemporaryFile faster(R"({"based_on": "./)" + name +
                             R"(", "name": "faster", "link_bandwidth": "90 GB/s"})");
  const ExperimentConfig config = read_config(changed("/hardware", faster.path()));
  CHECK(config.chip.name == "faster");
  CHECK(config.chip.link_bandwidth.value == 90e9);
  CHECK_FALSE(config.chip.is_calibrated());
  CHECK(config.changed_parameters.empty());
  CHECK(to_json(config)["hardware"] == faster.path());
  input::Json json = changed("/hardware", faster.path());
  override_value(json, "/hardware/hop_latency", "1 us");
  CHECK(read_config(json).chip.name == "faster (hop_latency 1 us)");
}

TEST_CASE("invalid choices of a chip are refused") {
  const TemporaryFile itself("");
  std::ofstream(itself.path()) << R"({"based_on": ")" + itself.path() + R"("})";
  const TemporaryFile unknown(R"({"based_on": "tpu-v9"})");
  check_mistakes(
      {{"/hardware", "{}", "/hardware/based_on", "is missing; expected a chip's name"},
       {"/hardware", "7", "/hardware", "like {\"based_on\": \"tpu-v5e\""},
       {"/hardware/based_on", "tpu-v9", "/hardware/based_on", "(one of a100"},
       {"/hardware/colour", "red", "/hardware/colour", "unknown key"},
       {"/hardware", itself.path(), "/hardware", "is based on itself"},
       {"/hardware", unknown.path(), "/hardware", "/based_on: 'tpu-v9' is not a known chip"}});
}

}  // namespace
}  // namespace equarx::config::chip_choice_test
