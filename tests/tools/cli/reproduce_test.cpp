// reproduce on a small study.
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::reproduce_test {
namespace {

using nlohmann::json;

/// Temporary folder "study" with a study of one experiment and one row.
class StudyFolder {
 public:
  StudyFolder() {
    std::filesystem::create_directory(path());
    std::ofstream(path() / "config.json")
        << R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
      "tensor": {"bytes": "64 KiB"}, "collectives": [{"label": "bf16", "algorithm": "ring"},
      {"label": "int8", "algorithm": "equarx"}]})";
    write(study());
  }

  static json study() {
    return json::parse(R"({"title": "A study", "source": "nobody", "notes": ["a note"],
      "experiments": [{"name": "sizes", "config": "config.json"}],
      "rows": [{"id": "a", "what": "a speedup", "experiment": "sizes", "run": "bf16",
        "metric": "speedup", "expected": 1.0, "role": "prediction", "tolerance": 0.01,
        "source": "s"}]})");
  }

  void write(const json& study) const { std::ofstream(path() / "study.json") << study.dump(); }

  std::filesystem::path path() const { return directory_.path() / "study"; }
  std::string output() const { return (directory_.path() / "output").string(); }

 private:
  TemporaryDirectory directory_;
};

constexpr std::size_t kFiles = 5;  // four results and the lock

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("reproduce prints the table followed by the paths of its files") {
  const StudyFolder study;
  const std::string text =
      output_of(equarx_sim({"reproduce", study.path(), "--output", study.output()}));
  CHECK_THAT(text, Catch::Matchers::StartsWith("A study\n(nobody)\n"));
  for (const std::string part : {"a speedup", "prediction", "yes", "a note"})
    CHECK_THAT(text, ContainsSubstring(part));
  const std::vector<std::string> lines = lines_of(text);
  REQUIRE(lines.size() > 4);
  std::vector<std::string> names;
  for (auto line = lines.end() - 4; line != lines.end(); ++line) {
    CAPTURE(*line);
    names.push_back(std::filesystem::path(*line).filename());
    CHECK(std::filesystem::path(*line).parent_path() == study.output());
    CHECK(std::filesystem::file_size(*line) > 0);
  }
  CHECK(names ==
        std::vector<std::string>{"results.jsonl", "results.csv", "rows.csv", "study.json"});
  CHECK(file_count(study.output()) == kFiles);
  std::ifstream file(study.output() + "/study.json");
  CHECK(json::parse(file)["rows"][0]["within_tolerance"] == true);
}

TEST_CASE("reproduce writes to results/ in the current folder, under the study's name") {
  const StudyFolder study;
  for (const std::string ending : {"", "/"}) {
    const CommandResult result = equarx_sim({"reproduce", study.path().string() + ending});
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    CHECK(result.files_left == 1);
    CHECK_THAT(result.out, ContainsSubstring("\nresults/study/rows.csv\n") &&
                               ContainsSubstring("\nresults/study/results.csv\n") &&
                               ContainsSubstring("\nresults/study/study.json\n"));
  }
}

