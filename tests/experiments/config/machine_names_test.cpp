#include "experiments/config/machine_names.hpp"

#include <algorithm>
#include <set>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::config::machine_names_test {
namespace {

using namespace testing;

std::string resolved(const std::string& pointer, const std::string& value) {
  const input::Json json = changed(pointer, value);
  input::check_schema(json, "experiment");
  return to_json(read_config(json)).dump();
}

TEST_CASE("an alias maps to a built-in chip and is not one itself") {
  std::set<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_hardware()) names.insert(file.name);
  std::set<std::string_view> seen;
  for (const ChipAlias& alias : chip_aliases()) {
    CAPTURE(alias.alias);
    CHECK(seen.insert(alias.alias).second);
    CHECK_FALSE(names.contains(alias.alias));
    CHECK(names.contains(alias.name));
    CHECK(chip_name(alias.alias) == alias.name);
  }
}

TEST_CASE("chips have their names in Google Cloud, GKE and JAX") {
  for (const auto& [name, chip] :
       std::vector<std::pair<std::string, std::string>>{{"v5e", "tpu-v5e"},
                                                        {"TPU-v5e", "tpu-v5e"},
                                                        {"tpu_v5e", "tpu-v5e"},
                                                        {"v5litepod", "tpu-v5e"},
                                                        {"TPU v5 lite", "tpu-v5e"},
                                                        {"tpu-v5-lite-podslice", "tpu-v5e"},
                                                        {"v5p", "tpu-v5p"},
                                                        {"v6e", "tpu-v6e"},
                                                        {"trillium", "tpu-v6e"},
                                                        {"TPU7x", "tpu-v7"},
                                                        {"H100", "h100"},
                                                        {"tpu-v5e", "tpu-v5e"}}) {
    CAPTURE(name);
    CHECK(chip_name(name) == chip);
    CHECK(load_chip(name, "").name == chip);
  }
  CHECK(chip_name("./v5e.json") == "./v5e.json");
  CHECK(chip_name("v5") == "v5");  // v5e or v5p
}

TEST_CASE("an experiment has the same configuration by any name") {
  const std::string ours = resolved("/hardware", "tpu-v5e");
  CHECK(resolved("/hardware", "TPU-v5e") == ours);
  CHECK(resolved("/hardware", "v5litepod") == ours);
  const std::string changed_chip =
      resolved("/hardware", R"({"based_on": "tpu-v5e", "link_bandwidth": "90 GB/s"})");
  CHECK(resolved("/hardware", R"({"based_on": "v5e", "link_bandwidth": "720 Gbps"})") ==
        changed_chip);
  const std::string shape = resolved("/topology/slice", "2x4");
  for (const std::string slice : {"2X4", "2*4", "v5e-8", "v5litepod-8", "tpu-v5litepod-8"}) {
    CAPTURE(slice);
    CHECK(resolved("/topology/slice", slice) == shape);
  }
}

TEST_CASE("accelerator types count chips or TensorCores") {
  const auto shape = [](const std::string& text) {
    const auto type = accelerator_type(text);
    REQUIRE(type);
    return slice_of(*type, load_chip(std::string(type->chip), "").slices);
  };
  using Lengths = hardware::SliceLengths;
  CHECK(shape("v5litepod-16") == Lengths{4, 4});
  CHECK(shape("v6e-256") == Lengths{16, 16});
  CHECK(shape("v4-8") == Lengths{2, 2, 1});
  CHECK(shape("v5p-128") == Lengths{4, 4, 4});
  CHECK(shape("tpu7x-8") == Lengths{2, 2, 1});
  for (const std::string text : {"v5e", "v5e-", "v5e-0", "v5e-x", "8", "4x2", "h100-8", "v9-8",
                                 "v5e-99999999999", "-8", ""}) {
    CAPTURE(text);
    CHECK_FALSE(accelerator_type(text));
  }
}

TEST_CASE("other names of chips and slices are refused with the nearest") {
  check_mistakes(
      {{"/hardware", "mi325x", "/hardware",
        "no built-in chip 'mi325x'; nearest: mi300x; set /hardware/hbm_bandwidth to 6 TB/s"},
       {"/hardware", "b300", "/hardware", "nearest: b200; set the /hardware parameters"},
       {"/hardware", "tpu-v3", "/hardware", "nearest: tpu-v4; set the /hardware parameters"},
       {"/hardware", "v5", "/hardware", "did you mean 'tpu-v5e' or 'tpu-v5p'? (one of a100"},
       {"/hardware", "tpu-v6", "/hardware", "did you mean 'tpu-v6e'?"},
       {"/hardware", "abacus", "/hardware", "use one of a100"},
       {"/hardware", "tpu-v5litepod-8", "/hardware",
        R"(is a slice of a chip; use "tpu-v5e" as the chip, and "2x4" as the slice)"},
       {"/topology/slice", "v6e-8", "/topology/slice", "is a slice of tpu-v6e, not of tpu-v5e"},
       {"/topology/slice", "v5e-12", "/topology/slice",
        "tpu-v5e has no slice of 12 chips; its slices are 1x1, 2x2"}});
  const hardware::Slices slices = load_chip("tpu-v5p", "").slices;
  CHECK_THROWS_WITH(slice_of(*accelerator_type("v5p-512"), slices),
                    "tpu-v5p has several slices of 256 chips; use one of 4x4x16, 4x8x8");
  CHECK_THROWS_WITH(slice_of(*accelerator_type("v5p-9"), slices),
                    ContainsSubstring("counts TensorCores, 2 per chip; 9 is not a multiple of 2"));
}

TEST_CASE("parameters named for chips that are not built in exist") {
  const std::string message = unknown_chip("MI325X", {});
  for (const std::string key : {"hbm_bandwidth", "hbm_capacity"})
    CHECK_THAT(message, ContainsSubstring("/hardware/" + key));
  input::Json json = changed("/topology/ring", "8");
  json["hardware"] = {
      {"based_on", "mi300x"}, {"hbm_bandwidth", "6 TB/s"}, {"hbm_capacity", "256 GB"}};
  CHECK(read_config(json).chip.name.starts_with("mi300x ("));
}

}  // namespace
}  // namespace equarx::config::machine_names_test
