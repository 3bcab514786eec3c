#include "experiments/config/parameter_json.hpp"

#include "base/input/json.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::parameter_json_test {
namespace {

using testing::check_refused;

hardware::Parameter read(const std::string& key, const std::string& text) {
  const input::Json json = input::parse_json(text);
  return read_parameter({json, ""}, *hardware::find_parameter(key));
}

TEST_CASE("ranges and standard errors have the unit of the value and survive a round trip") {
  const std::string measured = R"("class": "measured", "source": "a run"})";
  const std::string time =
      R"({"value": "1 us", "standard_error": "20 ns", "range": ["0 s", "2 us"], )";
  const hardware::Parameter latency = read("hop_latency", time + measured);
  CHECK(latency.standard_error == 20e-9);
  CHECK(latency.range == hardware::ParameterRange{.low = 0.0, .high = 2e-6});
  CHECK(parameter_json(*hardware::find_parameter("hop_latency"), latency) ==
        input::parse_json(time + measured));
  const hardware::Parameter share =
      read("link_efficiency",
           R"({"value": 0.9, "standard_error": 0.01, "range": [0.8, 1], )" + measured);
  CHECK(share.standard_error == 0.01);
  CHECK(share.range == hardware::ParameterRange{.low = 0.8, .high = 1.0});
  // Fitted to noise-free times.
  CHECK(read("link_efficiency", R"({"value": 0.9, "standard_error": 1e-14, )" + measured)
            .standard_error == 1e-14);
  const hardware::Parameter queue =
      read("dma_queue", R"({"value": 16, "range": [8, 64], )" + measured);
  CHECK(parameter_json(*hardware::find_parameter("dma_queue"), queue)["range"].dump() == "[8,64]");
  const hardware::Parameter plain = read("hop_latency", R"({"value": "1 us", )" + measured);
  CHECK_FALSE(plain.range);
  CHECK_FALSE(plain.standard_error);
}

TEST_CASE("impossible ranges and standard errors are refused") {
  struct Wrong {
    std::string key, value, uncertainty, provenance, place, remedy;
  };
  const std::string us = "\"1 us\"";
  for (const Wrong& wrong : std::vector<Wrong>{
           {"hop_latency", us, R"("range": "1 us")", "assumed", "/range", "lowest and the highest"},
           {"hop_latency", us, R"("range": ["1 us"])", "assumed", "/range",
            R"(like ["1 us", "1 us"])"},
           {"hop_latency", us, R"("range": [1, 2])", "assumed", "/range/0", "a time with its unit"},
           {"hop_latency", us, R"("range": ["0 s", "1 GB"])", "assumed", "/range/1",
            "not a unit of a time"},
           {"hop_latency", us, R"("range": ["-1 s", "1 s"])", "assumed", "/range/0",
            "not be negative"},
           {"hop_latency", us, R"("range": ["2 us", "1 us"])", "assumed", "/range",
            "write the lowest first"},
           {"hop_latency", us, R"("range": ["1 us", "1 us"])", "assumed", "/range",
            "write the lowest first"},
           {"hop_latency", us, R"("range": ["2 us", "3 us"])", "assumed", "/range",
            "widen the range"},
           {"hop_latency", us, R"("range": ["0 s", "1 ns"])", "assumed", "/range",
            "the value, 1 us,"},
           {"hbm_bandwidth", R"("1 TB/s")", R"("range": ["0 B/s", "2 TB/s"])", "assumed",
            "/range/0", "above 0"},
           {"link_efficiency", "0.9", R"("range": [0.8, 1.1])", "assumed", "/range/1",
            "from 1e-9 to 1"},
           {"link_efficiency", "0.9", R"("standard_error": 1.5)", "measured", "/standard_error",
            "is above 1, the largest error of a share"},
           {"dma_queue", "16", R"("range": [0, 64])", "assumed", "/range/0", "integer from 1"},
           {"hop_latency", us, R"("standard_error": 1)", "measured", "/standard_error",
            "a time with its unit"},
           {"hop_latency", us, R"("standard_error": "0 s")", "measured", "/standard_error",
            "above 0"},
           {"hop_latency", us, R"("standard_error": "-1 s")", "measured", "/standard_error",
            "above 0"},
           {"hop_latency", us, R"("standard_error": "1 ns")", "assumed", "/standard_error",
            "give a range"},
           {"hop_latency", us, R"("standard_error": "1 ns")", "datasheet", "/standard_error",
            "give a range"},
           {"link_efficiency", "0.9", R"("standard_error": 0)", "calibrated", "/standard_error",
            "above 0"},
           {"dma_queue", "16", R"("standard_error": 1)", "measured", "/standard_error",
            "give a range"},
           {"hop_latency", us, R"("standard_eror": "1 ns")", "measured", "/standard_eror",
            "did you mean 'standard_error'?"}}) {
    CAPTURE(wrong.key, wrong.uncertainty);
    check_refused(
        [&] {
          read(wrong.key, R"({"value": )" + wrong.value + ", " + wrong.uncertainty +
                              R"(, "class": ")" + wrong.provenance + R"(", "source": "a run"})");
        },
        wrong.place, wrong.remedy);
  }
}

}  // namespace
}  // namespace equarx::config::parameter_json_test
