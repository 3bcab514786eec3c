#include "experiments/config/hardware_json.hpp"

#include <cmath>
#include <set>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::config::hardware_json_test {
namespace {

using testing::check_mistakes;
using testing::check_refused;
using testing::TemporaryFile;
using testing::tpu_v5e;

/// TPU v5e with the value at `pointer` changed.
input::Json changed_chip(const std::string& pointer, const std::string& text) {
  input::Json json = tpu_v5e();
  override_value(json, pointer, text);
  return json;
}

TEST_CASE("TPU v5e has the figures of its data sheet") {
  const hardware::Chip chip = load_chip("tpu-v5e", "/hardware");
  CHECK(chip.name == "tpu-v5e");
  CHECK(chip.link_bandwidth.value == 45e9);
  CHECK(chip.link_bandwidth.provenance == hardware::Provenance::datasheet);
  CHECK(chip.hbm_capacity.value == 16e9);
  CHECK(chip.hbm_bandwidth.value == 819e9);
  CHECK(chip.vmem_capacity.value == 128.0 * 1024.0 * 1024.0);
  CHECK(chip.collective_startup.provenance == hardware::Provenance::calibrated);
  CHECK(chip.links.value == 4);
  CHECK(chip.matrix_rate_bf16.value == 197e12);
  CHECK(chip.matrix_rate_int8.value == 394e12);
  CHECK(chip.slices.wraparound_length == 16);
  CHECK(chip.slices.list.size() == 8);
}

TEST_CASE("changing a built-in chip does not affect later loads") {
  hardware::Chip mine = load_chip("tpu-v5e", "/hardware");
  mine.link_bandwidth.value = 1.0;
  mine.name = "mine";
  CHECK(load_chip("tpu-v5e", "/hardware").link_bandwidth.value == 45e9);
  CHECK(load_chip("tpu-v5e", "/hardware").name == "tpu-v5e");
}

TEST_CASE("the other generations have the figures of their data sheets") {
  struct Figures {
    std::string name;
    double links, link_bandwidth, hbm_capacity, hbm_bandwidth, vmem_capacity, bf16, int8;
  };
  constexpr double kMiB = 0x1p20;
  constexpr double kGiB = 0x1p30;
  for (const Figures& figures :
       {Figures{"tpu-v4", 6, 45e9, 32 * kGiB, 1.2e12, 32 * kMiB, 275e12, 275e12},
        {"tpu-v5p", 6, 90e9, 95 * kGiB, 2765e9, 128 * kMiB, 459e12, 918e12},
        {"tpu-v6e", 4, 90e9, 32 * kGiB, 1638e9, 128 * kMiB, 918e12, 1836e12},
        {"tpu-v7", 6, 100e9, 192 * kGiB, 7380e9, 128 * kMiB, 2307e12, 4614e12}}) {
    CAPTURE(figures.name);
    const hardware::Chip chip = load_chip(figures.name, "/hardware");
    CHECK(chip.links.value == figures.links);
    CHECK(chip.link_bandwidth.value == figures.link_bandwidth);
    CHECK(chip.hbm_capacity.value == figures.hbm_capacity);
    CHECK(chip.hbm_bandwidth.value == figures.hbm_bandwidth);
    CHECK(chip.vmem_capacity.value == figures.vmem_capacity);
    CHECK(chip.matrix_rate_bf16.value == figures.bf16);
    CHECK(chip.matrix_rate_int8.value == figures.int8);
  }
}

TEST_CASE("rates of FP8, FP32 and host links match the sources, or are absent") {
  struct Rates {
    std::string name;
    double fp8, host, fp32;
  };
  for (const Rates& rates : {Rates{"a100", 0, 32e9, 19.5e12},
                             {"gh200", 1978.9e12, 450e9, 66.9e12},
                             {"h100", 1978.9e12, 64e9, 66.9e12},
                             {"h200", 1978.9e12, 64e9, 66.9e12},
                             {"h800", 1978.9e12, 64e9, 66.9e12},
                             {"mi300x", 2614.9e12, 64e9, 163.4e12},
                             {"tpu-v4", 0, 16e9, 275e12 / 6},
                             {"tpu-v5e", 0, 15e9, 197e12 / 6},
                             {"tpu-v5p", 0, 15e9, 459e12 / 6},
                             {"tpu-v6e", 0, 32e9, 918e12 / 6},
                             {"tpu-v7", 4614e12, 32e9, 2307e12 / 6}}) {
    CAPTURE(rates.name);
    const hardware::Chip chip = load_chip(rates.name, "/hardware");
    CHECK(chip.matrix_rate_fp8.value == rates.fp8);
    CHECK(chip.host_bandwidth.value == rates.host);
    CHECK(chip.matrix_rate_fp32.value == Approx(rates.fp32).epsilon(1e-5));
    CHECK(chip.matrix_rate_fp4.value == 0.0);
  }
}

TEST_CASE("chips of the Blackwell generation multiply FP4 as their data sheets say") {
  struct Rates {
    std::string name;
    double fp4, fp8, bf16, links_rate;
  };
  for (const Rates& rates :
       {Rates{"b200", 9e15, 4.5e15, 2.25e15, 900e9}, {"gb200", 10e15, 5e15, 2.5e15, 900e9}}) {
    CAPTURE(rates.name);
    const hardware::Chip chip = load_chip(rates.name, "/hardware");
    CHECK(chip.matrix_rate_fp4.value == rates.fp4);
    CHECK(chip.matrix_rate_fp8.value == rates.fp8);
    CHECK(chip.matrix_rate_bf16.value == rates.bf16);
    CHECK(chip.links.value * chip.link_bandwidth.value == Approx(rates.links_rate).epsilon(1e-4));
  }
}

TEST_CASE("only GPUs of NVIDIA have NCCL's protocols, from Hopper on also sums in the switch") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    CAPTURE(file.name);
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    const std::set<std::string_view> adding = {"b200", "gb200", "h100", "h200", "h800"};
    const bool has = adding.contains(file.name) || file.name == "a100";
    CHECK((chip.ll_efficiency.value > 0.0) == has);
    CHECK((chip.simple_efficiency.value > chip.ll_efficiency.value) == has);
    CHECK((chip.switch_efficiency.value > 0.0) == adding.contains(file.name));
  }
}