std::string contents(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("rerunning reproduce computes missing points only and leaves the same files") {
  const StudyFolder study;
  const std::string results = study.output() + "/results.jsonl";
  const std::vector<std::string> command = {"reproduce", study.path(), "-o", study.output()};
  const std::string once = output_of(equarx_sim(command));
  const std::string lines = contents(results);
  CHECK(output_of(equarx_sim(command)) == once);
  CHECK(contents(results) == lines);
  // Existing results are reused: a modified time is reported unchanged.
  std::string changed = lines;
  const std::size_t at = changed.find("\"speedup\":1.0");
  REQUIRE(at != std::string::npos);
  changed.replace(at, 13, "\"speedup\":7.0");
  std::ofstream(results) << changed;
  CHECK_THAT(output_of(equarx_sim(command)), ContainsSubstring(" 7.000 "));
  std::vector<std::string> fresh = command;
  fresh.push_back("--fresh");
  const CommandResult anew = equarx_sim(fresh);
  CHECK(anew.exit_code == 0);
  CHECK(anew.out == once);
  CHECK_THAT(anew.err, ContainsSubstring("results.1.jsonl"));
  CHECK(contents(results) == lines);
}

TEST_CASE("reproduce removes points that a study no longer has, and writes one file for any jobs") {
  const StudyFolder study;
  const std::string results = study.output() + "/results.jsonl";
  json two = StudyFolder::study();
  two["experiments"][0]["vary"] = {{{"key", "/tensor/bytes"}, {"values", {"64 KiB", "128 KiB"}}}};
  two["rows"][0]["at"] = {{"/tensor/bytes", "128 KiB"}};
  study.write(two);
  output_of(equarx_sim({"reproduce", study.path(), "-o", study.output(), "-j", "2"}));
  const std::string lines = contents(results);
  CHECK(lines_of(lines).size() == 4);
  output_of(equarx_sim({"reproduce", study.path(), "-o", study.output() + "1", "-j", "1"}));
  CHECK(contents(study.output() + "1/results.jsonl") == lines);
  study.write(StudyFolder::study());
  output_of(equarx_sim({"reproduce", study.path(), "-o", study.output()}));
  for (const std::string& line : lines_of(contents(results)))
    CHECK(json::parse(line)["axes"].empty());
}

TEST_CASE("reproduce moves results of another version aside") {
  const StudyFolder study;
  std::filesystem::create_directory(study.output());
  const std::string old = R"({"point":0,"key":"k","version":"0.0.1","axes":{},"error":"e"})";
  std::ofstream(study.output() + "/results.jsonl") << old << '\n';
  const CommandResult result = equarx_sim({"reproduce", study.path(), "-o", study.output()});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, ContainsSubstring("older results moved to"));
  CHECK(contents(study.output() + "/results.1.jsonl") == old + "\n");
}

TEST_CASE("a failed point is reported, its rows are outside tolerance, and others are computed") {
  const StudyFolder study;
  json failing = StudyFolder::study();
  failing["experiments"][0]["vary"] = {
      {{"key", "/topology"}, {"values", {{{"slice", "2x2"}}, {{"mesh", "3x3"}}}}}};  // has no ring
  failing["rows"].push_back(failing["rows"][0]);
  failing["rows"][0]["at"] = {{"/topology", {{"slice", "2x2"}}}};
  failing["rows"][1]["at"] = {{"/topology", {{"mesh", "3x3"}}}};
  failing["rows"][1]["id"] = "b";
  study.write(failing);
  for (int again = 0; again < 2; ++again) {
    const CommandResult result = equarx_sim({"reproduce", study.path(), "-o", study.output()});
    CHECK(result.exit_code == 1);
    CHECK(lines_of(result.err).size() == 1);
    CHECK_THAT(result.err, ContainsSubstring(R"(experiment 'sizes' /topology={"mesh":"3x3"}: )"));
    CHECK_THAT(result.out, ContainsSubstring("1.000") && ContainsSubstring(" yes (1 %)\n") &&
                               ContainsSubstring(" NO (1 %)\n"));
    CHECK_THAT(contents(study.output() + "/rows.csv"),
               ContainsSubstring("b,a speedup,speedup,equals,1,,,prediction,0.01,no,,,,,,,,,s,\n"));
  }
}

TEST_CASE("only with --strict a row outside its tolerance sets the exit code") {
  const StudyFolder study;
  const std::vector<std::string> lax = {"reproduce", study.path(), "-o", study.output()};
  std::vector<std::string> strict = lax;
  strict.push_back("--strict");
  CHECK(equarx_sim(strict).exit_code == 0);
  json missing = StudyFolder::study();
  missing["rows"].push_back(missing["rows"][0]);
  missing["rows"][1]["id"] = "b";
  missing["rows"][1]["expected"] = 1.011;
  study.write(missing);
  std::filesystem::remove_all(study.output());
  CHECK_THAT(output_of(equarx_sim(lax)), ContainsSubstring(" NO (1 %)\n"));
  std::filesystem::remove_all(study.output());
  const CommandResult result = equarx_sim(strict);
  CHECK(result.exit_code == 1);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, ContainsSubstring(" NO (1 %)\n") && ContainsSubstring("/rows.csv\n"));
  CHECK(file_count(study.output()) == kFiles);
}

