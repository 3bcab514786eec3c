#include "experiments/config/calibration_json.hpp"

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::calibration_json_test {
namespace {

using testing::check_refused;

/// TPU v5e with a calibration of two parameters.
input::Json calibrated_chip() {
  input::Json json = testing::tpu_v5e();
  json["parameters"]["hop_latency"] = {{"value", "360 ns"},
                                       {"standard_error", "20 ns"},
                                       {"class", "calibrated"},
                                       {"source", "a fit"}};
  json["parameters"]["dma_overhead"]["range"] = {"10 ns", "40 ns"};
  json["calibration"] = input::parse_json(R"({
    "parameters": ["hop_latency", "dma_overhead"],
    "correlation": [[1.0, -0.6], [-0.6, 1.0]],
    "observations": [
      { "what": "AllReduce of 8 B", "source": "a run", "role": "fit", "measured": "5.7 us",
        "standard_error": "200 ns", "simulated": "5.6 us" },
      { "what": "speedup", "source": "a paper", "role": "check", "measured": 1.8,
        "standard_error": 0.05, "simulated": 1.75 }
    ]
  })");
  return json;
}

input::Json changed_chip(const std::string& pointer, const std::string& text) {
  input::Json json = calibrated_chip();
  override_value(json, pointer, text);
  return json;
}

TEST_CASE("a calibration is written as it was read") {
  const input::Json json = calibrated_chip();
  CHECK_NOTHROW(input::check_schema(json, "hardware"));
  const hardware::Chip chip = read_chip(json);
  REQUIRE(chip.calibration);
  CHECK(chip.calibration->parameters == std::vector<std::string>{"hop_latency", "dma_overhead"});
  CHECK(chip.calibration->correlation == std::vector{1.0, -0.6, -0.6, 1.0});
  REQUIRE(chip.calibration->observations.size() == 2);
  const hardware::Observation& time = chip.calibration->observations[0];
  CHECK(time.dimension == units::Dimension::time);
  CHECK(time.measured == Approx(5.7e-6));
  CHECK(time.standard_error == Approx(200e-9));
  CHECK(time.simulated == Approx(5.6e-6));
  const hardware::Observation& ratio = chip.calibration->observations[1];
  CHECK_FALSE(ratio.dimension);
  CHECK(ratio.role == hardware::ObservationRole::check);
  CHECK(calibration_json(*chip.calibration).dump() == json["calibration"].dump());
  CHECK(to_json(read_chip(to_json(chip))) == to_json(chip));
}

TEST_CASE("a chip without a calibration writes none") {
  input::Json json = testing::tpu_v5e();
  json.erase("calibration");
  const hardware::Chip chip = read_chip(json);
  CHECK_FALSE(chip.calibration);
  CHECK_FALSE(to_json(chip).contains("calibration"));
}

struct Mistake {
  std::string pointer, value, place, remedy;
  bool structural;  ///< the schema refuses it as well
};

TEST_CASE("errors in a calibration are refused, structural ones also by the schema") {
  const std::string c = "/calibration/";
  const std::string first = c + "observations/0";
  for (const Mistake& mistake : std::vector<Mistake>{
           {"/calibration", "[]", "/calibration", "expected an object", true},
           {c + "fit", "[]", c + "fit", "unknown key", true},
           {c + "parameters", "hop_latency", c + "parameters", "expected an array", true},
           {c + "parameters", "[]", c + "parameters", "is empty; name a parameter", true},
           {c + "parameters/0", "hop_latncy", c + "parameters/0", "did you mean 'hop_latency'?",
            false},
           {c + "parameters/0", "1", c + "parameters/0", "is not a parameter", true},
           {c + "parameters/1", "hop_latency", c + "parameters/1", "is listed twice", true},
           {c + "parameters/1", "links", c + "parameters/1", "neither a standard error nor a range",
            false},
           {c + "correlation", "1", c + "correlation", "expected an array", true},
           {c + "correlation", "[[1]]", c + "correlation", "expected an array of 2", false},
           {c + "correlation/1", "[1]", c + "correlation/1", "expected an array of 2", false},
           {c + "correlation/1/0", "none", c + "correlation/1/0", "a number from -1 to 1", true},
           {c + "correlation/1/0", "0.6", c + "correlation/0/1", "must be symmetric", false},
           {c + "correlation/1/1", "2", c + "correlation/1/1", "2 is not a valid correlation",
            true},
           {c + "observations", "{}", c + "observations", "expected an array", true},
           {first, "1", first, "expected an object", true},
           {first + "/role", "test", first + "/role", "one of fit, check", true},
           {first + "/measured", "5.7", first + "/standard_error", "expected a plain number",
            false},
           {first + "/measured", "5.7 GB", first + "/measured", "not a unit of a time", false},
           {first + "/simulated", "5.7", first + "/simulated", "a time with its unit", false},
           {first + "/standard_error", "0 s", first + "/standard_error", "above 0", false},
           {first + "/sources", "x", first + "/sources", "did you mean 'source'?", true}}) {
    CAPTURE(mistake.pointer, mistake.value);
    const input::Json json = changed_chip(mistake.pointer, mistake.value);
    check_refused([&] { read_chip(json); }, mistake.place, mistake.remedy);
    if (mistake.structural)
      CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
  }
}

TEST_CASE("impossible correlations are refused") {
  input::Json json = calibrated_chip();
  json["parameters"]["wait_overhead"]["range"] = {"5 ns", "20 ns"};
  json["calibration"]["parameters"].push_back("wait_overhead");
  json["calibration"]["correlation"] =
      input::parse_json("[[1, -0.9, -0.9], [-0.9, 1, -0.9], [-0.9, -0.9, 1]]");
  check_refused([&] { read_chip(json); }, "/calibration/correlation", "positive semi-definite");
}

TEST_CASE("every key of a calibration is required") {
  for (const std::string key : {"parameters", "correlation", "observations"}) {
    input::Json json = calibrated_chip();
    json["calibration"].erase(key);
    check_refused([&] { read_chip(json); }, "/calibration/" + key, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
  }
  for (const std::string key :
       {"what", "source", "role", "measured", "standard_error", "simulated"}) {
    input::Json json = calibrated_chip();
    json["calibration"]["observations"][1].erase(key);
    check_refused([&] { read_chip(json); }, "/calibration/observations/1/" + key, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
  }
}

}  // namespace
}  // namespace equarx::config::calibration_json_test
