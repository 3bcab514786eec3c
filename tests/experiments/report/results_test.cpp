#include "experiments/report/results.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/reports.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::report::results_test {
namespace {

using testing::synthetic_config;
using testing::synthetic_run;

input::Json point_line(const std::string& key, const input::Json& axes) {
  return {{"point", 7}, {"key", key}, {"version", "0.1.0"}, {"axes", axes}};
}

input::Json run_line(const std::string& key, const std::string& bytes) {
  input::Json line = point_line(key, {{"/tensor/bytes", bytes}});
  line["run"] = synthetic_run(true, 1 << 20, 8, 8);
  line["config"] = synthetic_config(bytes, "4x2", 8);
  return line;
}

input::Json error_line(const std::string& key) {
  input::Json line = point_line(key, {{"/tensor/bytes", "1 B"}});
  line["error"] = "/tensor/bytes: too small";
  return line;
}

input::Json too_large_line(const std::string& key) {
  input::Json line = point_line(key, {{"/tensor/bytes", "64 GiB"}});
  line["status"] = "does not fit";
  line["needs_bytes"] = 1e11;
  line["reason"] = "/tensor: needs 93.13 GiB";
  return line;
}

input::Json result(const std::string& hash, const std::string& slice,
                   const std::string& version = "0.1.0") {
  input::Json json = {
      {"program", "equarx-sim"},
      {"version", version},
      {"config", synthetic_config("1 MiB", slice, 8)},
      {"config_hash", hash},
      {"parameters", {{"dma_queue", {{"value", 16}, {"class", "assumed"}, {"source", "-"}}}}},
      {"baseline", "bf16"},
      {"runs", input::Json::array()}};
  for (const bool quantized : {false, true})
    json["runs"].push_back(synthetic_run(quantized, 1 << 20, 8, 8));
  return json;
}

/// Reads files with these contents, named 0, 1, ...
ReportResults read(const std::vector<std::string>& texts) {
  const testing::TemporaryDirectory folder;
  std::vector<std::string> paths;
  for (const std::string& text : texts)
    paths.push_back(folder.write(std::to_string(paths.size()), text));
  return read_results(paths);
}

TEST_CASE("a step has a row per variant, with its groups by name") {
  const ReportResults results = read({testing::synthetic_step().dump(2)});
  REQUIRE(results.rows.size() == 2);
  CHECK(results.sources.size() == 1);
  const input::Json& run = results.rows[1].run;
  CHECK(run["label"] == "int8");
  CHECK(run["groups"]["a/b"]["isolated_s"] == 2e-3);
  CHECK(results.rows[0].axes->empty());
  input::Json other = testing::synthetic_step();
  other["config_hash"] = "00000000000000cc";
  other["config"]["mesh"]["data"] = 8;
  other["config"]["variants"][0]["label"] = "plain";  // also in the rows
  const ReportResults two = read({testing::synthetic_step().dump(), other.dump()});
  REQUIRE(two.rows.size() == 4);
  CHECK(two.rows[0].axes->size() == 1);
  CHECK((*two.rows[2].axes)["/mesh/data"] == 8);
  for (const char* missing : {"groups", "label"}) {
    input::Json broken = testing::synthetic_step();
    broken["variants"][1].erase(missing);
    CHECK_THROWS_AS(read({broken.dump()}), input::InputError);
  }
  input::Json unnamed = testing::synthetic_step();
  unnamed["variants"][0]["groups"][0].erase("group");
  CHECK_THROWS_AS(read({unnamed.dump()}), input::InputError);
}

TEST_CASE("a result has a row per run, and one source") {
  for (const int indent : {-1, 2}) {
    const ReportResults results = read({result("00000000000000aa", "4x2").dump(indent) + "\n"});
    REQUIRE(results.rows.size() == 2);
    REQUIRE(results.sources.size() == 1);
    CHECK(results.notes.empty());
    CHECK((*results.rows[1].run)["label"] == "full-loop int8");
    CHECK(results.rows[1].axes->empty());
    CHECK(results.sources[0].key == "00000000000000aa");
    CHECK(results.sources[0].version == "0.1.0");
    CHECK((*results.sources[0].config)["topology"]["slice"] == "4x2");
    CHECK((*results.sources[0].parameters)["dma_queue"]["class"] == "assumed");
  }
}

TEST_CASE("a note names each uncalibrated chip once") {
  input::Json calibrated = result("00000000000000aa", "4x2");
  for (input::Json& run : calibrated["runs"]) run["calibrated"] = true;
  CHECK(read({calibrated.dump()}).notes.empty());
  input::Json not_calibrated = result("00000000000000bb", "4x2");
  not_calibrated["config"]["hardware"] = "tpu-v4";
  for (input::Json& run : not_calibrated["runs"]) run["calibrated"] = false;
  const std::string what = "not calibrated; times rest on datasheet values and assumptions";
  CHECK(read({calibrated.dump(), not_calibrated.dump()}).notes ==
        std::vector<std::string>{"tpu-v4: " + what});
  input::Json faster = not_calibrated;
  faster["config"]["hardware"] = {{"based_on", "tpu-v5e"}, {"link_bandwidth", "90 GB/s"}};
  CHECK(read({faster.dump()}).notes ==
        std::vector<std::string>{"tpu-v5e (link_bandwidth 90 GB/s): " + what});
  input::Json line = run_line("1", "1 MiB");
  line["run"]["calibrated"] = false;
  line.erase("config");
  CHECK(read({not_calibrated.dump(), line.dump() + "\n"}).notes ==
        std::vector<std::string>{"a chip, tpu-v4: " + what});
}

TEST_CASE("results of version 0.2 are read by the current names of their keys, with a note") {
  std::string old = run_line("1", "1 MiB").dump();
  const input::Json current = run_line("1", "1 MiB")["run"];
  for (const auto& [now, before] :
       {std::pair{"\"idle_s\"", "\"bubbles_s\""}, std::pair{"\"sync_s\"", "\"overhead_s\""}})
    old.replace(old.find(now), std::string(now).size(), before);
  const ReportResults results = read({old + "\n"});
  CHECK(results.rows[0].run == current);
  REQUIRE(results.notes.size() == 1);
  CHECK_THAT(results.notes[0], ContainsSubstring("written by version 0.2"));
}

TEST_CASE("results with different configurations get axes for the differences") {
  const ReportResults results =
      read({result("00000000000000aa", "4x2").dump(2), result("00000000000000bb", "4x4").dump(2)});
  REQUIRE(results.rows.size() == 4);
  CHECK(results.rows[0].axes == input::Json{{"/topology/slice", "4x2"}});
  CHECK(results.rows[3].axes == input::Json{{"/topology/slice", "4x4"}});
}

TEST_CASE("lines of a sweep become rows with axes, and failed points rows without run") {
  const ReportResults results =
      read({run_line("a1", "1 MiB").dump() + "\n\n" + run_line("a2", "2 MiB").dump() + "\r\n" +
            error_line("a3").dump()});
  REQUIRE(results.rows.size() == 3);
  CHECK(results.sources.size() == 3);
  CHECK(results.notes.empty());
  CHECK(results.rows[1].axes == input::Json{{"/tensor/bytes", "2 MiB"}});
  CHECK(results.rows[1].point == 7);
  CHECK(results.rows[1].error.empty());
  CHECK(results.rows[2].run->is_null());
  CHECK(results.rows[2].error == "/tensor/bytes: too small");
  CHECK(results.sources[2].config->is_null());
}

TEST_CASE("results shown with a sweep get its axes from their configurations") {
  const ReportResults results =
      read({run_line("a1", "2 MiB").dump() + "\n", result("00000000000000aa", "4x2").dump(2)});
  REQUIRE(results.rows.size() == 3);
  CHECK(results.rows[0].axes == input::Json{{"/tensor/bytes", "2 MiB"}});
  CHECK(results.rows[2].axes == input::Json{{"/tensor/bytes", "1 MiB"}});
}

TEST_CASE("only the last of duplicate runs is kept, and recomputed failures are dropped") {
  input::Json again = run_line("a1", "1 MiB");
  again["run"]["time_s"] = 1.5;
  const ReportResults results =
      read({error_line("a1").dump() + "\n" + run_line("a1", "1 MiB").dump() + "\n" +
                error_line("a2").dump() + "\n",
            again.dump() + "\n"});
  REQUIRE(results.rows.size() == 2);
  CHECK((*results.rows[0].run)["time_s"] == 1.5);
  CHECK(results.rows[1].error == "/tensor/bytes: too small");
  REQUIRE(results.notes.size() == 1);
  CHECK_THAT(results.notes[0], ContainsSubstring("1 run is duplicated"));
}

TEST_CASE("the last state of a sweep's point counts if only keys differ") {
  const auto of_base = [](input::Json line) {
    line["base"] = "b";
    return line.dump() + "\n";
  };
  input::Json later = run_line("new", "1 MiB");
  later["run"]["time_s"] = 1.5;
  const ReportResults results = read(
      {of_base(run_line("old", "1 MiB")) + of_base(run_line("other", "2 MiB")) + of_base(later)});
  REQUIRE(results.rows.size() == 2);
  CHECK((*results.rows[1].run)["time_s"] == 1.5);
  REQUIRE(results.notes.size() == 1);
  CHECK_THAT(results.notes[0], ContainsSubstring("1 row is from an earlier state of the sweep"));
  // Rows of separate files differ in their file names.
  CHECK(read({of_base(run_line("old", "1 MiB")), of_base(later)}).rows.size() == 2);
  // Failures that were recomputed successfully are dropped.
  input::Json failed = error_line("old");
  failed["axes"] = later["axes"];
  CHECK(read({of_base(failed) + of_base(later)}).rows.size() == 1);
}

TEST_CASE("a point that fails again is not a duplicate run") {
  const ReportResults results =
      read({error_line("a1").dump() + "\n" + error_line("a1").dump() + "\n"});
  CHECK(results.rows.size() == 1);
  CHECK(results.notes.empty());
}

TEST_CASE("two labels of a point are two rows, even if one is empty") {
  input::Json empty = run_line("a1", "1 MiB");
  empty["run"]["label"] = "";
  const ReportResults results = read({run_line("a1", "1 MiB").dump() + "\n" + empty.dump() + "\n"});
  CHECK(results.rows.size() == 2);
  CHECK(results.notes.empty());
}

TEST_CASE("a truncated last line is noted and left out") {
  const std::string line = run_line("a1", "1 MiB").dump();
  for (const std::size_t length : {std::size_t{1}, line.size() / 2, line.size() - 1}) {
    const ReportResults results = read({line + "\n" + line.substr(0, length)});
    CHECK(results.rows.size() == 1);
    REQUIRE(results.notes.size() == 1);
    CHECK_THAT(results.notes[0], ContainsSubstring("its last line, 2, was cut off"));
  }
}

TEST_CASE("several versions are noted, and their rows kept apart") {
  const ReportResults results = read({result("00000000000000aa", "4x2").dump(),
                                      result("00000000000000aa", "4x2", "0.2.0").dump()});
  CHECK(results.rows.size() == 4);
  REQUIRE(results.notes.size() == 1);
  CHECK_THAT(results.notes[0], ContainsSubstring("0.1.0, 0.2.0"));
}

TEST_CASE("lists and objects as values of axes are unchanged") {
  input::Json line = run_line("a1", "1 MiB");
  line["axes"] = {{"/tensor/shape", {512, 512}}, {"/topology", {{"torus", "4x4"}}}};
  CHECK(read({line.dump() + "\n"}).rows[0].axes == line["axes"]);
}

TEST_CASE("operations are read from the result of a workload, and absent in sweeps") {
  input::Json prefill = result("00000000000000aa", "4x2");
  prefill["operations"] = input::Json{{{"name", "qkv"}}};
  const ReportResults results = read({prefill.dump(), run_line("a1", "1 MiB").dump() + "\n"});
  CHECK(results.sources[0].operations == prefill["operations"]);
  CHECK(results.sources[1].operations->is_null());
}

TEST_CASE("a point that does not fit has its reason and the memory that it needs") {
  const std::string text = run_line("a1", "1 MiB").dump() + "\n" + too_large_line("b2").dump() +
                           "\n" + too_large_line("b2").dump() + "\n";
  const ReportResults results = read({text});
  CHECK(results.notes.empty());
  REQUIRE(results.rows.size() == 2);
  CHECK(results.rows[0].does_not_fit.empty());
  const ReportRow& row = results.rows[1];
  CHECK(row.does_not_fit == "/tensor: needs 93.13 GiB");
  CHECK(row.needs_bytes == 1e11);
  CHECK(row.error.empty());
  CHECK(row.run->is_null());
}

TEST_CASE("other files are refused with file and line") {
  const std::string good = run_line("a1", "1 MiB").dump() + "\n";
  const auto refuses = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK_THROWS_WITH(read({text}), ContainsSubstring("/0: ") && ContainsSubstring(part));
    CHECK_THROWS_AS(read({text}), input::InputError);
  };
  refuses("", "not valid JSON");
  refuses("algorithm,time\nring,1\n", "not valid JSON at line 1");
  refuses("[]", "not a result; is this a file from 'equarx-sim run --json'");
  refuses("{}", "line 1: /key: expected a text");
  input::Json unexplained = error_line("a");
  unexplained["error"] = "";
  refuses(unexplained.dump(), "line 1: /error: is empty");
  unexplained = too_large_line("a");
  unexplained["reason"] = "";
  refuses(unexplained.dump(), "line 1: /reason: is empty");
  refuses("{\"program\": 1}", "not a result");
  refuses("{\"program\": \"equarx-sim\"}", "/runs: expected a list of runs");
  refuses(R"({"hardware": "tpu-v5e"})", "line 1: /key");
  refuses("{\n  \"hardware\": \"tpu-v5e\"\n}\n", "not a result");
  refuses(good + "{broken\n" + good, "line 2: not valid JSON");
  refuses(good + "[1]\n" + good, "line 2: not a point of a sweep");
  refuses(good + R"({"key": "a", "version": "0.1.0", "axes": {}})" + "\n" + good,
          "line 2: /run: expected a run, or an error");
  refuses(
      good + R"({"key": "a", "version": "0.1.0", "axes": {}, "run": {"label": 1}})" + "\n" + good,
      "line 2: /run: expected a run, with its label");
  refuses(R"({"program": "equarx-sim", "version": "0.1.0", "config_hash": "a", "runs": []})",
          "no results in it");
  CHECK_THROWS_WITH(read_results(std::vector<std::string>{"/no/such/file"}),
                    ContainsSubstring("cannot read /no/such/file"));
}

}  // namespace
}  // namespace equarx::report::results_test
