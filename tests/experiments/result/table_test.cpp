#include "experiments/result/table.hpp"

#include <sstream>

#include "experiments/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::result::table_test {
namespace {

using testing::changed;
using testing::good_config;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("the table says what was run, and has a row for each collective") {
  const std::string table = to_table(testing::run(good_config()));
  const auto lines = lines_of(table);
  CHECK(lines[0] == "AllReduce of 64 x 1024 bf16 (128.0 KiB) on each of 8 x tpu-v5e, slice 4x2");
  CHECK_THAT(lines[2], ContainsSubstring("collective") && ContainsSubstring("time") &&
                           ContainsSubstring("speedup") && ContainsSubstring("MSE vs baseline"));
  CHECK_THAT(lines[3], ContainsSubstring("bf16") && ContainsSubstring("1.000x") &&
                           ContainsSubstring("us") && ContainsSubstring("identical"));
  CHECK_THAT(lines[4], ContainsSubstring("int8") && ContainsSubstring("dB"));
  CHECK(lines[3].size() == lines[2].size());
  CHECK(lines[4].size() == lines[2].size());
}

TEST_CASE("a table without numerics has no columns of errors") {
  const std::string table = to_table(testing::run(changed("/numerics", "off")));
  CHECK_THAT(table, !ContainsSubstring("MSE") && ContainsSubstring("lower bound"));
}

TEST_CASE("the table says how busy links are, shortly where all are alike") {
  input::Json json = changed("/simulation", "full");
  json["topology"] = {{"slice", "4x4"}};
  json["numerics"] = "off";
  json["collectives"] = {{{"algorithm", "torus"}}, {{"algorithm", "two-shot"}}};
  json.erase("baseline");
  const std::string table = to_table(testing::run(json));
  CHECK_THAT(table, Catch::Matchers::Matches("[^]*\n    torus bf16 {5}[0-9]+ %, all alike\n[^]*"));
  CHECK_THAT(table, Catch::Matchers::Matches("[^]*\n    two-shot bf16 {2}[0-9]+ %: "
                                             "\\(0,1\\)->\\(0,2\\), \\(0,2\\)->\\(0,1\\) and "
                                             "14 more of 48; idlest [0-9]+ %\n[^]*"));
}

TEST_CASE(
    "the table says where full queues keep cores waiting while links are idle, and only there") {
  input::Json json = changed("/numerics", "off");
  json["hardware"] = "tpu-v5p";
  json["topology"] = {{"fully-connected", 12}};
  json["tensor"] = {{"bytes", "16 MiB"}};
  const input::Json cut = {
      {"algorithm", "two-shot"}, {"format", "int8"}, {"minishards", 1}, {"microshards", 16}};
  json["collectives"] = {{{"algorithm", "two-shot"}, {"format", "int8"}}, cut};
  json["collectives"][1]["label"] = "cut";
  json.erase("baseline");
  CHECK_THAT(to_table(testing::run(json)),
             Catch::Matchers::Matches("[^]*\n  Cores wait to send[^\n]*: cut [1-9][0-9] %[^]*"));
  // Links of a ring are always busy, so its queues are full for that reason.
  json["hardware"] = {{"based_on", "tpu-v5p"}, {"dma_queue", 1}};
  json["collectives"] = {{{"algorithm", "ring"}}};
  const run::ExperimentResult ring = testing::run(json);
  CHECK(ring.runs[0].core.waits.queue_s > 0.5 * ring.runs[0].time_s);
  CHECK_THAT(to_table(ring), !ContainsSubstring("Cores wait"));
  // Of a workload, links are idle while chips compute; that is no stall.
  const std::string gemma = EQUARX_CONFIGS_DIR "/experiments/gemma3_27b_prefill_v5e_4x4.json";
  input::Json prefill = input::parse_json(input::read_file(gemma));
  prefill["numerics"] = "off";
  const run::ExperimentResult phase = testing::run(prefill);
  CHECK(phase.runs[1].core.waits.queue_s > 0.1 * phase.runs[1].time_s);
  CHECK_THAT(to_table(phase), !ContainsSubstring("Cores wait"));
}

TEST_CASE("the table says where scales take more of the links than elements") {
  input::Json json = changed("/numerics", "off");
  json["tensor"] = {{"bytes", "64 KiB"}};
  json["topology"] = {{"slice", "4x4"}};
  json["collectives"][1]["minishards"] = 8;
  CHECK_THAT(to_table(testing::run(json)),
             ContainsSubstring("\n  Elements per scale: int8 1; the tensor is too small"));
  json["tensor"] = {{"bytes", "64 MiB"}};
  CHECK_THAT(to_table(testing::run(json)), !ContainsSubstring("Elements per scale"));
}

TEST_CASE("the table has no busy links of a run that failed, but what a ring can do about it") {
  input::Json json = good_config();
  json["numerics"] = "off";
  json["faults"] = {{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "0 s"}}}}};
  json["collectives"][1] = {{"label", "any"}, {"algorithm", "auto"}};
  const std::string table = to_table(testing::run(json));
  CHECK_THAT(table, ContainsSubstring("bf16 fails at") && ContainsSubstring("/topology/avoid") &&
                        ContainsSubstring("although it fails as all others do") &&
                        !ContainsSubstring("Busiest link directions"));
}

TEST_CASE("the table names each kind of machine, and the size in bytes where that was given") {
  const auto first_line = [](const std::string& pointer, const std::string& value) {
    input::Json json = changed(pointer, value);
    json["numerics"] = "off";
    return lines_of(to_table(testing::run(json)))[0];
  };
  CHECK_THAT(first_line("/topology/mesh", "4x2"), ContainsSubstring("mesh 4x2"));
  CHECK_THAT(first_line("/topology/torus", "3x3"), ContainsSubstring("9 x tpu-v5e, torus 3x3"));
  CHECK_THAT(first_line("/topology/ring", "5"), ContainsSubstring("5 x tpu-v5e, ring"));
  CHECK_THAT(first_line("/tensor/bytes", "256 KiB"), ContainsSubstring("256.0 KiB of bf16"));
}

TEST_CASE("the table says how times were made") {
  CHECK_THAT(to_table(testing::run(changed("/simulation", "full"))),
             ContainsSubstring("Simulated chip by chip (asked for): all."));
  CHECK_THAT(to_table(testing::run(good_config())),
             ContainsSubstring("Simulated by representatives (3 chips stand for all 8, which do "
                               "the same at the same time): all."));
}

TEST_CASE("the table says which engine moved the clock, and why") {
  const auto quiet = [](const std::string&) {};
  CHECK_THAT(to_table(run::run_experiment(testing::plan_of(good_config()), quiet)),
             ContainsSubstring("Engine: SimGrid (it is quick here): all."));
  CHECK_THAT(to_table(testing::run(good_config())),
             ContainsSubstring("Engine: the direct one (one run of many): all."));
  CHECK_THAT(to_table(testing::run(changed("/engine", "direct"))),
             ContainsSubstring("Engine: the direct one (asked for): all."));
}

}  // namespace
}  // namespace equarx::result::table_test