TEST_CASE("reproduce rejects folders without a study and writes no results") {
  const StudyFolder study;
  check_refusal(equarx_sim({"reproduce", "no/such"}), "cannot read no/such/study.json");
  check_refusal(equarx_sim({"reproduce", ""}), "study.json");
  const std::string file = (study.path() / "study.json").string();
  check_refusal(equarx_sim({"reproduce", file}), file + "/study.json");
  std::ofstream(study.path() / "study.json") << "{";
  check_refusal(equarx_sim({"reproduce", study.path(), "-o", study.output()}),
                file + ": not valid JSON at line 1");
  CHECK_FALSE(std::filesystem::exists(study.output()));
}

TEST_CASE("reproduce rejects invalid studies with file and pointer") {
  const StudyFolder study;
  const std::vector<std::tuple<std::string, json, std::string>> mistakes = {
      {"/rows/0/experiment", "size", "row 'a': there is no experiment 'size'"},
      {"/rows/0/run", "bf61", "row 'a': experiment 'sizes' has no run 'bf61'"},
      {"/rows/0/at", {{"/tensor/byte", 1}}, "experiment 'sizes' has no point /tensor/byte=1"},
      {"/experiments/1", StudyFolder::study()["experiments"][0], "is not unique"},
      {"/rows/0/metric", "a~b", "row 'a': a run has no number 'a~b'"},
      {"/rows/0/metric", "label", "a run has no number 'label'"},
      {"/rows/0/metric", "", "a run has no number ''"},
      {"/rows/0/at", 3, "/rows/0/at: expected an object"},
      {"/rows/0/at", json::array(), "/rows/0/at: expected an object"},
      {"/rows/0/tolerance", "1 %", "/rows/0/tolerance: expected a number"},
      {"/rows/0/role", "guess", "/rows/0/role: 'guess' is not known"},
      {"/rows", 1, "/rows: expected an array"},
      {"/rows/0", 1, "/rows/0: expected an object"},
      {"/notes", {1}, "/notes: "},
      {"/notes", "x", "/notes: expected an array"},
      {"/title", {1}, "/title: expected a string"},
      {"/experiments/0/config", "none.json", "/experiments/0/config: "},
      {"/experiments/0/vary", {{{"key", "tensor"}, {"values", {1}}}}, "tensor"},
      {"/experiments/0/vary",
       {{{"key", "/a/b/c"}, {"values", {1}}}},
       "/experiments/0/vary/0: /a: unknown key"},
      {"/experiments/0/vary",
       {{{"key", "/tensor/bytes"}, {"values", {"x"}}}},
       "experiment 'sizes' /tensor/bytes=\"x\": /tensor/bytes: "}};
  for (const auto& [pointer, value, problem] : mistakes) {
    CAPTURE(pointer, value.dump());
    json wrong = StudyFolder::study();
    wrong[json::json_pointer(pointer)] = value;
    study.write(wrong);
    check_refusal(equarx_sim({"reproduce", study.path(), "-o", study.output()}), problem);
    CHECK_FALSE(std::filesystem::exists(study.output()));
  }
}

/// A study whose figures a shell script computes.
class ScriptFolder : public StudyFolder {
 public:
  explicit ScriptFolder(const std::string& script) {
    std::ofstream(path() / "run.sh") << script;
    write(study());
  }

  static json study() {
    json json = StudyFolder::study();
    json.erase("experiments");
    json["script"] = {{"command", {"sh", "run.sh", "{output}", "{jobs}"}},
                      {"results", "results.json"}};
    json["rows"][0].erase("experiment");
    json["rows"][0].erase("run");
    json["rows"][0]["metric"] = "/figures/1";
    return json;
  }

  std::vector<std::string> command() const {
    return {"reproduce", path(), "-o", output(), "-j", "3", "--strict"};
  }
};

const std::string kGood =
    "echo progress with $2; echo a warning >&2; echo '{\"figures\": [0, 1.005]}' > $1/results.json";

TEST_CASE("reproduce runs a script, passes its messages on and compares its results") {
  const ScriptFolder study(kGood);
  const CommandResult result = equarx_sim(study.command());
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err,
             ContainsSubstring("progress with 3\n") && ContainsSubstring("a warning\n"));
  CHECK_THAT(result.out, Catch::Matchers::StartsWith("A study\n(nobody)\n") &&
                             ContainsSubstring("1.005") && ContainsSubstring(" yes (1 %)\n"));
  std::ifstream file(study.output() + "/study.json");
  CHECK(json::parse(file)["rows"][0]["simulated"] == 1.005);
  CHECK_THAT(contents(study.output() + "/rows.csv"), ContainsSubstring("a,a speedup,/figures/1,"));
  json missing = ScriptFolder::study();
  missing["rows"][0]["expected"] = 1.1;
  study.write(missing);
  CHECK(equarx_sim(study.command()).exit_code == 1);
  missing["rows"][0]["misses"] = "known";
  study.write(missing);
  CHECK(equarx_sim(study.command()).exit_code == 0);
}

