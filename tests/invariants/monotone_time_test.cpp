// A slower machine or a larger tensor never makes a collective faster.
#include <random>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::monotone_time_test {
namespace {

constexpr double kRounding = 1e-9;
/// Tolerance for a larger tensor on a torus of unequal sides, which may divide it differently.
constexpr double kDivision = 0.05;

std::vector<double> times(const input::Json& json) {
  std::vector<double> seconds;
  for (const run::RunResult& one : run(json).runs) seconds.push_back(one.time_s);
  return seconds;
}

/// A random machine; every number may be scaled by a factor.
struct Draw {
  std::mt19937 generator;
  double factor() { return std::uniform_real_distribution(1.0, 4.0)(generator); }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(generator)];
  }
};

input::Json random_experiment(Draw& draw) {
  const auto topology = draw.of<std::string>(
      {R"({"ring": 5})", R"({"ring": 8})", R"({"torus": "3x4"})", R"({"torus": "2x3x4"})"});
  input::Json json = {
      {"hardware", "tpu-v5e"},
      {"topology", input::parse_json(topology)},
      {"tensor", {{"bytes", fmt::format("{} B", 2 * (1000 + draw.generator() % 200000))}}},
      {"numerics", "off"}};
  for (const std::string ring : {"full-loop", "semi-loop"})
    for (const std::string format : {"bf16", "int8"}) {
      json["collectives"].push_back({{"label", fmt::format("{} {}", ring, format)},
                                     {"algorithm", format == "int8" ? "equarx" : "ring"},
                                     {"ring", ring},
                                     {"format", format},
                                     {"minishards", 1 + draw.generator() % 3},
                                     {"microshards", 1 + draw.generator() % 4}});
      json["collectives"].push_back(json["collectives"].back());
      json["collectives"].back()["algorithm"] = "torus";
      json["collectives"].back()["label"] = fmt::format("torus {} {}", ring, format);
    }
  return json;
}

/// The hardware file of TPU v5e with one parameter multiplied.
input::Json with_parameter(const std::string& key, double factor, const std::string& unit) {
  input::Json chip = tpu_v5e();
  input::Json& value = chip["parameters"][key]["value"];
  const auto text = value.get<std::string>();
  value = fmt::format("{} {}", std::stod(text) * factor, text.substr(text.find(' ') + 1));
  CHECK_THAT(value.get<std::string>(), ContainsSubstring(unit));
  for (const char* const key_of_uncertainty : {"range", "standard_error"})
    chip["parameters"][key].erase(key_of_uncertainty);
  chip.erase("calibration");
  return chip;
}

/// The hardware file of TPU v5e with one parameter set.
input::Json with_value(const std::string& key, const std::string& value) {
  input::Json chip = with_parameter("hop_latency", 1.0, "ns");
  chip["parameters"][key] = {{"value", value}, {"class", "assumed"}, {"source", "a test"}};
  return chip;
}

/// `gain`: tolerated relative speed-up of a torus.
void check_no_faster(const input::Json& one, const input::Json& slower, double gain = kRounding) {
  CAPTURE(one.dump(), slower.dump());
  const auto before = times(one);
  const auto after = times(slower);
  for (std::size_t i = 0; i < before.size(); ++i) {
    CAPTURE(i);
    const bool torus = one["collectives"][i]["algorithm"] == "torus";
    CHECK(after[i] >= before[i] * (1.0 - (torus ? gain : kRounding)));
  }
}

TEST_CASE("time grows with bytes, latency and slowness on any machine") {
  constexpr int kMachines = 12;
  Draw draw{std::mt19937(7)};
  for (int i = 0; i < kMachines; ++i) {
    const input::Json json = random_experiment(draw);
    const auto with_chip = [&](const input::Json& chip) {
      const TemporaryFile file(chip.dump());
      input::Json changed = json;
      changed["hardware"] = file.path();
      check_no_faster(json, changed);
    };
    with_chip(with_parameter("hop_latency", draw.factor(), "ns"));
    with_chip(with_parameter("collective_startup", draw.factor(), "us"));
    with_chip(with_parameter("link_bandwidth", 1.0 / draw.factor(), "B/s"));
    with_chip(with_parameter("vector_rate", 1.0 / draw.factor(), "/s"));
    with_chip(with_parameter("program_startup", draw.factor(), "us"));
    with_chip(with_value("step_sync_time", fmt::format("{} us", draw.factor())));
    input::Json longer = json;
    const double bytes = std::stod(json["tensor"]["bytes"].get<std::string>());
    longer["tensor"]["bytes"] =
        fmt::format("{} B", 2 * static_cast<std::uint64_t>(bytes / 2.0 * draw.factor()));
    check_no_faster(json, longer, kDivision);
  }
}

}  // namespace
}  // namespace equarx::testing::monotone_time_test
