#include "importers/hlo/import.hpp"

#include <fstream>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/support/errors.hpp"

namespace equarx::imports::hlo_test {
namespace {

const std::string kExample =
    std::string(EQUARX_CONFIGS_DIR) + "/programs/transformer_v5e_4x4.hlo.txt";

HloOptions options() {
  HloOptions made;
  made.topology = "4x4";
  return made;
}

ImportedProgram example(const HloOptions& with = options()) {
  return import_hlo(read_program(kExample), with);
}

void rejected(const HloOptions& with, const std::string& part) {
  CHECK_THAT(testing::message_of([&] { example(with); }), ContainsSubstring(part));
}

TEST_CASE("totals of the example follow from its shapes") {
  const ImportedProgram program = example();
  CHECK(program.name == "jit_forward");
  CHECK(program.devices == 16);
  // Per chip: tokens, width, and its share of FFN, query and key-value heads, vocabulary.
  constexpr double kT = 4096, kD = 4096, kF = 3584, kQ = 1024, kKv = 512, kLayers = 32,
                   kWords = 32064;
  constexpr double kAttention = 4.0 * 2 * 8 * 2048 * 2048 * 128 / 2;
  const double layer = 2 * kT * kD * (kQ + kKv) + kAttention + 2 * kT * kQ * kD +
                       2 * kT * kD * 2 * kF + 2 * kT * kF * kD;
  CHECK(program.totals.flops == kLayers * layer + 2 * kT * kD * kWords);
  const double gathered = 2 * (kD * kQ + kD * kKv + kQ * kD + kD * 2 * kF + kF * kD);
  CHECK(program.totals.collective_bytes == kLayers * (gathered + 2 * 2 * kT * kD));
  CHECK(program.notes.empty());
}

TEST_CASE("collectives are found with their groups and quantized") {
  const ImportedProgram program = example();
  REQUIRE(program.ops.size() == 4);
  const ImportedOp& gather = program.ops[0];
  CHECK(gather.group == "all-gather.attention-start");
  CHECK(gather.kind == "all-gather");
  CHECK(gather.chips == 4);
  CHECK(gather.axes == "axis0");
  CHECK(gather.times == 32.0);
  CHECK(gather.op_name == "jit(forward)/while/body/attention/all_gather_weights");
  for (const ImportedOp& op : program.ops) CHECK(op.quantized);
}

TEST_CASE("the step configuration matches its schema and round-trips") {
  HloOptions with = options();
  with.mesh = {{"data", 4}, {"model", 4}};
  with.formats = {"int8", "mxfp8-e4m3"};
  const ImportedProgram program = example(with);
  input::check_schema(program.step, "step");
  const config::StepConfig config = config::read_step_config(program.step);
  CHECK(config.graph.tasks.size() == 289);
  CHECK(config.variants.size() == 3);
  CHECK(config.mesh.axes[1].name == "model");
  const input::Json shown = to_json(config);
  CHECK(to_json(config::read_step_config(shown)) == shown);
  CHECK((*program.step)["step"]["computations"].size() == 6);
}

TEST_CASE("collectives that only move values are quantized as well") {
  const ImportedProgram program = import_hlo(
      "HloModule m, is_scheduled=true, num_partitions=16\nENTRY %main {\n"
      "  %x = bf16[1024,4096] parameter(0)\n"
      "  %a = bf16[1024,4096] all-to-all(%x), channel_id=1, replica_groups=[4,4]<=[16]\n"
      "  %b = bf16[1024,4096] collective-broadcast(%a), channel_id=2, replica_groups=[1,16]<=[16]\n"
      "  %c = bf16[16384,4096] all-gather(%b), channel_id=3, replica_groups=[1,16]<=[16], "
      "use_global_device_ids=true, dimensions={0}\n}\n",
      options());
  for (const imports::ImportedOp& op : program.ops) CHECK(op.quantized);
  CHECK(config::read_step_config(program.step).variants.size() == 2);
}

TEST_CASE("small collectives are not quantized") {
  HloOptions with = options();
  with.min_bytes = 64.0 * (1 << 20);
  const ImportedProgram program = example(with);
  const input::Json& rules = (*program.step)["variants"][1]["quantize"];
  REQUIRE(rules.size() == 1);
  CHECK(rules[0]["where"]["group"] == "all-gather.mlp-start");
  with.min_bytes = 1e12;
  CHECK((*example(with).step)["variants"].size() == 1);
}

TEST_CASE("machines are a slice, another kind, or an object") {
  HloOptions with = options();
  with.topology = "torus:4x4";
  CHECK((*example(with).step)["topology"] == input::Json{{"torus", "4x4"}});
  with.topology = R"({"mesh": "4x4"})";
  CHECK((*example(with).step)["topology"] == input::Json{{"mesh", "4x4"}});
}

TEST_CASE("options that do not fit are rejected by name") {
  HloOptions with = options();
  with.topology = "8x8";
  rejected(with,
           "--topology: the program is for 16 chips (replica_count 1 x num_partitions 16), but the "
           "machine has 64");
  with.topology = "";
  rejected(with, "--topology: give the machine");
  with.topology = "blob:3";
  rejected(with, "/topology");
  with = options();
  with.mesh = {{"data", 2}, {"model", 4}};
  rejected(with, "--mesh: mesh data=2, model=4 has 8 chips, but the machine has 16");
  with = options();
  with.device_order = "megatron";
  rejected(with, "--device-order: expected jax, machine, or the chip of each device");
  with.device_order = "0,1,2";
  rejected(with, "the order has 3 chips, but the machine has 16");
  with = options();
  with.hardware = "tpu-v9";
  rejected(with, "/hardware");
}

TEST_CASE("lengths and trip counts are parsed, and invalid ones rejected") {
  CHECK(read_lengths("--mesh", "data=2,model=8") ==
        std::vector<std::pair<std::string, std::uint32_t>>{{"data", 2}, {"model", 8}});
  CHECK(read_lengths("--mesh", "").empty());
  for (const char* bad : {"data", "data=", "=2", "data=0", "data=x", "data=2,,model=8", "a=2,a=2"})
    CHECK_THAT(testing::message_of([&] { read_lengths("--mesh", bad); }),
               ContainsSubstring("--mesh: "));
  const hlo::TripCounts counts = read_trip_counts("--trip-count", {"3", "while.5=7"});
  CHECK(counts.otherwise == 3);
  CHECK(counts.by_name.at("while.5") == 7);
  for (const char* bad : {"", "x", "while.5=", "-1", "while=99999999999"})
    CHECK_THAT(testing::message_of([&] { read_trip_counts("--trip-count", {bad}); }),
               ContainsSubstring("--trip-count: expected a trip count"));
}

/// A program of one all-reduce, for chips 0 to 7.
std::string all_reduce(const std::string& header) {
  return "HloModule m, is_scheduled=true" + header +
         "\n%add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, "
         "b)\n}\n"
         "ENTRY %main {\n  p = f32[4096] parameter(0)\n  ROOT r = f32[4096] all-reduce(p), "
         "channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%add\n}\n";
}

std::string refusal(const std::string& text, const std::string& topology,
                    std::optional<std::uint32_t> chips = std::nullopt) {
  HloOptions with = options();
  with.topology = topology;
  with.chips = chips;
  return testing::message_of([&] { import_hlo(text, with); });
}

TEST_CASE("programs without a chip count are for the chips that they name, or --chips") {
  HloOptions with = options();
  with.topology = "ring:8";
  CHECK(import_hlo(all_reduce(""), with).devices == 8);
  CHECK_THAT(refusal(all_reduce(""), "1x1"),
             ContainsSubstring("--topology: the program is for 8 chips") &&
                 ContainsSubstring("all-reduce 'r' (line 9) names chip 7") &&
                 ContainsSubstring("but the machine has 1"));
  CHECK_THAT(refusal(all_reduce(""), "ring:4", 4), ContainsSubstring("at least 8 chips, not 4"));
  CHECK_THAT(refusal(all_reduce(", num_partitions=8"), "ring:8", 4),
             ContainsSubstring("leave --chips out"));
  CHECK(read_chips("") == std::nullopt);
  CHECK(read_chips("16") == 16);
  for (const char* bad : {"0", "x", "-1", "99999999999"})
    CHECK_THAT(testing::message_of([&] { read_chips(bad); }),
               ContainsSubstring("--chips: expected a number of chips"));
}

TEST_CASE("work of custom-calls is parsed, and invalid values are rejected") {
  const hlo::CustomCalls calls = read_custom_calls({"a=1.5e12", "b=c=3:2e9"});
  CHECK(calls.at("a").flops == 1.5e12);
  CHECK_FALSE(calls.at("a").bytes);
  CHECK(calls.at("b=c").flops == 3.0);
  CHECK(calls.at("b=c").bytes == 2e9);
  for (const char* bad :
       {"", "a", "a=", "=3", "a=x", "a=-1", "a=3:", "a=3:x", "a=inf", "a=nan", "a=1e99"})
    CHECK_THAT(testing::message_of([&] { read_custom_calls({bad}); }),
               ContainsSubstring("--custom-call: expected FLOPs of one call, like NAME=1.5e12"));
  HloOptions with = options();
  with.topology = "ring:8";
  with.calls = {{"gone", {}}};
  CHECK_THAT(testing::message_of([&] { import_hlo(all_reduce(""), with); }),
             ContainsSubstring("--custom-call: the program has no custom-calls"));
}

TEST_CASE("a program without anything to simulate says why") {
  CHECK_THAT(
      refusal(all_reduce(", num_partitions=1"), "1x1"),
      ContainsSubstring("all-reduce 'r' (line 9) is skipped, its replica_groups name chip 7, "
                        "but the program is for 1 chip"));
  CHECK_THAT(refusal("HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n}\n", "1x1"),
             ContainsSubstring("nothing to simulate: its ENTRY does no work"));
}

TEST_CASE("text before partitioning is not imported") {
  CHECK_THAT(
      refusal("HloModule m, num_partitions=4\nENTRY e {\n  p = f32[8] parameter(0)\n  s = f32[8] "
              "custom-call(p), custom_call_target=\"Sharding\"\n}\n",
              "ring:4"),
      ContainsSubstring("before XLA divided the program among 4 chips"));
}

TEST_CASE("binary and missing files are rejected") {
  const auto path = std::filesystem::temp_directory_path() / "equarx_hlo_test.bin";
  std::ofstream(path, std::ios::binary) << std::string("HloModule\0", 10);
  CHECK_THAT(testing::message_of([&] { import_hlo(read_program(path.string()), options()); }),
             ContainsSubstring("is not a text file"));
  std::filesystem::remove(path);
  CHECK_THAT(testing::message_of([&] { read_program(path.string()); }),
             ContainsSubstring("cannot read"));
}

TEST_CASE("a truncated program is rejected with a one-line message") {
  const std::string text = read_program(kExample);
  for (std::size_t length = 0; length < text.size(); length += 97) {
    try {
      import_hlo(text.substr(0, length), options());
      FAIL("half a program was accepted");
    } catch (const input::UserError& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace equarx::imports::hlo_test
