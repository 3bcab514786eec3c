#include "experiments/config/workload_json.hpp"

#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::config::workload_json_test {
namespace {

using testing::changed;
using testing::check_refused;
using testing::step_plan_of;
using testing::TemporaryFile;
using testing::tiny_model;
using testing::workload_config;

TEST_CASE("a workload is read with its defaults") {
  const StepConfig config = read_step_config(workload_config("gemma3-12b", 4096));
  REQUIRE(config.workload.has_value());
  const WorkloadConfig& workload = *config.workload;
  CHECK(workload.model.layers == 48);
  CHECK(workload.chunks == 1);
  CHECK_FALSE(workload.attention.fused);
  CHECK(phase_name(workload.phase) == "prefill");
  CHECK(workloads::extent(workload.phase).rows() == 4096);
  CHECK(config.compared->tensor.shape == std::vector<std::uint64_t>{4096, 3840});
  CHECK(config.compared->tensor.dtype == numerics::ElementFormat::bf16);
}

TEST_CASE("the tensor is what one AllReduce of the workload sums") {
  input::Json json = workload_config("gemma3-12b", 100);
  json["workload"]["batch"] = 3;
  CHECK(read_step_config(json).compared->tensor.elements == 300 * 3840);
  json["workload"]["chunks"] = 7;
  CHECK(chunk_rows(*read_step_config(json).workload) == 43);  // the largest of 300 / 7
  CHECK(read_step_config(json).compared->tensor.elements == 43 * 3840);
  json["workload"] = {{"model", "gemma3-12b"}, {"phase", "decode"}, {"context", 500}, {"batch", 5}};
  CHECK(read_step_config(json).compared->tensor.elements == 5 * 3840);
}

TEST_CASE("a large tensor is sampled unless the configuration sets another share") {
  CHECK(read_step_config(workload_config("gemma3-12b", 64)).compared->tensor.sample == 1.0);
  const double sample =
      read_step_config(workload_config("gemma3-12b", 4096)).compared->tensor.sample;
  CHECK(sample > 0.0);
  CHECK(sample < 0.1);
  input::Json json = workload_config("gemma3-12b", 4096);
  json["tensor"] = {{"sample", 0.5}, {"values", {{"distribution", "heavy-tailed"}}}};
  CHECK(read_step_config(json).compared->tensor.sample == 0.5);
  CHECK(read_step_config(json).compared->tensor.values.distribution ==
        numerics::Distribution::heavy_tailed);
}

TEST_CASE("a workload survives a round trip") {
  input::Json decode = workload_config("llama3-8b");
  decode["workload"] = {
      {"model", "llama3-8b"}, {"phase", "decode"}, {"context", 500}, {"batch", 5}};
  input::Json fused = workload_config("gemma3-12b");
  fused["workload"]["attention"] = {{"method", "fused"}, {"skips_outside_window", true}};
  input::Json chunks = workload_config("gemma3-12b", 4096);
  chunks["workload"]["chunks"] = 4;
  input::Json resident = workload_config("gemma3-12b", 4096);
  resident["workload"]["residual"] = "vmem";
  input::Json few_bits = workload_config("gemma3-12b", 4096);
  few_bits["workload"]["precision"] = "weight-only-int4";
  input::Json own = few_bits;
  own["workload"]["precision"] = {{"weights", {{"elements", {{"integer", 4}}}}}, {"unit", "fp16"}};
  for (const input::Json& json :
       {workload_config("gemma3-12b", 4096), decode, fused, chunks, resident, few_bits, own}) {
    CHECK_NOTHROW(input::check_schema(json, "experiment"));
    const input::Json shown = to_json(step_plan_of(json).config);
    CHECK(shown.contains("workload"));
    CHECK_NOTHROW(input::check_schema(shown, "experiment"));
    CHECK(to_json(step_plan_of(shown).config) == shown);
  }
}

TEST_CASE("a scheme of a file is written as an object") {
  const input::Json scheme = {{"weights", "nf4"}, {"unit", "fp16"}};
  const TemporaryFile file(scheme.dump());
  input::Json json = workload_config("gemma3-12b", 4096);
  json["workload"]["precision"] = file.path();
  const input::Json written = to_json(read_step_config(json))["workload"]["precision"];
  CHECK(written["unit"] == "fp16");
  CHECK(written["weights"].contains("elements"));
  json["workload"]["precision"] = scheme;
  CHECK(to_json(read_step_config(json))["workload"]["precision"] == written);
  json["workload"]["precision"] = "zeroquant";
  CHECK(to_json(read_step_config(json))["workload"]["precision"] == "zeroquant");
}

TEST_CASE("a KV cache has the exact bytes of its format") {
  const auto bytes = [](const input::Json& kv) {
    input::Json json = workload_config("llama3-8b", 100);
    json["workload"]["kv"] = kv;
    const StepConfig config = read_step_config(json);
    CHECK(read_step_config(to_json(config)).workload->kv == config.workload->kv);
    return config.workload->attention.kv_bytes;
  };
  CHECK(bytes("e4m3-row") == 1.0 + 4.0 / 256);  // 8 heads of 128 on 4 chips: rows of 256
  CHECK(bytes("int4-row128") == 0.5 + 2.0 / 128);
  const input::Json by_channel = {
      {"elements", {{"integer", 2}}},
      {"groups", {{"along", "column"}, {"length", 32}}},
      {"scale", {{"rule", "min-max"}, {"type", "fp16"}, {"zero_point", "float"}}}};
  CHECK(bytes(by_channel) == 0.25 + 4.0 / 32);
  input::Json json = workload_config("llama3-8b", 100);
  json["workload"]["kv"] = {{"elements", {{"integer", 2}}},
                            {"groups", {{"along", "row"}, {"length", 96}}}};
  check_refused([&] { read_step_config(json); }, "/workload/kv", "give a divisor");
  json["workload"]["kv"] = "nf5";
  check_refused([&] { read_step_config(json); }, "/workload/kv", "or the path of a format file");
}

TEST_CASE("a preset gives the defaults of attention and of the residual") {
  input::Json json = workload_config("gemma3-12b", 4096);
  json["workload"]["preset"] = "xla-unfused";
  const WorkloadConfig preset = *read_step_config(json).workload;
  CHECK_FALSE(preset.attention.fused);
  CHECK(preset.attention.score_passes == 7.25);
  CHECK(preset.attention.score_bytes == 2.0);
  CHECK(preset.residual == workloads::ResidualPlace::vmem);
  const input::Json written = to_json(read_step_config(json))["workload"];
  CHECK_FALSE(written.contains("preset"));
  CHECK(written["attention"]["score_passes"] == 7.25);
  CHECK(written["residual"] == "vmem");
  json["workload"]["attention"] = {{"score_passes", 5}};
  json["workload"]["residual"] = "hbm";
  const WorkloadConfig own = *read_step_config(json).workload;
  CHECK(own.attention.score_passes == 5.0);
  CHECK(own.residual == workloads::ResidualPlace::hbm);
  json["workload"]["attention"] = {{"method", "fused"}};
  CHECK(read_step_config(json).workload->attention.fused);
  CHECK_NOTHROW(input::check_schema(json, "experiment"));
}

/// A change to a valid configuration, and the expected message.
struct Mistake {
  std::string pointer;
  std::string value;
  std::string place;
  std::string remedy;
};

TEST_CASE("invalid workloads are refused with their pointer and a remedy") {
  const std::vector<Mistake> mistakes = {
      {"/workload/tokens", "0", "/workload/tokens", "0 is not an integer from 1"},
      {"/workload/tokens", "-4", "/workload/tokens", "-4 is not an integer from 1"},
      {"/workload/tokens", "131073", "/workload/tokens", "gemma3-12b takes 1 to 131072"},
      {"/workload/batch", "0", "/workload/batch", "0 is not an integer from 1"},
      {"/workload/context", "7", "/workload/context", "a prefill has \"tokens\""},
      {"/workload/phase", "train", "/workload/phase", "one of prefill, decode"},
      {"/workload/phase", "decode", "/workload/tokens", "decoding has a \"context\""},
      {"/workload/model", "gemma3-12c", "/workload/model", "did you mean 'gemma3-12b'?"},
      {"/workload/model", "gpt", "/workload/model", "llama3-70b"},
      {"/workload/model", "none.json", "/workload/model", "cannot read none.json"},
      {"/workload/model", "7", "/workload/model", "the name of a model"},
      {"/workload/preset", "unfused", "/workload/preset", "one of xla-unfused"},
      {"/timed_as", "program", "/timed_as", "a workload's are steps; remove it"},
      {"/workload/residual", "cache", "/workload/residual", "one of hbm, vmem"},
      {"/workload/chunks", "0", "/workload/chunks", "0 is not an integer from 1"},
      {"/workload/chunk", "2", "/workload/chunk", "did you mean 'chunks'?"},
      {"/workload/precision", "zeroquand", "/workload/precision", "did you mean 'zeroquant'?"},
      {"/workload/precision", "fp8", "/workload/precision", "add \"matrix_rate_fp8\""},
      {"/workload/precision", "abq-w2a8", "/workload/precision",
       "on tpu-v5e is unspecified; add \"matrix_rate_int1\""},
      {"/workload/precision", "deepgemm-w2a2", "/workload/precision", "add \"matrix_rate_table\""},
      {"/workload/precision", "none.json", "/workload/precision", "cannot read none.json"},
      {"/workload/precision", "7", "/workload/precision", "the name of a scheme"},
      {"/workload/precision", R"({"units": "bf16"})", "/workload/precision",
       "did you mean 'unit'?"},
      {"/workload/precision",
       R"({"weights": {"elements": {"integer": 4}, "groups": {"along": "row", "length": 7}}})",
       "/workload/precision", "qkv: groups of 7 do not divide rows of 3840"},
      {"/workload/attention", "fused", "/workload/attention", "expected an object"},
      {"/workload/attention", R"({"methods": "fused"})", "/workload/attention/methods",
       "did you mean 'method'?"},
      {"/workload/attention", R"({"method": "fused", "score_bytes": 4})",
       "/workload/attention/score_bytes", "fused scores stay in VMEM"},
      {"/workload/attention", R"({"score_passes": 1.5})", "/workload/attention/score_passes",
       "at least 2 times"},
      {"/workload/attention", R"({"score_bytes": -1})", "/workload/attention/score_bytes",
       "above 0"},
      {"/workload/attention", R"({"skips_future": 1})", "/workload/attention/skips_future", "true"},
      {"/workload", "7", "/workload", "expected an object, found a number"},
      {"/topology/ring", "7", "/workload/model", "16 heads of gemma3-12b cannot be divided over 7"},
      {"/mesh", R"({"expert": 8})", "/mesh", "move it into \"step\""},
      {"/topology/ring", "32", "/workload/model", "tensor parallelism takes 1, 2, 4, 8, 16"},
      {"/memory", "panic", "/memory", "use one of warn, refuse, ignore"},
      {"/collective", "all-gather", "/collective", "AllReduces; remove this key"},
      {"/tensor", R"({"bytes": "8 MiB"})", "/tensor",
       "its size comes from the workload (256 x 3840)"},
      {"/tensor", R"({"shape": [4, 4]})", "/tensor", "its size comes from the workload"},
      {"/tensor", R"({"shapes": [4, 4]})", "/tensor/shapes", "did you mean 'shape'?"},
      {"/tensor", "7", "/tensor", "expected an object, found a number"}};
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    check_refused(
        [&] {
          step_plan_of(changed(workload_config("gemma3-12b"), mistake.pointer, mistake.value));
        },
        mistake.place, mistake.remedy);
  }
}

