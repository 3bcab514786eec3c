#include "experiments/hardware_json.hpp"

#include "experiments/embedded.hpp"
#include "experiments/schema.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/configs.hpp"
#include "tests/experiments/errors.hpp"

namespace equarx::experiments {
namespace {

using testing::check_refused;
using testing::TemporaryFile;
using testing::tpu_v5e;

/// TPU v5e with the value at `pointer` changed.
Json changed_chip(const std::string& pointer, const std::string& text) {
  Json json = tpu_v5e();
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
  CHECK(chip.hop_latency.provenance == hardware::Provenance::calibrated);
  CHECK(chip.wraparound_length == 16);
  CHECK(chip.slices.size() == 8);
}

TEST_CASE("every parameter of every built-in chip says where it comes from") {
  for (const EmbeddedFile& file : embedded_hardware()) {
    const hardware::Chip chip = load_chip(std::string(file.name), "/hardware");
    CHECK(chip.name == file.name);
    for (const hardware::ParameterInfo& info : hardware::parameters()) {
      CAPTURE(file.name, info.key);
      CHECK((chip.*info.member).source.size() > 10);
    }
  }
}

TEST_CASE("parameters are reported as they were read") {
  const Json json = parameters_json(load_chip("tpu-v5e", "/hardware"));
  CHECK(json.size() == hardware::parameters().size());
  CHECK(json["link_bandwidth"]["value"] == "45 GB/s");
  CHECK(json["hbm_capacity"]["value"] == "16 GB");
  CHECK(json["link_efficiency"]["value"].is_number());
  CHECK(json["hop_latency"]["class"] == "calibrated");
  Json again = tpu_v5e();
  again["parameters"] = json;
  CHECK(parameters_json(read_chip(again)) == json);
}

TEST_CASE("a chip is read from a path") {
  Json json = tpu_v5e();
  json["name"] = "mine";
  const TemporaryFile file(json.dump());
  CHECK(load_chip(file.path(), "/hardware").name == "mine");
}

TEST_CASE("what is wrong in a hardware file is placed in the configuration and in the file") {
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

TEST_CASE("mistakes in a hardware file are refused, those of structure by the schema, too") {
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
      {p + "link_efficiency/value", "0", p + "link_efficiency/value", "above 0 and up to 1", true},
      {p + "link_efficiency/value", "1.01", p + "link_efficiency/value", "up to 1", true},
      {p + "link_efficiency/value", "97 %", p + "link_efficiency/value", "up to 1", true},
      {p + "dma_queue/value", "0", p + "dma_queue/value", "is not an integer from 1", true},
      {p + "dma_queue/value", "1.5", p + "dma_queue/value", "is not an integer from 1", true},
      {p + "dma_queue/value", "16 B", p + "dma_queue/value", "expected an integer", true},
      {"/slices", "4x4", "/slices", "expected an array", true},
      {"/slices", "[4]", "/slices/0", "such as \"4x4\"", true},
      {"/slices", "[\"4x4\", \"4y4\"]", "/slices/1", "such as \"4x2\"", true},
      {"/slices", "[\"0x4\"]", "/slices/0", "positive whole numbers", true},
      {"/wraparound_length", "-1", "/wraparound_length", "from 0 to", true},
      {"/wraparound_length", "4294967296", "/wraparound_length", "from 0 to 4294967295", true}};
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    const Json json = changed_chip(mistake.pointer, mistake.value);
    check_refused([&] { read_chip(json); }, mistake.place, mistake.remedy);
    if (mistake.structural) CHECK_THROWS_AS(check_schema(json, "hardware"), InputError);
  }
}

TEST_CASE("nothing of a hardware file may be left out") {
  for (const std::string key :
       {"name", "description", "parameters", "slices", "wraparound_length"}) {
    Json json = tpu_v5e();
    json.erase(key);
    check_refused([&] { read_chip(json); }, "/" + key, "is missing");
    CHECK_THROWS_AS(check_schema(json, "hardware"), InputError);
  }
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    const std::string key(info.key);
    Json json = tpu_v5e();
    json["parameters"].erase(key);
    check_refused([&] { read_chip(json); }, "/parameters/" + key, "is missing");
    CHECK_THROWS_AS(check_schema(json, "hardware"), InputError);
    for (const std::string part : {"value", "class", "source"}) {
      Json without = tpu_v5e();
      without["parameters"][key].erase(part);
      check_refused([&] { read_chip(without); }, "/parameters/" + key + "/" + part, "is missing");
      CHECK_THROWS_AS(check_schema(without, "hardware"), InputError);
    }
  }
}

TEST_CASE("times may be zero") {
  for (const std::string key : {"hop_latency", "instruction_overhead", "dma_overhead"})
    CHECK_NOTHROW(read_chip(changed_chip("/parameters/" + key + "/value", "0 s")));
}

}  // namespace
}  // namespace equarx::experiments