TEST_CASE("fitted parameters have errors, and the measurements they were fitted to") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    const std::set<std::string_view> not_fitted = {"tpu-v4", "b200", "h200", "h800"};
    const bool fitted = !not_fitted.contains(file.name);
    CHECK(chip.calibration.has_value() == fitted);
    for (const hardware::ParameterInfo& info : hardware::parameters()) {
      CAPTURE(file.name, info.key);
      const hardware::Parameter& parameter = chip.*info.member;
      if (parameter.provenance != hardware::Provenance::calibrated) continue;
      REQUIRE(chip.calibration);
      CHECK(parameter.standard_error);
      CHECK(std::ranges::count(chip.calibration->parameters, info.key) == 1);
      CHECK(parameter.source.starts_with("fitted to "));
    }
    CHECK(chip.hop_latency.provenance == hardware::Provenance::assumed);
  }
}

TEST_CASE("times in cycles and vector rates of a built-in TPU follow from one clock") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    CAPTURE(file.name);
    if (!file.name.starts_with("tpu-")) continue;
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    CHECK(chip.dma_overhead.value == Approx(2.0 * chip.instruction_overhead.value).epsilon(0.01));
    CHECK(chip.wait_overhead.value == chip.instruction_overhead.value);
    const double clock = 15.0 / chip.instruction_overhead.value;
    const double alus = chip.vector_rate.value / clock;
    const double nearest_power = std::exp2(std::round(std::log2(alus)));
    CHECK(alus == Approx(nearest_power).epsilon(0.01));
  }
}

TEST_CASE("no slice of a built-in chip has more axes than the chip has pairs of links") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    CAPTURE(file.name);
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    for (const auto& slice : chip.slices.list)
      CHECK(2.0 * static_cast<double>(slice.size()) == chip.links.value);
    if (chip.slices.cubes) CHECK(2.0 * chip.slices.cubes->axes == chip.links.value);
  }
}