TEST_CASE("a workload needs its model, its phase and its size") {
  for (const std::string key : {"model", "phase", "tokens"}) {
    input::Json json = workload_config("gemma3-12b");
    json["workload"].erase(key);
    check_refused([&] { step_plan_of(json); }, "/workload/" + key, "is missing");
  }
  input::Json json = workload_config("gemma3-12b");
  json["workload"] = {{"model", "gemma3-12b"}, {"phase", "decode"}};
  check_refused([&] { step_plan_of(json); }, "/workload/context", "is missing");
}

TEST_CASE("a model that does not fit can be refused, with the missing bytes") {
  input::Json json = workload_config("gemma3-27b");
  json["memory"] = "refuse";
  json["topology"] = {{"slice", "1x1"}};
  check_refused([&] { step_plan_of(json); }, "/workload/model", "GiB more than its 14.90 GiB");
  // The model fits, but too many sequences do not.
  json["topology"] = {{"slice", "4x4"}};
  json["workload"] = {{"model", "gemma3-27b"}, {"phase", "decode"}, {"context", 4096}};
  CHECK_NOTHROW(step_plan_of(json));
  json["workload"]["batch"] = 1000;
  check_refused([&] { step_plan_of(json); }, "/workload/model", "smaller batch");
}

TEST_CASE("more chunks than positions are refused") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path(), 8);
  json["workload"]["chunks"] = 9;
  check_refused([&] { step_plan_of(json); }, "/workload/chunks", "more than the 8 positions");
  json["workload"]["chunks"] = 8;
  CHECK_NOTHROW(step_plan_of(json));
}

TEST_CASE("a malformed model file is refused with its name and the location") {
  input::Json no_layers = tiny_model();
  no_layers["layers"] = 0;
  input::Json misspelt = tiny_model();
  misspelt["layer"] = 7;
  const std::vector<std::pair<std::string, std::string>> contents = {
      {"{\"name\": ", "not valid JSON at line 1"},
      {"[]", "expected an object"},
      {no_layers.dump(), "/layers: 0 is not an integer from 1"},
      {misspelt.dump(), "did you mean 'layers'?"}};
  for (const auto& [content, problem] : contents) {
    const TemporaryFile file(content);
    check_refused([&] { step_plan_of(workload_config(file.path())); }, "/workload/model", problem);
    check_refused([&] { step_plan_of(workload_config(file.path())); }, "/workload/model",
                  file.path());
  }
}

}  // namespace
}  // namespace equarx::config::workload_json_test
