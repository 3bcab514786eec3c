#include "experiments/inspect/hardware.hpp"

#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "tests/catch.hpp"

namespace equarx::inspect::hardware_test {
namespace {

TEST_CASE("the built-in chips are eight GPUs and five generations of TPU") {
  std::vector<std::string> names;
  for (const hardware::Chip& chip : built_in_chips()) names.push_back(chip.name);
  CHECK(names == std::vector<std::string>{"a100", "b200", "gb200", "gh200", "h100", "h200", "h800",
                                          "mi300x", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e",
                                          "tpu-v7"});
}

TEST_CASE("the list shows each chip's links, memory and peak with their units") {
  const std::vector<hardware::Chip> chips = built_in_chips();
  const std::string table = to_table(chips);
  for (const std::string part : {"45 GB/s", "16 GB", "819 GB/s", "197 Top/s", "tpu-v7"})
    CHECK_THAT(table, ContainsSubstring(part));
  for (const hardware::Chip& chip : chips) CHECK_THAT(table, ContainsSubstring(chip.description));
  const input::Json json = to_json(chips);
  REQUIRE(json.size() == chips.size());
  const input::Json& v5e = json[9];
  CHECK(v5e["name"] == "tpu-v5e");
  CHECK(v5e["description"] == chips[9].description);
  CHECK(v5e["links"] == 4);
  CHECK(v5e["link_bandwidth"] == "45 GB/s");
  CHECK(v5e["matrix_rate_bf16"] == "197 Top/s");
}

TEST_CASE("the report of a chip has all its parameters with value, class and source") {
  for (const hardware::Chip& chip : built_in_chips()) {
    const std::string report = to_report(chip);
    for (const hardware::ParameterInfo& info : hardware::parameters()) {
      CAPTURE(chip.name, info.key);
      if (is_absent(chip, info)) {
        CHECK_THAT(report, !ContainsSubstring(std::string(info.key)));
        continue;
      }
      const hardware::Parameter& parameter = chip.*info.member;
      CHECK_THAT(report, ContainsSubstring(format_value(info, parameter) + "  ") &&
                             ContainsSubstring(parameter.source) &&
                             ContainsSubstring(std::string(info.description)));
    }
    CHECK_THAT(report, ContainsSubstring(chip.slices.source));
  }
}

TEST_CASE("the report describes slices and wraparound") {
  const auto report = [](const std::string& name) {
    return to_report(config::load_chip(name, ""));
  };
  CHECK_THAT(report("tpu-v5e"), ContainsSubstring("slices: 1x1, 2x2, 2x4") &&
                                    ContainsSubstring("axes of length 16 wrap around"));
  CHECK_THAT(report("tpu-v5p"),
             ContainsSubstring("whole 4x4x4 cubes up to 6144 chips") &&
                 ContainsSubstring("every axis wraps around in slices of whole"));
  hardware::Chip chip = config::load_chip("tpu-v5e", "");
  chip.slices.list.clear();
  chip.slices.wraparound = hardware::WraparoundRule::never;
  CHECK_THAT(to_report(chip),
             ContainsSubstring("slices: none") && ContainsSubstring("no axis wraps around"));
  chip.slices.cubes = hardware::CubeRule{.edge = 2, .axes = 2, .most_chips = 64};
  CHECK_THAT(to_report(chip), ContainsSubstring("slices: whole 2x2 cubes up to 64 chips"));
}

TEST_CASE("the report has uncertainties and fitted measurements") {
  hardware::Chip chip = config::load_chip("tpu-v5e", "");
  chip.calibration.reset();
  CHECK_THAT(to_report(chip), !ContainsSubstring("observation"));
  chip.hop_latency.range.reset();
  chip.hop_latency.standard_error = 21e-9;
  chip.dma_overhead.range = {.low = 10e-9, .high = 43e-9};
  chip.calibration =
      hardware::Calibration{.parameters = {"hop_latency", "dma_overhead"},
                            .correlation = {1.0, -0.625, -0.625, 1.0},
                            .observations = {{.what = "AllReduce of 8 B",
                                              .source = "a run",
                                              .dimension = units::Dimension::time,
                                              .measured = 5.7e-6,
                                              .standard_error = 0.2e-6,
                                              .simulated = 5.6e-6},
                                             {.what = "speedup",
                                              .source = "a paper",
                                              .role = hardware::ObservationRole::check,
                                              .measured = 1.875,
                                              .standard_error = 0.05,
                                              .simulated = 1.75}}};
  const std::string report = to_report(chip);
  for (const std::string part : {"+- 21 ns", "10 ns to 43 ns", "-0.625", "AllReduce of 8 B",
                                 "5.700 us", "200.0 ns", "5.600 us", "check", "1.875", "1.75"})
    CHECK_THAT(report, ContainsSubstring(part));
}

}  // namespace
}  // namespace equarx::inspect::hardware_test
