#include "experiments/plan/checks.hpp"

#include <fstream>

#include "base/input/json.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::plan::checks_test {
namespace {

using testing::changed;
using testing::check_mistakes;
using testing::check_refused;
using testing::plan_of;
using testing::TemporaryFile;

/// The good configuration on a chip with enough HBM that other limits apply first.
input::Json on_large_memory(const TemporaryFile& file) {
  input::Json chip = testing::tpu_v5e();
  chip["parameters"]["hbm_capacity"]["value"] = "1000 PB";
  chip["parameters"]["vmem_capacity"]["value"] = "1000 PB";
  std::ofstream(file.path()) << chip.dump();
  return changed("/hardware", file.path());
}

TEST_CASE("a tensor and its result must fit into HBM, to the byte") {
  input::Json largest = changed("/tensor/bytes", "8 GB");
  largest["collectives"][1].erase("minishards");
  largest["numerics"] = "off";
  CHECK_NOTHROW(plan_of(largest));
  check_refused([] { plan_of(changed("/tensor/bytes", "8000000002 B")); }, "/tensor",
                "use a tensor of at most 7.451 GiB");
  check_refused([] { plan_of(changed("/tensor/shape", "[281474976710656]")); }, "/tensor",
                "tpu-v5e has 14.90 GiB of HBM");
}

TEST_CASE("a cast tensor must fit into HBM together with its casts") {
  input::Json json =
      changed("/tensor/bytes", "5333333332 B");  // 16 GB: 2 bytes and 1 byte, each twice
  json["collectives"][0]["cast_to"] = "fp8-e5m2";
  json["collectives"][0].erase("format");
  json["collectives"][1].erase("minishards");
  json["numerics"] = "off";
  CHECK_NOTHROW(plan_of(json));
  json["tensor"]["bytes"] = "5333333334 B";
  check_refused([&] { plan_of(json); }, "/tensor", "both as cast");
  check_refused([&] { plan_of(json); }, "/tensor", "use a tensor of at most 4.967 GiB");
}

TEST_CASE("a tensor whose values exceed the memory is refused with a remedy") {
  const TemporaryFile file("");
  input::Json json = on_large_memory(file);
  config::override_value(json, "/tensor/bytes", "100 TiB");
  config::override_value(json, "/collectives", R"([{"algorithm": "equarx", "minishards": 1}])");
  json.erase("baseline");
  check_refused([&] { plan_of(json); }, "/tensor", "use more minishards, a smaller tensor, or");
  check_refused([&] { plan_of(json); }, "/tensor", "\"numerics\": \"off\"");
  check_refused([&] { plan_of(json); }, "/tensor", "this computer has");
  json["numerics"] = "off";
  CHECK_NOTHROW(plan_of(json));
}

TEST_CASE("a program that exceeds the memory is refused before it is generated") {
  const TemporaryFile file("");
  input::Json json = on_large_memory(file);
  json["numerics"] = "off";
  config::override_value(json, "/tensor/bytes", "500 TiB");
  json["collectives"][1].erase("minishards");
  check_refused([&] { plan_of(json); }, "/collectives/1", "use fewer minishards or microshards");
  config::override_value(json, "/collectives/1/minishards", "1048576");
  config::override_value(json, "/collectives/1/microshards", "1048576");
  check_refused([&] { plan_of(json); }, "/collectives/1", "this computer has");
}

TEST_CASE("HBM that is slower than the links is simulated, or refused with the parameter") {
  input::Json chip = testing::tpu_v5e();
  chip["parameters"]["hbm_bandwidth"]["value"] = "100 GB/s";
  const TemporaryFile file(chip.dump());
  input::Json json = changed("/hardware", file.path());
  json.erase("wire_buffers");  // then the contention is simulated
  CHECK(plan_of(json).config.wire_buffers == collectives::WireBuffers::hbm);
  json["wire_buffers"] = "vmem";
  check_refused([&] { plan_of(json); }, "/hardware", "hbm_bandwidth");
}

TEST_CASE("minishards whose buffers exceed VMEM are refused with a sufficient number") {
  // 1 GiB of bf16 over 8 ranks: 64 Mi elements per shard x 12 B = 768 MiB, six times the 128 MiB
  // of v5e.
  input::Json json = changed("/tensor/bytes", "1 GiB");
  config::override_value(json, "/numerics", "off");
  config::override_value(json, "/collectives/1/minishards", "5");
  check_refused([&] { plan_of(json); }, "/collectives/1/minishards",
                "use at least 2 times as many");
  config::override_value(json, "/collectives/1/minishards", "6");
  CHECK_NOTHROW(plan_of(json));
  // With wire buffers in HBM only the sums remain: 8 B, 512 MiB.
  config::override_value(json, "/wire_buffers", "hbm");
  config::override_value(json, "/collectives/1/minishards", "4");
  CHECK_NOTHROW(plan_of(json));
  config::override_value(json, "/collectives/1/minishards", "3");
  check_refused([&] { plan_of(json); }, "/collectives/1/minishards", "VMEM");
}

TEST_CASE("more parts than elements are refused") {
  // 65536 elements: 4096 for each of 8 ranks in each of two directions.
  CHECK_NOTHROW(plan_of(changed("/collectives/1/minishards", "2048")));
  check_mistakes({{"/collectives/1/minishards", "2049", "/collectives/1", "use fewer"},
                  {"/collectives/1/minishards", "1048576", "/collectives/1", "4096 elements"},
                  {"/collectives/1/microshards", "1048576", "/collectives/1", "use fewer"},
                  {"/collectives/0/microshards", "4097", "/collectives/0", "use fewer"}});
}

TEST_CASE("a tensor smaller than its parts is refused, but a single element is not") {
  for (const std::string algorithm : {"ring", "equarx", "torus", "halving-doubling",
                                      "recursive-doubling", "one-shot", "two-shot", "auto"}) {
    input::Json json = changed("/tensor/shape", "[1]");
    json["collectives"] = {{{"algorithm", algorithm}}};
    json.erase("baseline");
    CAPTURE(algorithm);
    CHECK_NOTHROW(plan_of(json));
    json["collectives"][0]["minishards"] = 7;
    json["collectives"][0]["microshards"] = 5;
    check_refused([&] { plan_of(json); },
                  algorithm == "auto" ? "/collectives/0/algorithm" : "/collectives/0", "use fewer");
  }
}

TEST_CASE("links that together outpace HBM are refused if used at once") {
  input::Json json = changed("/topology/fully-connected", "16");
  json["collectives"] = {{{"algorithm", "ring"}}};
  json.erase("baseline");
  CHECK_NOTHROW(plan_of(json));
  json["collectives"][0]["algorithm"] = "two-shot";
  check_refused([&] { plan_of(json); }, "/hardware", "less than the");
  json["topology"] = {{"file", EQUARX_CONFIGS_DIR "/topologies/twisted_torus_4x8.json"}};
  CHECK_NOTHROW(plan_of(json));  // 31 peers, but over 4 links
}

}  // namespace
}  // namespace equarx::plan::checks_test