TEST_CASE("a chip survives a round trip") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    CAPTURE(file.name);
    const input::Json json = to_json(load_chip(std::string(file.name), "/hardware"));
    CHECK_NOTHROW(input::check_schema(json, "hardware"));
    CHECK(to_json(read_chip(json)) == json);
    const input::Json original = input::parse_json(file.text);
    CHECK(json["slices"] == original["slices"]);
  }
}

TEST_CASE("every parameter of every built-in chip has a source") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    CHECK(chip.name == file.name);
    for (const hardware::ParameterInfo& info : hardware::parameters()) {
      CAPTURE(file.name, info.key);
      if (!is_absent(chip, info)) CHECK((chip.*info.member).source.size() > 10);
    }
    CHECK(chip.slices.source.size() > 10);
  }
}

TEST_CASE("every assumed parameter of a built-in chip has a range") {
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    for (const hardware::ParameterInfo& info : hardware::parameters()) {
      const hardware::Parameter& parameter = chip.*info.member;
      if (is_absent(chip, info) || parameter.provenance != hardware::Provenance::assumed) continue;
      if (info.key == "dma_queue") continue;  // hardly any time depends on it
      CAPTURE(file.name, info.key);
      CHECK(parameter.range);
      CHECK_THAT(parameter.source, ContainsSubstring("Range: "));
    }
  }
}

TEST_CASE("parameters are reported as they were read") {
  const input::Json json = parameters_json(load_chip("tpu-v5e", "/hardware"));
  CHECK(json.size() == hardware::parameters().size() - 65);
  CHECK_FALSE(json.contains("matrix_rate_fp8"));  // v5e has no FP8
  CHECK_FALSE(json.contains("matrix_rate_fp4"));
  CHECK(json["link_bandwidth"]["value"] == "45 GB/s");
  CHECK(json["hbm_capacity"]["value"] == "16 GB");
  CHECK(json["link_efficiency"]["value"].is_number());
  CHECK(json["collective_startup"]["class"] == "calibrated");
  input::Json again = tpu_v5e();
  again["parameters"] = json;
  CHECK(parameters_json(read_chip(again)) == json);
}

TEST_CASE("a chip is read from a path") {
  input::Json json = tpu_v5e();
  json["name"] = "mine";
  const TemporaryFile file(json.dump());
  CHECK(load_chip(file.path(), "/hardware").name == "mine");
}

TEST_CASE("an error in a hardware file is located in the configuration and in the file") {
  const TemporaryFile empty("");
  check_refused([&] { load_chip(empty.path(), "/hardware"); }, "/hardware",
                "in " + empty.path() + ": not valid JSON at line 1, column 1");
  const TemporaryFile wrong(changed_chip("/parameters/hop_latency/value", "1 GB").dump());
  check_refused([&] { load_chip(wrong.path(), "/hardware"); }, "/hardware",
                "in " + wrong.path() +
                    ": /parameters/hop_latency/value: 'GB' is not a unit of a "
                    "time");
}

struct Mistake {
  std::string pointer;
  std::string value;
  std::string place;
  std::string remedy;
  bool structural;  ///< the schema refuses it as well
};

