#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::import_test {
namespace {

const std::string kProgram =
    std::string(EQUARX_CONFIGS_DIR) + "/programs/transformer_v5e_4x4.hlo.txt";

const std::string kSchedule =
    std::string(EQUARX_CONFIGS_DIR) + "/schedules/allreduce_allpairs_4.xml";

std::string input_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> import(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"import", "hlo", kProgram, "--topology", "4x4"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("import prints a table and writes a step that run accepts") {
  const TemporaryDirectory directory;
  const std::string step = (directory.path() / "step.json").string();
  const std::string table = output_of(equarx_sim(import({"-o", step})));
  CHECK_THAT(table, ContainsSubstring("all-reduce.mlp") &&
                        ContainsSubstring("isolated   exposed  isolated   exposed\n"));
  const std::string run = output_of(equarx_sim({"run", step}));
  // The table of variants has the same times.
  const std::size_t begin = table.find("  variant");
  CHECK(run.find(table.substr(begin, table.find("\n\n", begin) - begin)) != std::string::npos);
}

TEST_CASE("import -o - prints only the step") {
  const auto step = nlohmann::json::parse(output_of(equarx_sim(import({"-o", "-"}))));
  CHECK(step["step"]["tasks"].size() == 289);
  CHECK(step["hardware"] == "tpu-v5e");
}

TEST_CASE("import writes chips and slices with their names in configurations") {
  CHECK(output_of(equarx_sim({"import", "hlo", kProgram, "--hardware", "TPU v5 lite", "--topology",
                              "v5litepod-16", "-o", "-"})) ==
        output_of(equarx_sim(import({"-o", "-"}))));
}

TEST_CASE("import --only-read does not simulate, and --json prints JSON") {
  CHECK_THAT(output_of(equarx_sim(import({"--only-read"}))),
             ContainsSubstring("123 instructions") && !ContainsSubstring("variant"));
  const auto json =
      nlohmann::json::parse(output_of(equarx_sim(import({"--json", "--formats", "int8,int4"}))));
  CHECK(json["variants"].size() == 3);
  CHECK(json["collectives"].size() == 4);
}

TEST_CASE("import --audit lists findings with place and remedy, also as JSON") {
  const TemporaryDirectory directory;
  const std::string program = (directory.path() / "wide.hlo").string();
  std::ofstream(program)
      << "HloModule wide, is_scheduled=true, num_partitions=16\nENTRY %main {\n"
         "  %p = bf16[65536] parameter(0)\n  %c = f32[65536] convert(%p)\n"
         "  %g = f32[1048576] all-gather(%c), channel_id=1, replica_groups=[1,16]<=[16], "
         "use_global_device_ids=true, dimensions={0}, "
         "metadata={op_name=\"jit(f)/gather\" source_file=\"f.py\" source_line=3}\n"
         "  ROOT %n = f32[1048576] negate(%g)\n}\n";
  const std::vector<std::string> audit = {"import", "hlo", program, "--topology", "4x4", "--audit"};
  const std::string text = output_of(equarx_sim(audit));
  CHECK_THAT(text, ContainsSubstring("  variant") &&
                       ContainsSubstring("wide-type: a wider type on the wire") &&
                       ContainsSubstring("At:  jit(f)/gather (f.py:3)"));
  std::vector<std::string> json = audit;
  json.push_back("--json");
  CHECK(nlohmann::json::parse(output_of(equarx_sim(json)))["audit"]["findings"].size() == 2);
  CHECK_THAT(output_of(equarx_sim({"import", "hlo", program, "--topology", "4x4"})),
             !ContainsSubstring("Audit of"));
}

TEST_CASE("import --audit is rejected where it has no effect") {
  check_refusal(equarx_sim(import({"--audit", "-o", "-"})),
                "--audit: prints findings, but --output - prints");
  check_refusal(equarx_sim(import({"--audit", "--only-read"})), "--audit");
  check_refusal(equarx_sim({"import", "msccl", kSchedule, "--audit"}),
                "--audit: applies to import hlo only");
}

TEST_CASE("import removes control sequences of a program") {
  const TemporaryDirectory directory;
  const std::string program = (directory.path() / "odd.hlo").string();
  std::ofstream(program)
      << "HloModule m, num_partitions=16\nENTRY %main {\n  %p = f32[65536] parameter(0)\n"
         "  %r = f32[65536] all-gather(%p), channel_id=1, replica_groups=[1,16]<=[16], "
         "use_global_device_ids=true, metadata={op_name=\"a\x1b[2J\xff\"}\n"
         "  %c = f32[4] custom-call(%p), custom_call_target=\"x\x07\"\n}\n";
  const std::string table = output_of(equarx_sim({"import", "hlo", program, "--topology", "4x4"}));
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK(table.find('\x07') == std::string::npos);
  const auto json = nlohmann::json::parse(
      output_of(equarx_sim({"import", "hlo", program, "--topology", "4x4", "--json"})));
  CHECK(json["collectives"].size() == 1);
}

TEST_CASE("import msccl validates and simulates a schedule, also as JSON") {
  CHECK_THAT(output_of(equarx_sim({"import", "msccl", kSchedule, "--only-check"})),
             ContainsSubstring("every chunk of the result matches allreduce, in place; no races") &&
                 !ContainsSubstring("lower bound"));
  CHECK_THAT(
      output_of(equarx_sim({"import", "msccl", kSchedule, "--topology", "fully-connected:4"})),
      ContainsSubstring("busbw") && ContainsSubstring("1.000 MiB"));
  const auto json = nlohmann::json::parse(
      output_of(equarx_sim({"import", "msccl", kSchedule, "--topology", "fully-connected:4",
                            "--bytes", "4 MiB", "--json"})));
  CHECK(json["bytes"] == 4194304);
  // Two phases, a quarter per pair of ranks.
  CHECK(json["busiest_link"]["bytes"] == 2097152);
}

TEST_CASE("import msccl rejects invalid input in one line") {
  const TemporaryDirectory directory;
  const std::string wrong = (directory.path() / "wrong.xml").string();
  std::string text = input_text(kSchedule);
  const std::size_t at = text.find("type=\"re\"");
  text.replace(at, 9, "type=\"cpy\"");
  std::ofstream(wrong) << text;
  check_refusal(equarx_sim({"import", "msccl", wrong, "--only-check"}),
                "is not a correct allreduce, in place: rank 0, chunk 0");
  check_refusal(equarx_sim({"import", "msccl", kSchedule}),
                "--topology: give the machine that the schedule runs on");
  check_refusal(equarx_sim({"import", "msccl", kProgram, "--only-check"}), "not XML");
  check_refusal(equarx_sim({"import", "msccl", kSchedule, "--mesh", "a=2"}),
                "--mesh: applies to import hlo");
  check_refusal(equarx_sim({"import", "hlo", kProgram, "--topology", "4x4", "--bytes", "4 MiB"}),
                "--bytes: applies to import msccl");
  check_refusal(equarx_sim({"import", "hlo", kProgram}),
                "--topology: give the machine that the program runs on");
  for (const std::string bytes : {"0 B", "1.5 B", "-4 B", "1e300 B", "x", "nan B"})
    check_refusal(equarx_sim({"import", "msccl", kSchedule, "--topology", "fully-connected:4",
                              "--bytes", bytes}),
                  "--bytes: ");
  check_refusal(equarx_sim({"import", "msccl", kSchedule, "--topology", "fully-connected:4",
                            "--buffer", "1 B"}),
                "--buffer: ");
}

TEST_CASE("import rejects invalid input in one line and leaves no file") {
  const TemporaryDirectory directory;
  const std::string none = (directory.path() / "none.json").string();
  check_refusal(equarx_sim({"run", kProgram}), "'equarx-sim import hlo' converts it");
  check_refusal(equarx_sim({"import", "xml", kProgram, "--topology", "4x4"}),
                "unknown import format 'xml'");
  check_refusal(equarx_sim({"import", "hlo", "/nowhere", "--topology", "4x4", "-o", none}),
                "cannot read /nowhere");
  check_refusal(equarx_sim({"import", "hlo", kExample, "--topology", "4x4"}), "is not HLO text");
  check_refusal(equarx_sim({"import", "hlo", kProgram, "--topology", "8x8", "-o", none}),
                "--topology: the program is for 16 chips");
  check_refusal(equarx_sim(import({"--formats", "int9"})),
                "error: --formats: 'int9' is not known; did you mean 'int8'? (with scales: int8, ");
  check_refusal(equarx_sim(import({"--min-bytes", "4"})), "--min-bytes: ");
  check_refusal(equarx_sim(import({"--mesh", "data"})), "--mesh: expected axes");
  check_refusal(equarx_sim(import({"--trip-count", "x"})), "--trip-count: expected a trip count");
  check_refusal(equarx_sim(import({"--chips", "x"})), "--chips: expected a number of chips");
  check_refusal(equarx_sim(import({"--chips", "8"})),
                "--chips: the header of the program has replica_count 1 x num_partitions 16");
  check_refusal(equarx_sim(import({"--custom-call", "x"})), "--custom-call: expected FLOPs");
  check_refusal(
      equarx_sim(import({"--custom-call", "x=1"})),
      "--custom-call: the program has no custom-call 'x'; name a target (tpu_custom_call)");
  check_refusal(equarx_sim(import({"--only-read", "--json"})), "--only-read");
  check_refusal(equarx_sim(import({"-o", kProgram})), "transformer_v5e_4x4");
  CHECK_FALSE(std::filesystem::exists(none));
}

TEST_CASE("traces written by export chakra import to a step with the same time") {
  const TemporaryDirectory directory;
  const std::string prefix = (directory.path() / "buckets").string();
  const std::string buckets =
      std::string(EQUARX_CONFIGS_DIR) + "/experiments/buckets_v5e_16x16.json";
  CHECK_THAT(output_of(equarx_sim({"export", "chakra", buckets, "-o", prefix})),
             ContainsSubstring("buckets.255.et: 42 nodes each") &&
                 ContainsSubstring("Traces do not support formats"));
  const std::string table =
      output_of(equarx_sim({"import", "chakra", prefix, "--topology", "16x16"}));
  CHECK_THAT(table, ContainsSubstring("42 nodes in 256 traces, for 256 chips") &&
                        ContainsSubstring("46.67 ms"));
  const auto json = nlohmann::json::parse(output_of(
      equarx_sim({"import", "chakra", prefix + ".0.et", "--topology", "16x16", "--json"})));
  CHECK(json["module"]["nodes"] == 42);
  CHECK(json["module"]["traces"] == 1);
  CHECK(json["collectives"][0]["bytes"] == 134217728);
}

TEST_CASE("import kineto and xprof compare the collectives of profiles, also as JSON") {
  const std::string configs = std::string(EQUARX_CONFIGS_DIR) + "/profiles/";
  CHECK_THAT(output_of(equarx_sim({"import", "xprof", configs + "tensor_v5e_4x2.json", "--topology",
                                   "4x2", "--formats", "int8,int4", "--mesh", "a=2,b=4"})),
             ContainsSubstring("recorded on 2 of 8 chips") && ContainsSubstring("b (4)") &&
                 ContainsSubstring("int4"));
  const auto json = nlohmann::json::parse(
      output_of(equarx_sim({"import", "kineto", configs + "fsdp_tp_h100_8.json", "--topology",
                            "switch:8", "--min-bytes", "64 MiB", "--json"})));
  REQUIRE(json["collectives"].size() == 4);
  CHECK(json["collectives"][0]["quantized"] == true);
  CHECK(json["collectives"][2]["quantized"] == false);  // 32 MiB
  CHECK(json["collectives"][2]["formats"].empty());
}

TEST_CASE("import of profiles rejects invalid input in one line") {
  const TemporaryDirectory directory;
  const std::string profile = std::string(EQUARX_CONFIGS_DIR) + "/profiles/fsdp_tp_h100_8.json";
  const std::string cut = (directory.path() / "cut.json").string();
  std::ofstream(cut) << input_text(profile).substr(0, 5000);
  const auto import_kineto = [](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"import", "kineto", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return equarx_sim(arguments);
  };
  check_refusal(import_kineto(cut, {"--topology", "switch:8"}),
                "cut.json: is truncated after 5000");
  check_refusal(import_kineto(kProgram, {"--topology", "switch:8"}), "not valid JSON");
  check_refusal(import_kineto("/nowhere", {"--topology", "switch:8"}), "cannot read /nowhere");
  check_refusal(import_kineto(profile, {}), "--topology: give the machine");
  check_refusal(import_kineto(profile, {"--topology", "switch:4"}),
                "--topology: the profile is of a run on 8 chips, but the machine has 4");
  check_refusal(import_kineto(profile, {profile, "--topology", "switch:8"}), "is of rank 0");
  check_refusal(import_kineto(profile, {"--topology", "switch:8", "--only-read"}),
                "--only-read: applies to import hlo, chakra only");
  check_refusal(import_kineto(profile, {"--topology", "switch:8", "--formats", "int9"}),
                "--formats: 'int9' is not known");
  check_refusal(equarx_sim({"import", "xprof", profile, "--topology", "switch:8"}),
                "has no line \"XLA Ops\" of a device");
  check_refusal(equarx_sim({"import", "xprof", profile, profile, "--topology", "switch:8"}),
                "import xprof takes one file; remove '");
}

TEST_CASE("import and export of traces reject invalid input in one line") {
  const TemporaryDirectory directory;
  const std::string prefix = (directory.path() / "x").string();
  const std::string collective =
      std::string(EQUARX_CONFIGS_DIR) + "/experiments/allreduce_v5e_4x2.json";
  check_refusal(equarx_sim({"export", "chakra", collective, "-o", prefix}), "is not a step");
  check_refusal(equarx_sim({"export", "chakra", collective}), "--output: is required");
  check_refusal(equarx_sim({"export", "hlo", collective, "-o", prefix}),
                "unknown export format 'hlo'");
  check_refusal(equarx_sim({"import", "chakra", prefix, "--topology", "4x2"}),
                "x.0.et does not exist; give the prefix before .0.et");
  check_refusal(equarx_sim({"import", "chakra", kProgram, "--topology", "4x4"}), "does not exist");
  std::ofstream(prefix + ".0.et") << "HloModule m";
  check_refusal(equarx_sim({"import", "chakra", prefix, "--topology", "4x2"}), "x.0.et: ");
  check_refusal(equarx_sim({"import", "chakra", prefix, "--topology", "4x2", "--trip-count", "3"}),
                "--trip-count: applies to import hlo");
  check_refusal(equarx_sim({"import", "chakra", prefix, "--topology", "4x2", "--chips", "8"}),
                "--chips: applies to import hlo");
  check_refusal(equarx_sim({"import", "chakra", prefix, "--topology", "4x2", "--dtype", "int3"}),
                "--dtype: 'int3' is not known; use one of fp32, bf16");
  check_refusal(equarx_sim({"import", "hlo", kProgram, "--topology", "4x4", "--groups", "x"}),
                "--groups: applies to import chakra");
}

}  // namespace
}  // namespace equarx::testing::import_test
