#include "experiments/calibrate/task.hpp"

#include "base/input/schema.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/calibrate/example.hpp"
#include "tests/support/errors.hpp"

namespace equarx::calibrate::task_test {
namespace {

using testing::check_refused;

const config::ExperimentConfig& experiment(const CalibrationTask& task, std::size_t measurement) {
  return std::get<config::ExperimentConfig>(
      std::get<SimulatedNumber>(task.measurements[measurement].of).config);
}

TEST_CASE("the example is read and valid against its schema") {
  const input::Json json = example();
  CHECK_NOTHROW(input::check_schema(json, "calibration"));
  const CalibrationTask task = read_task(json, "");
  CHECK(task.chip.name == "made-up-chip");
  CHECK(task.fit.size() == 3);
  CHECK(task.given.size() == 3);
  REQUIRE(task.measurements.size() == 12);
  CHECK(task.measurements[0].dimension == units::Dimension::time);
  CHECK(experiment(task, 1).tensor.elements == 1024);  // 4 KiB of fp32
  CHECK(task.measurements.back().role == hardware::ObservationRole::check);
}

TEST_CASE("chips may have other names in the file and in its experiments") {
  input::Json json = example();
  json["hardware"] = "v5e";
  json["measurements"][0]["config"]["hardware"] = "TPU-v5e";
  const CalibrationTask task = read_task(json, "");
  CHECK(task.hardware == "tpu-v5e");
  CHECK(experiment(task, 0).hardware == "tpu-v5e");
  json["measurements"][0]["config"]["hardware"] = "v6e";
  check_refused([&] { read_task(json, ""); }, "/measurements/0/config", "'tpu-v5e' is calibrated");
}

TEST_CASE("configuration paths are relative to the file") {
  const std::filesystem::path folder = std::filesystem::path(EQUARX_CONFIGS_DIR) / "calibrations";
  const input::Json json =
      input::parse_json(input::read_file((folder / "made_up_chip.json").string()));
  CHECK(read_task(json, folder).measurements.size() == 12);
  check_refused([&] { read_task(json, folder / "nowhere"); }, "/measurements/0/config",
                "cannot read");
}

TEST_CASE("invalid calibration files are rejected") {
  struct Mistake {
    std::string pointer, value, place, remedy;
  };
  const std::string m = "/measurements/0";
  for (const Mistake& mistake : std::vector<Mistake>{
           {"/fits", "[]", "/fits", "did you mean 'fit'?"},
           {"/hardware", "tpu-v9", "/hardware", "did you mean 'tpu-v4'?"},
           {"/fit", "[]", "/fit", "is empty; name a parameter"},
           {"/fit/0", "hop_latncy", "/fit/0", "did you mean 'hop_latency'?"},
           {"/fit/0", "dma_queue", "/fit/0", "dma_queue is a count"},
           {"/fit/0", "hop_latency", "/fit/1", "named twice"},
           {"/given/0", "hop_latency", "/given/0", "named twice"},
           {"/given/0", "hbm_bandwidth", "/given/0", "neither a range nor a standard error"},
           {"/measurements", "[]", "/measurements", "add measurements, or fit fewer"},
           {m + "/config", "1", m + "/config", "expected a configuration"},
           {m + "/config/hardware", "tpu-v4", m + "/config", "'tpu-v5e' is calibrated"},
           {m + "/config/topology", "{}", m + "/config", "/topology"},
           {m + "/set", "1", m + "/set", "object of JSON pointers"},
           {m + "/set", R"({"tensor": 1})", m + "/set", "tensor"},
           {m + "/run", "rin", m + "/run", "did you mean 'ring'?"},
           {m + "/metric", "time", m + "/metric", "did you mean 'time_s'?"},
           {m + "/metric", "numerics/mse", m + "/metric", "is not known"},
           {m + "/role", "test", m + "/role", "one of fit, check"},
           {m + "/measured", "5 GB", m + "/measured", "not a unit of a time"},
           {m + "/measured", "true", m + "/measured", "number of seconds"},
           {m + "/standard_error", "0 s", m + "/standard_error", "must be above 0"},
           {m + "/standard_error", "-1", m + "/standard_error", "must be above 0"}}) {
    CAPTURE(mistake.pointer, mistake.value);
    input::Json json = example();
    config::override_value(json, mistake.pointer, mistake.value);
    check_refused([&] { read_task(json, ""); }, mistake.place, mistake.remedy);
  }
}

TEST_CASE("the required keys of a measurement are enforced") {
  for (const std::string key : {"what", "source", "role", "config", "measured", "standard_error"}) {
    input::Json json = example();
    json["measurements"][0].erase(key);
    check_refused([&] { read_task(json, ""); }, "/measurements/0/" + key, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "calibration"), input::InputError);
  }
}

TEST_CASE("contradictory measurements are rejected, consistent ones accepted") {
  input::Json json = example();
  input::Json again = json["measurements"][0];
  again["measured"] = "12.4 us";
  json["measurements"].push_back(again);
  CHECK_NOTHROW(read_task(json, ""));
  json["measurements"].back()["measured"] = "13 us";
  check_refused([&] { read_task(json, ""); }, "/measurements/12/measured", "/measurements/0");
}

TEST_CASE("speedups are plain numbers") {
  input::Json json = example();
  json["measurements"][0]["metric"] = "speedup";
  check_refused([&] { read_task(json, ""); }, "/measurements/0/measured", "plain number");
  json["measurements"][0]["measured"] = 1.0;
  json["measurements"][0]["standard_error"] = 0.1;
  CHECK_FALSE(read_task(json, "").measurements[0].dimension);
}

}  // namespace
}  // namespace equarx::calibrate::task_test