TEST_CASE("errors in a hardware file are refused, structural ones also by the schema") {
  const std::string p = "/parameters/";
  const std::vector<Mistake> mistakes = {
      {"/names", "x", "/names", "did you mean 'name'?", true},
      {"/name", "1", "/name", "expected a string", true},
      {"/parameters", "[]", "/parameters", "expected an object", true},
      {p + "hop_latncy", "{}", p + "hop_latncy", "did you mean 'hop_latency'?", true},
      {p + "hop_latency", "1 us", p + "hop_latency", "expected an object", true},
      {p + "hop_latency/class", "guess", p + "hop_latency/class",
       "one of datasheet, measured, calibrated, assumed", true},
      {p + "hop_latency/source", "1", p + "hop_latency/source", "expected a string", true},
      {p + "hop_latency/unit", "s", p + "hop_latency/unit", "unknown key", true},
      {p + "hop_latency/value", "true", p + "hop_latency/value", "like \"1 us\"", true},
      {p + "hop_latency/value", "1", p + "hop_latency/value", "like \"1 us\"", true},
      {p + "hop_latency/value", "\"1\"", p + "hop_latency/value", "has no unit", false},
      {p + "hop_latency/value", "-1 us", p + "hop_latency/value", "must not be negative", false},
      {p + "link_bandwidth/value", "45 GB", p + "link_bandwidth/value", "like \"45 GB/s\"", false},
      {p + "link_bandwidth/value", "0 GB/s", p + "link_bandwidth/value", "above 0", false},
      {p + "link_bandwidth/value", "-1 GB/s", p + "link_bandwidth/value", "above 0", false},
      {p + "link_bandwidth/value", "5e-324 GB/s", p + "link_bandwidth/value",
       "is too small; a bandwidth is at least 1e-09 B/s", false},
      {p + "vector_rate/value", "9e-10 op/s", p + "vector_rate/value", "is at least", false},
      {p + "hop_latency/value", "1.1e9 s", p + "hop_latency/value",
       "is too large; a time is at most 1000000000 s", false},
      {p + "hbm_capacity/value", "1e51 B", p + "hbm_capacity/value", "is too large", false},
      {p + "link_efficiency/value", "9e-10", p + "link_efficiency/value", "from 1e-9 to 1", true},
      {p + "link_efficiency/value", "0", p + "link_efficiency/value", "from 1e-9 to 1", true},
      {p + "link_efficiency/value", "1.01", p + "link_efficiency/value", "from 1e-9 to 1", true},
      {p + "link_efficiency/value", "97 %", p + "link_efficiency/value", "from 1e-9 to 1", true},
      {p + "dma_queue/value", "0", p + "dma_queue/value", "is not an integer from 1", true},
      {p + "dma_queue/value", "1.5", p + "dma_queue/value", "is not an integer from 1", true},
      {p + "dma_queue/value", "16 B", p + "dma_queue/value", "expected an integer", true},
      {p + "links/value", "0", p + "links/value", "is not an integer from 1", true},
      {p + "matrix_rate_bf16/value", "197 TB/s", p + "matrix_rate_bf16/value", "Top/s", false},
      {"/slices", "[\"4x4\"]", "/slices", "expected an object", true},
      {"/slices/list", "4x4", "/slices/list", "expected an array", true},
      {"/slices/list", "[4]", "/slices/list/0", "such as \"4x4\"", true},
      {"/slices/list", "[\"4x4\", \"4y4\"]", "/slices/list/1", "such as \"4x2\"", true},
      {"/slices/list", "[\"0x4\"]", "/slices/list/0", "positive whole numbers", true},
      {"/slices/lists", "[]", "/slices/lists", "did you mean 'list'?", true},
      {"/slices/class", "guess", "/slices/class", "one of datasheet", true},
      {"/slices/source", "1", "/slices/source", "expected a string", true},
      {"/slices/cubes", "4x4x4", "/slices/cubes", "expected an object", true},
      {"/slices/cubes", "{}", "/slices/cubes/cube", "is missing", true},
      {"/slices/cubes", R"({"cube": "4x4x4"})", "/slices/cubes/most_chips", "is missing", true},
      {"/slices/cubes", R"({"cube": 4, "most_chips": 64})", "/slices/cubes/cube", "4x4", true},
      {"/slices/cubes", R"({"cube": "4x4x2", "most_chips": 64})", "/slices/cubes/cube",
       "4x4x2 is not a cube", false},
      {"/slices/cubes", R"({"cube": "4x4x4", "most_chips": 63})", "/slices/cubes/most_chips",
       "at least the 64 chips of 4x4x4", false},
      {"/slices/cubes", R"({"cube": "4x4x4", "most_chips": 0})", "/slices/cubes/most_chips",
       "from 1 to", true},
      {"/slices/cubes", R"({"cube": "4x4x4", "most_chips": 64, "largest": "4x4x4"})",
       "/slices/cubes/largest", "unknown key", true},
      {"/slices/wraparound", "16", "/slices/wraparound", "expected an object", true},
      {"/slices/wraparound", "{}", "/slices/wraparound/rule", "is missing", true},
      {"/slices/wraparound/rule", "axes-length", "/slices/wraparound/rule",
       "did you mean 'axis-length'?", true},
      {"/slices/wraparound/rule", "never", "/slices/wraparound/length", "unknown key", true},
      {"/slices/wraparound", R"({"rule": "whole-cubes"})", "/slices/wraparound/rule",
       "needs \"cubes\"", false},
      {"/slices/wraparound", R"({"rule": "axis-length"})", "/slices/wraparound/length",
       "is missing", true},
      {"/slices/wraparound/length", "0", "/slices/wraparound/length", "from 1 to", true},
      {"/slices/wraparound/length", "4294967296", "/slices/wraparound/length",
       "from 1 to 4294967295", true}};
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    const input::Json json = changed_chip(mistake.pointer, mistake.value);
    check_refused([&] { read_chip(json); }, mistake.place, mistake.remedy);
    if (mistake.structural)
      CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
  }
}

