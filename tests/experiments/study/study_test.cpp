#include "experiments/study/study.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "experiments/config/json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/study/report.hpp"
#include "tests/catch.hpp"

namespace equarx::study {
namespace {

namespace fs = std::filesystem;

/// A folder with a small study, removed at the end.
class StudyFolder {
 public:
  StudyFolder() : path_(fs::temp_directory_path() / ("equarx_study_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
    write("config.json", R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
      "tensor": {"bytes": "64 KiB"}, "collectives": [{"label": "bf16", "algorithm": "ring"},
      {"label": "int8", "algorithm": "equarx"}]})");
    write("study.json", study().dump());
  }
  ~StudyFolder() { fs::remove_all(path_); }

  static input::Json study() {
    return input::Json::parse(R"({"title": "A study", "source": "nobody", "notes": ["a note"],
      "experiments": [{"name": "sizes", "config": "config.json", "vary": [
        {"key": "/tensor/bytes", "values": ["64 KiB", "128 KiB"]},
        {"key": "/topology/slice", "values": ["2x2", "4x2"]}]}],
      "rows": [{"id": "a", "what": "speed, \"quoted\"", "experiment": "sizes",
        "at": {"/tensor/bytes": "128 KiB", "/topology/slice": "4x2"}, "run": "bf16",
        "metric": "speedup", "expected": 1.0, "role": "calibration", "tolerance": 0.01,
        "source": "s"}]})");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string contents(const fs::path& path) { return input::read_file(path.string()); }

void quiet(const std::string&) {}

TEST_CASE("a study runs every combination and finds its rows") {
  const StudyFolder folder;
  const StudyResult result = run_study(load_study(folder.path()), quiet);
  REQUIRE(result.points.size() == 4);
  CHECK(result.points[1].at.at("/tensor/bytes") == "64 KiB");
  CHECK(result.points[1].at.at("/topology/slice") == "4x2");
  CHECK(result.points[1].result.runs[0].chips == 8);
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].simulated == 1.0);
  CHECK(result.outcomes[0].within_tolerance());
  CHECK_THAT(to_table(result), ContainsSubstring("calibration") && ContainsSubstring("a note"));
}

TEST_CASE("a study may compare with nothing") {
  const StudyFolder folder;
  input::Json study = StudyFolder::study();
  study["rows"] = input::Json::array();
  folder.write("study.json", study.dump());
  const StudyResult result = run_study(load_study(folder.path()), quiet);
  CHECK(result.points.size() == 4);
  CHECK_THAT(to_table(result), ContainsSubstring("no reported figures to compare with") &&
                                   ContainsSubstring("a note") && !ContainsSubstring("tolerance"));
  write_report(result, folder.path());
  CHECK(std::ranges::count(contents(folder.path() / "rows.csv"), '\n') == 1);
}

TEST_CASE("points tell what their values are") {
  const StudyFolder folder;
  input::Json study = StudyFolder::study();
  study["rows"] = input::Json::array();
  const std::string file =
      std::string(EQUARX_SOURCE_DIR) + "/tests/fixtures/activations/layer1_ranks8_tokens32.npy";
  study["experiments"][0]["vary"] = {
      {{"key", "/topology/slice"}, {"values", {"4x2"}}},
      {{"key", "/tensor"},
       {"values",
        {{{"bytes", "64 KiB"}, {"values", {{"distribution", "uniform"}}}},
         {{"bytes", "64 KiB"}, {"values", {{"distribution", "heavy-tailed"}}}},
         {{"values", {{"files", {file}}}}}}}}};
  folder.write("study.json", study.dump());
  write_report(run_study(load_study(folder.path()), quiet), folder.path());
  const std::string points = contents(folder.path() / "points.csv");
  CHECK_THAT(points, ContainsSubstring("tensor_bytes,values,label"));
  for (const std::string values : {"uniform", "heavy-tailed", "files"})
    CHECK_THAT(points, ContainsSubstring("65536," + values + ",int8,equarx"));
}

TEST_CASE("tolerances and limits decide what is within") {
  StudyOutcome outcome;
  outcome.row.expected = 2.0;
  outcome.row.tolerance = 0.05;
  outcome.simulated = 2.09;
  CHECK(outcome.within_tolerance());
  outcome.simulated = 2.11;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.simulated = 1.89;
  CHECK_FALSE(outcome.within_tolerance());
  outcome.row.relation = Relation::at_most;
  CHECK(outcome.within_tolerance());
  outcome.row.tolerance = 0.0;
  outcome.simulated = 2.01;
  CHECK_FALSE(outcome.within_tolerance());
}

TEST_CASE("a report is CSV and JSON, each complete") {
  const StudyFolder folder;
  const StudyResult result = run_study(load_study(folder.path()), quiet);
  const fs::path output = folder.path() / "results" / "deep";
  const auto files = write_report(result, output);
  REQUIRE(files.size() == 3);
  const std::string rows = contents(output / "rows.csv");
  CHECK_THAT(rows, ContainsSubstring("id,what,metric,kind,paper,simulated,ratio,role"));
  CHECK_THAT(rows,
             ContainsSubstring("a,\"speed, \"\"quoted\"\"\",speedup,equals,1,1,1,calibration"));
  const std::string points = contents(output / "points.csv");
  CHECK(std::ranges::count(points, '\n') == 1 + 4 * 2);
  CHECK_THAT(points, ContainsSubstring(
                         "sizes,tpu-v5e,slice 4x2,8,131072,normal,int8,equarx,full-loop,both"));
  const input::Json json = input::parse_json(contents(output / "study.json"));
  CHECK(json["points"].size() == 4);
  CHECK(json["rows"][0]["within_tolerance"] == true);
  for (const auto& entry : fs::directory_iterator(output))
    CHECK(entry.path().extension() != ".partial");
  CHECK_THROWS_WITH(write_report(result, "/proc/nowhere"), ContainsSubstring("/proc/nowhere"));
}

TEST_CASE("wrong studies are refused with file and place") {
  const StudyFolder folder;
  const auto refused = [&](const input::Json& study, const std::string& part) {
    folder.write("study.json", study.dump());
    CHECK_THROWS_WITH(run_study(load_study(folder.path()), quiet), ContainsSubstring(part));
  };
  input::Json study = StudyFolder::study();
  study["rows"][0]["run"] = "bf61";
  refused(study, "row 'a': experiment 'sizes' has no run 'bf61'");
  study = StudyFolder::study();
  study["rows"][0]["metric"] = "sped";
  refused(study, "row 'a': a run has no number 'sped'");
  study = StudyFolder::study();
  study["rows"][0]["at"].erase("/tensor/bytes");
  refused(study, "has no point");
  study = StudyFolder::study();
  study["rows"][0]["rol"] = 1;
  refused(study, "/rows/0/rol: unknown key 'rol'");
  study = StudyFolder::study();
  study["rows"][0]["role"] = "predicted";
  refused(study, "did you mean 'prediction'");
  study = StudyFolder::study();
  study["experiments"][0]["config"] = "none.json";
  refused(study, "/experiments/0/config");
  study = StudyFolder::study();
  study["experiments"][0]["vary"][0]["values"] = {"8 KiB", "a lot"};
  refused(study, "experiment 'sizes'");
  study["experiments"][0]["vary"][0]["values"] = 3;
  refused(study, "/experiments/0/vary/0/values: expected an array");
  CHECK_THROWS_WITH(load_study("/nowhere"), ContainsSubstring("/nowhere/study.json"));
}

TEST_CASE("the study of the paper can be read, and fits each of two parameters to one row") {
  const Study study = load_study(fs::path(EQUARX_SOURCE_DIR) / "experiments" / "equarx_paper");
  CHECK(study.rows.size() >= 11);
  CHECK(std::ranges::count(study.rows, Role::calibration, &StudyRow::role) == 2);
  for (const StudyRow& row : study.rows) CHECK_FALSE(row.source.empty());
}

TEST_CASE("the study of real activations compares the same collectives on both kinds of values") {
  const Study study = load_study(fs::path(EQUARX_SOURCE_DIR) / "experiments" / "real_activations");
  REQUIRE(study.experiments.size() == 1);
  const std::vector<StudyExperiment::Axis>& axes = study.experiments[0].axes;
  REQUIRE(axes.size() == 1);
  CHECK(axes[0].pointer == "/tensor/values");
  REQUIRE(axes[0].values.size() == 2);
  CHECK(axes[0].values[0]->at("distribution") == "normal");
  for (const input::Json& file : axes[0].values[1]->at("files"))
    CHECK(fs::exists(fs::path(EQUARX_SOURCE_DIR) / file.get<std::string>()));
  CHECK(study.rows.empty());
}

}  // namespace
}  // namespace equarx::study
