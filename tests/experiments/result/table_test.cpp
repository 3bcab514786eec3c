#include "experiments/result/table.hpp"

#include <sstream>

#include "base/input/json.hpp"
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

constexpr TableOptions kVerbose = {.verbose = true};

TEST_CASE("the table has a title and a row for each collective") {
  const std::string table = to_table(testing::run(good_config()));
  const auto lines = lines_of(table);
  CHECK(lines[0] == "AllReduce of 64 x 1024 bf16 (128.0 KiB) on each of 8 x tpu-v5e, slice 4x2");
  CHECK_THAT(lines[2], ContainsSubstring("collective") && ContainsSubstring("time") &&
                           ContainsSubstring("speedup") && ContainsSubstring("MSE vs baseline"));
  CHECK_THAT(lines[3],
             ContainsSubstring("bf16") && ContainsSubstring("1.000x") && ContainsSubstring("us"));
  CHECK_THAT(lines[4], ContainsSubstring("int8") && ContainsSubstring("dB"));
  CHECK(lines[3].size() == lines[2].size());
  CHECK(lines[4].size() == lines[2].size());
  REQUIRE(lines.size() == 13);
  CHECK(lines[6] == "  Lower bound: bytes / bandwidth of the busiest link direction.");
  CHECK_THAT(lines[7], Catch::Matchers::StartsWith("  Warning: "));
  CHECK_THAT(lines[8], Catch::Matchers::StartsWith("  Error of the model in plain collectives"));
  CHECK(lines[9] == "  Nearest measured rows, simulated / measured:");
  for (const std::size_t row : {10, 11})
    CHECK_THAT(lines[row], ContainsSubstring("v5e") && Catch::Matchers::EndsWith("ted)"));
  CHECK(lines[12] == "  MSE, SQNR: every element, against the exact sum of all ranks.");
}

TEST_CASE("details are in the verbose table only") {
  const run::ExperimentResult result = testing::run(good_config());
  const std::string brief = to_table(result);
  const std::string verbose = to_table(result, kVerbose);
  for (const std::string detail : {"Tiling: ", "Exploiting symmetry: ", "Engine: ",
                                   "Busiest link directions", "ranks\n", "identical\n"}) {
    CAPTURE(detail);
    CHECK_THAT(brief, !ContainsSubstring(detail));
    CHECK_THAT(verbose, ContainsSubstring(detail));
  }
  for (const std::string& line : lines_of(brief)) CHECK(line.size() <= 120);
}

TEST_CASE("columns of a wide table are left out unless it is verbose") {
  input::Json json = good_config();
  json["collectives"][1]["label"] = std::string(24, 'x');
  json["uncertainty"] = {{"samples", 10}};
  const run::ExperimentResult result = testing::run(json);
  const std::string brief = to_table(result);
  for (const std::string& line : lines_of(brief)) CHECK(line.size() <= 120);
  CHECK_THAT(brief, ContainsSubstring("68 % interval") && ContainsSubstring("SQNR") &&
                        ContainsSubstring("Monte Carlo") && ContainsSubstring("n = 10.") &&
                        !ContainsSubstring("MSE vs baseline") && !ContainsSubstring("bytes/link"));
  CHECK_THAT(to_table(result, kVerbose),
             ContainsSubstring("MSE vs baseline") && ContainsSubstring("bytes/link"));
}

TEST_CASE("a table without numerics has no columns of errors") {
  const std::string table = to_table(testing::run(changed("/numerics", "off")));
  CHECK_THAT(table, !ContainsSubstring("MSE") && ContainsSubstring("lower bound"));
}

TEST_CASE("the verbose table has the utilisation of the busiest links") {
  input::Json json = changed("/simulation", "full");
  json["topology"] = {{"slice", "4x4"}};
  json["numerics"] = "off";
  json["collectives"] = {{{"algorithm", "torus"}}, {{"algorithm", "two-shot"}}};
  json.erase("baseline");
  const std::string table = to_table(testing::run(json), kVerbose);
  CHECK_THAT(table, Catch::Matchers::Matches("[^]*\n    torus bf16 {5}[0-9]+ %, all equal\n[^]*"));
  CHECK_THAT(table, Catch::Matchers::Matches("[^]*\n    two-shot bf16 {2}[0-9]+ %: "
                                             "\\(0,1\\)->\\(0,2\\), \\(0,2\\)->\\(0,1\\) and "
                                             "14 more of 48; least busy [0-9]+ %\n[^]*"));
}