TEST_CASE("every key of a hardware file is required") {
  for (const std::string key : {"name", "description", "parameters", "slices"}) {
    input::Json json = tpu_v5e();
    json.erase(key);
    check_refused([&] { read_chip(json); }, "/" + key, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
  }
  for (const std::string key : {"list", "wraparound", "class", "source"}) {
    input::Json json = tpu_v5e();
    json["slices"].erase(key);
    check_refused([&] { read_chip(json); }, "/slices/" + key, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
  }
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    const std::string key(info.key);
    if (info.may_be_absent) continue;
    input::Json json = tpu_v5e();
    json["parameters"].erase(key);
    check_refused([&] { read_chip(json); }, "/parameters/" + key, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "hardware"), input::InputError);
    for (const std::string part : {"value", "class", "source"}) {
      input::Json without = tpu_v5e();
      without["parameters"][key].erase(part);
      check_refused([&] { read_chip(without); }, "/parameters/" + key + "/" + part, "is missing");
      CHECK_THROWS_AS(input::check_schema(without, "hardware"), input::InputError);
    }
  }
}

TEST_CASE("FP8 and the host link are optional, but must be complete") {
  for (const std::string key : {"matrix_rate_fp8", "host_bandwidth"}) {
    CAPTURE(key);
    input::Json json = tpu_v5e();
    json["parameters"].erase(key);
    CHECK_NOTHROW(input::check_schema(json, "hardware"));
    const hardware::Chip chip = read_chip(json);
    CHECK(is_absent(chip, *hardware::find_parameter(key)));
    CHECK_FALSE(to_json(chip)["parameters"].contains(key));
    json["parameters"][key] = {{"class", "measured"}, {"source", "a test"}};
    check_refused([&] { read_chip(json); }, "/parameters/" + key + "/value", "is missing");
    for (const std::string value : {"0 GB/s", "0 Top/s"}) {
      json["parameters"][key]["value"] = value;
      CHECK_THROWS_AS(read_chip(json), input::InputError);
    }
  }
}

TEST_CASE("all missing keys are listed at once") {
  const std::string message =
      testing::message_of([] { read_chip(input::parse_json(R"({"name": "mine"})")); });
  CHECK(message ==
        "3 keys are missing: /description, /parameters, /slices; add them, or name a base chip by "
        "\"based_on\"");
  input::Json json = tpu_v5e();
  json["parameters"].erase("links");
  json["parameters"].erase("step_sync_time");
  json.erase("slices");
  CHECK_THAT(testing::message_of([&] { read_chip(json); }),
             ContainsSubstring("3 keys are missing: /slices, /parameters/links, "
                               "/parameters/step_sync_time; add"));
}

TEST_CASE("times may be zero") {
  for (const std::string key : {"hop_latency", "instruction_overhead", "dma_overhead"}) {
    input::Json json = changed_chip("/parameters/" + key + "/value", "0 s");
    json["parameters"][key].erase("range");
    json.erase("calibration");
    CHECK_NOTHROW(read_chip(json));
  }
}

TEST_CASE("unknown hardware is refused with the known names") {
  check_mistakes({{"/hardware", "tpu-v9", "/hardware",
                   "did you mean 'tpu-v4'? (one of a100, b200, gb200, gh200, h100, h200, h800, "
                   "mi300x, tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, tpu-v7, or the path of"},
                  {"/hardware", "\"\"", "/hardware", "use one of a100"},
                  {"/hardware", "none.json", "/hardware", "cannot read none.json"},
                  {"/hardware", "/", "/hardware", "is a directory"}});
}

}  // namespace
}  // namespace equarx::config::hardware_json_test
