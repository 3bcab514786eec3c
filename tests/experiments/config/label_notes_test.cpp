#include "experiments/config/label_notes.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/input/errors.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::config::label_notes_test {
namespace {

/// Notes on a candidate of this label, algorithm and format (absent if empty).
std::vector<std::string> notes(const std::string& label, const std::string& algorithm,
                               const std::string& format, const std::string& dtype = "bf16") {
  input::Json json = testing::good_config();
  json["tensor"]["dtype"] = dtype;
  json["collectives"] = {{{"label", label}, {"algorithm", algorithm}}};
  if (!format.empty()) json["collectives"][0]["format"] = format;
  json.erase("baseline");
  return label_notes(read_config(json).collectives, read_config(json).tensor.dtype);
}

TEST_CASE("a label that names another format than runs is noted, with the remedy") {
  CHECK(notes("bf16", "ring", "", "fp32") ==
        std::vector<std::string>{
            "candidate 'bf16' runs in fp32, the type of the tensor, not in bf16: set \"format\": "
            "\"bf16\" in it, or \"dtype\": \"bf16\" in \"tensor\", or rename it"});
  CHECK(notes("equarx int8", "equarx", "int4") ==
        std::vector<std::string>{"candidate 'equarx int8' runs in int4, not in int8: set "
                                 "\"format\": \"int8\" in it, or rename it"});
  for (const std::string label : {"BF16", "ring-bf16", "ring (bfloat16)", "bf16_ring", "fp32/bf16"})
    CHECK(notes(label, "ring", "", "fp32").size() == 1);
}

TEST_CASE("labels that name their formats, or none, are not noted") {
  CHECK(notes("bf16", "ring", "").empty());
  CHECK(notes("bf16", "ring", "bf16", "fp32").empty());
  CHECK(notes("bf16 of fp32", "ring", "bf16", "fp32").empty());
  CHECK(notes("int8", "ring", "int8-cast").empty());
  CHECK(notes("int8-cast", "ring", "int8-cast").empty());
  CHECK(notes("fp8-e4m3 in blocks", "equarx", "mxfp8-e4m3").empty());
  CHECK(notes("float8_e4m3fn", "equarx", "fp8-e4m3").empty());
  CHECK(notes("full-loop both", "equarx", "int8").empty());
  CHECK(notes("bf16x", "ring", "", "fp32").empty());
  CHECK(notes("half of it", "ring", "").empty());
}

TEST_CASE("no configuration of the repository has such a label") {
  std::size_t read = 0;
  const std::filesystem::path root = EQUARX_SOURCE_DIR;
  for (const char* folder : {"configs", "experiments"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream stream(entry.path());
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      input::Json json = input::Json::parse(text, nullptr, false);
      if (json.is_object() && json.contains("base") && json["base"].is_object())
        json = json["base"];  // a sweep
      if (!json.is_object() || !json.contains("collectives") || json.contains("workload")) continue;
      CAPTURE(entry.path());
      try {
        const ExperimentConfig config = read_config(json);
        CHECK(label_notes(config.collectives, config.tensor.dtype).empty());
        ++read;
      } catch (const input::InputError&) {
        // Needs files that are downloaded, or an axis of its sweep.
      }
    }
  CHECK(read > 20);
}

}  // namespace
}  // namespace equarx::config::label_notes_test