TEST_CASE("the table warns of full queues that block cores only while links are idle") {
  input::Json json = changed("/numerics", "off");
  json["hardware"] = {{"based_on", "tpu-v5p"}, {"step_sync_time", "0.93 us"}};
  json["topology"] = {{"fully-connected", 12}};
  json["tensor"] = {{"bytes", "16 MiB"}};
  const input::Json cut = {
      {"algorithm", "two-shot"}, {"format", "int8"}, {"minishards", 1}, {"microshards", 16}};
  json["collectives"] = {{{"algorithm", "two-shot"}, {"format", "int8"}}, cut};
  json["collectives"][1]["label"] = "cut";
  json.erase("baseline");
  CHECK_THAT(to_table(testing::run(json)),
             Catch::Matchers::Matches("[^]*\n  Warning: cores block on the full queue[^\n]*: "
                                      "cut [1-9][0-9] % of the time[^]*"));
  // Links of a ring are always busy, which alone fills its queues.
  json["hardware"] = {{"based_on", "tpu-v5p"}, {"dma_queue", 1}};
  json["collectives"] = {{{"algorithm", "ring"}}};
  const run::ExperimentResult ring = testing::run(json);
  CHECK(ring.runs[0].core.waits.queue_s > 0.5 * ring.runs[0].time_s);
  CHECK_THAT(to_table(ring), !ContainsSubstring("cores block"));
}

TEST_CASE("the table warns of scales that take more link time than elements") {
  input::Json json = changed("/numerics", "off");
  json["tensor"] = {{"bytes", "64 KiB"}};
  json["topology"] = {{"slice", "4x4"}};
  json["collectives"][1]["minishards"] = 8;
  CHECK_THAT(
      to_table(testing::run(json)),
      ContainsSubstring("\n  Warning: few elements per scale (int8 1), as the tensor is small"));
  json["tensor"] = {{"bytes", "64 MiB"}};
  CHECK_THAT(to_table(testing::run(json)), !ContainsSubstring("elements per scale"));
}

TEST_CASE(
    "the table of a failed run has no busy links, but advises how a ring can avoid the link") {
  input::Json json = good_config();
  json["numerics"] = "off";
  json["faults"] = {{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "0 s"}}}}};
  json["collectives"][1] = {{"label", "any"}, {"algorithm", "auto"}};
  const run::ExperimentResult result = testing::run(json);
  const std::string table = to_table(result, kVerbose);
  CHECK_THAT(table, ContainsSubstring("bf16 fails at") && ContainsSubstring("/topology/avoid") &&
                        ContainsSubstring("although it fails, as do all others:\n    ") &&
                        !ContainsSubstring("Busiest link directions"));
  CHECK_THAT(to_table(result), ContainsSubstring("although it fails, as do all others.\n  "));
}

TEST_CASE("the title names the topology, and the tensor's size in bytes if that was given") {
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

TEST_CASE("the verbose table has the number of simulated chips") {
  CHECK_THAT(to_table(testing::run(changed("/simulation", "full")), kVerbose),
             ContainsSubstring("\n  All chips simulated (requested).\n"));
  CHECK_THAT(to_table(testing::run(good_config()), kVerbose),
             ContainsSubstring("\n  Exploiting symmetry: 3 of 8 chips simulated.\n"));
}

TEST_CASE("the verbose table has the engine, with the reason for it") {
  const auto quiet = [](const std::string&) {};
  CHECK_THAT(to_table(run::run_experiment(testing::plan_of(good_config()), quiet), kVerbose),
             ContainsSubstring("\n  Engine: SimGrid (fast enough here).\n"));
  CHECK_THAT(to_table(testing::run(good_config()), kVerbose),
             ContainsSubstring("\n  Engine: direct (one of many runs).\n"));
  CHECK_THAT(to_table(testing::run(changed("/engine", "direct")), kVerbose),
             ContainsSubstring("\n  Engine: direct (requested).\n"));
}

TEST_CASE("details that differ name their collectives") {
  input::Json json = changed("/numerics", "off");
  json["collectives"][1]["minishards"] = 2;
  json["collectives"][1]["microshards"] = 1;
  CHECK_THAT(to_table(testing::run(json), kVerbose),
             ContainsSubstring("\n  Tiling: minishards 2, microshards 1 (given): int8.\n"));
}

}  // namespace
}  // namespace equarx::result::table_test
