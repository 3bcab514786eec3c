#include <filesystem>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/calibrate/calibrate.hpp"
#include "experiments/config/hardware_json.hpp"
#include "tests/catch.hpp"

namespace equarx::calibrate::calibrated_chip_test {
namespace {

const std::filesystem::path kFolder = EQUARX_SOURCE_DIR "/experiments/studies/calibration";

TEST_CASE("recalibrating a built-in chip reproduces it", "[long]") {
  for (const char* const name : {"tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7"}) {
    const std::filesystem::path file = kFolder / (std::string(name) + ".json");
    const CalibrationTask task =
        read_task(input::parse_json(input::read_file(file.string())), kFolder);
    const hardware::Chip made = calibrated_chip(task, calibrate(task, [](const std::string&) {}));
    const hardware::Chip known = config::load_chip(name, "");
    CHECK(made.calibration->parameters == known.calibration->parameters);
    REQUIRE(made.calibration->correlation.size() == known.calibration->correlation.size());
    for (std::size_t i = 0; i < made.calibration->correlation.size(); ++i)
      CHECK(made.calibration->correlation[i] ==
            Approx(known.calibration->correlation[i]).margin(0.01));
    for (const hardware::ParameterInfo* info : task.fit) {
      CAPTURE(name, info->key);
      const hardware::Parameter& again = made.*info->member;
      const hardware::Parameter& before = known.*info->member;
      CHECK(before.provenance == hardware::Provenance::calibrated);
      // 1 % of the standard error: the fit is independent of its start values.
      CHECK(again.value == Approx(before.value).margin(0.01 * *before.standard_error));
      CHECK(*again.standard_error == Approx(*before.standard_error).epsilon(0.02));
      CHECK(again.source == before.source);
    }
  }
}

}  // namespace
}  // namespace equarx::calibrate::calibrated_chip_test