TEST_CASE("scripts find the Python package of the build tree, after the folders of PYTHONPATH") {
  const ScriptFolder study("echo path=$PYTHONPATH; " + kGood);
  const std::filesystem::path package =
      std::filesystem::path(EQUARX_SIM_PATH).parent_path() / "python";
  const bool is_built = std::filesystem::exists(package / "equarx" / "__init__.py");
  const std::string added = is_built ? ":" + package.string() : "";
  std::vector<std::string> command = {"/usr/bin/env", "PYTHONPATH=/mine", EQUARX_SIM_PATH};
  for (const std::string& argument : study.command()) command.push_back(argument);
  CHECK_THAT(run_command(command).err, ContainsSubstring("path=/mine" + added + "\n"));
}

TEST_CASE("reproduce keeps the folder of a script, and moves it aside with --fresh") {
  const ScriptFolder study("echo x >> $1/cells; " + kGood);
  const auto cells = [&] { return lines_of(contents(study.output() + "/script/cells")).size(); };
  for (const std::size_t runs : {1, 2}) {
    CHECK(equarx_sim(study.command()).exit_code == 0);
    CHECK(cells() == runs);
  }
  std::vector<std::string> fresh = study.command();
  fresh.push_back("--fresh");
  CHECK_THAT(equarx_sim(fresh).err, ContainsSubstring("older results moved to "));
  CHECK(cells() == 1);
  CHECK(std::filesystem::exists(study.output() + "/script.1/cells"));
}

TEST_CASE("a script that fails ends reproduce with its last line and exit code 1") {
  const ScriptFolder study(kGood + "; echo 'error: no text; apt-get install it' >&2; exit 2");
  const CommandResult result = equarx_sim(study.command());
  CHECK(result.exit_code == 1);
  CHECK(result.out.empty());
  CHECK_THAT(result.err,
             Catch::Matchers::EndsWith("equarx-sim: the script failed with exit code 2: "
                                       "error: no text; apt-get install it\n"));
  CHECK_FALSE(std::filesystem::exists(study.output() + "/rows.csv"));
}

TEST_CASE("reproduce rejects results of a script without the figures of rows") {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"true", "results.json: the script wrote no such file"},
      {"echo '{' > $1/results.json", "results.json: not valid JSON"},
      {"echo '{\"figure\": 1}' > $1/results.json",
       "/rows/0/metric: row 'a': there is no 'figures' in the results; available: figure"}};
  for (const auto& [script, problem] : mistakes) {
    const ScriptFolder study(script);
    // Figures of an earlier run do not count.
    std::filesystem::create_directories(study.output() + "/script");
    std::ofstream(study.output() + "/script/results.json") << R"({"figures": [0, 1]})";
    check_refusal(equarx_sim(study.command()), problem);
    CHECK_FALSE(std::filesystem::exists(study.output() + "/rows.csv"));
  }
}

TEST_CASE("reproduce rejects a script that is missing, and runs nothing") {
  const ScriptFolder study(kGood);
  std::filesystem::remove(study.path() / "run.sh");
  check_refusal(equarx_sim(study.command()), "/script/command/1: there is no file ");
  json wrong = ScriptFolder::study();
  wrong["script"]["command"][0] = "no-such-program";
  study.write(wrong);
  check_refusal(equarx_sim(study.command()), "/script/command/0: 'no-such-program' is not found");
  CHECK_FALSE(std::filesystem::exists(study.output()));
}

TEST_CASE("reproduce rejects an unwritable output") {
  const StudyFolder study;
  const std::string file = (study.path() / "config.json").string();
  for (const std::string& output : {std::string("/proc/nowhere"), file, file + "/deeper"})
    check_refusal(equarx_sim({"reproduce", study.path(), "--output", output}), output);
}

}  // namespace
}  // namespace equarx::testing::reproduce_test
