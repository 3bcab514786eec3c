#include "base/input/json.hpp"

#include <algorithm>
#include <tuple>

#include "base/input/embedded.hpp"
#include "base/input/schema.hpp"
#include "experiments/study/study.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study::json_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const fs::path kStudies = fs::path(EQUARX_SOURCE_DIR) / "experiments/studies";

void check_refused_study(const input::Json& json, const std::string& place,
                         const std::string& remedy) {
  const StudyFolder folder(json);
  check_refused([&] { folder.load(); }, (folder.path() / "study.json").string() + ": " + place,
                remedy);
}

TEST_CASE("a study's parts are read") {
  input::Json json = study_json();
  json["rows"][0]["relation"] = "at most";
  const Study study = StudyFolder(json).load();
  CHECK(study.title == "A study");
  CHECK(study.notes == std::vector<std::string>{"a note"});
  REQUIRE(study.experiments.size() == 1);
  CHECK(study.experiments[0].name == "sizes");
  CHECK(study.experiments[0].points.size() == 4);
  REQUIRE(study.rows.size() == 1);
  CHECK(study.rows[0].pointer == "/rows/0");
  CHECK(study.rows[0].at.at("/tensor/bytes") == input::Json("128 KiB"));
  CHECK(study.rows[0].relation == Relation::at_most);
  CHECK(study.rows[0].role == Role::calibration);
}

TEST_CASE("a metric may have its name of version 0.2") {
  input::Json json = study_json();
  json["rows"][0]["metric"] = "breakdown/bubbles_s";
  const Study study = StudyFolder(json).load();
  CHECK(study.rows[0].metric == "breakdown/idle_s");
  CHECK(study.rows[0].written_metric == "breakdown/bubbles_s");
}

TEST_CASE("a study may contain a configuration") {
  input::Json json = study_json();
  json["experiments"][0]["config"] = good_config();
  CHECK(StudyFolder(json).load().experiments[0].points.sweep().base == good_config());
}

TEST_CASE("invalid studies are refused with file, pointer and remedy") {
  // Pointer and value of a change, refused pointer, part of the message.
  const std::vector<std::tuple<std::string, input::Json, std::string, std::string>> mistakes = {
      {"/title", 1, "/title", "expected a string"},
      {"/notes", "x", "/notes", "expected an array"},
      {"/notes", {1}, "/notes", "expected lines of text"},
      {"/note", "x", "/note", "did you mean 'notes'"},
      {"/experiments", input::Json::array(), "/experiments", "at least one experiment"},
      {"/experiments/0", 1, "/experiments/0", "expected an object"},
      {"/experiments/0/name", "", "/experiments/0/name", "is empty"},
      {"/experiments/0/config", "none.json", "/experiments/0/config", "cannot read"},
      {"/experiments/0/config", 3, "/experiments/0/config", "a configuration or the path of one"},
      {"/experiments/0/vary", 3, "/experiments/0/vary", "expected an array"},
      {"/experiments/0/vary/0/values", 3, "/experiments/0/vary/0/values", "expected an array"},
      {"/experiments/0/vary/0/values", input::Json::array(), "/experiments/0/vary/0/values",
       "give at least one"},
      {"/experiments/0/vary/0/key", "tensor", "/experiments/0/vary/0/key", "JSON pointer"},
      {"/experiments/0/vary/0/key", "/topology/slice", "/experiments/0/vary/1",
       "is already an axis"},
      {"/experiments/0/exclude",
       {{{"/tensor/byte", 1}}},
       "/experiments/0/exclude/0",
       "is not an axis"},
      {"/experiments/0/exclude",
       {{{"/topology/slice", "2x2"}}, {{"/topology/slice", "4x2"}}},
       "/experiments/0/exclude",
       "excludes all 4 points"},
      {"/experiments/0/varyy", 1, "/experiments/0/varyy", "did you mean 'vary'"},
      {"/experiments/1", study_json()["experiments"][0], "/experiments/1/name",
       "'sizes' is not unique"},
      {"/rows", 1, "/rows", "expected an array"},
      {"/rows/1", study_json()["rows"][0], "/rows/1/id", "'a' is not unique"},
      {"/rows/0/at", 3, "/rows/0/at", "expected an object"},
      {"/rows/0/role", "guess", "/rows/0/role", "is not known"},
      {"/rows/0/role", "predicted", "/rows/0/role", "did you mean 'prediction'"},
      {"/rows/0/relation", "less", "/rows/0/relation", "is not known"},
      {"/rows/0/expected", "1", "/rows/0/expected", "expected a number"},
      {"/rows/0/tolerance", "1 %", "/rows/0/tolerance", "expected a number"},
      {"/rows/0/tolerance", -0.1, "/rows/0/tolerance", "like 0.05"},
      {"/rows/0/rol", 1, "/rows/0/rol", "unknown key 'rol'"}};
  for (const auto& [pointer, value, place, remedy] : mistakes) {
    CAPTURE(pointer, value.dump());
    input::Json json = study_json();
    json[input::Json::json_pointer(pointer)] = value;
    check_refused_study(json, place, remedy);
  }
}

input::Json script_study() {
  input::Json json = study_json();
  json.erase("experiments");
  json["script"] = {{"command", {"sh", "run.sh", "{output}"}}, {"results", "results.json"}};
  for (const char* key : {"experiment", "at", "run"}) json["rows"][0].erase(key);
  json["rows"][0]["metric"] = "/summary/0/a~1b";
  return json;
}

TEST_CASE("a study may have a script instead of experiments") {
  const StudyFolder folder(script_study());
  const Study study = folder.load();
  CHECK(study.experiments.empty());
  REQUIRE(study.script);
  CHECK(study.script->command == std::vector<std::string>{"sh", "run.sh", "{output}"});
  CHECK(study.script->results == "results.json");
  CHECK(study.script->folder == folder.path());
  CHECK(study.rows[0].metric == "/summary/0/a~1b");
}

TEST_CASE("invalid scripts are refused") {
  const std::vector<std::tuple<std::string, input::Json, std::string, std::string>> mistakes = {
      {"/script", "x.py", "/script", "expected an object"},
      {"/script/command", "x.py", "/script/command", "expected an array"},
      {"/script/command", {"sh", 1}, "/script/command/1", "a program and its arguments"},
      {"/script/command", {"sh"}, "/script/command", "has no {output}"},
      {"/script/command/1", "{outptu}", "/script/command/1", "use {output} or {jobs}"},
      {"/script/results", "/tmp/a", "/script/results", "name of a file there"},
      {"/script/results", "../a", "/script/results", "name of a file there"},
      {"/script/results", "", "/script/results", "name of a file there"},
      {"/script/result", "a", "/script/result", "did you mean 'results'"},
      {"/rows/0/run", "bf16", "/rows/0/run", "a script has no experiments"},
      {"/rows/0/metric", "speedup", "/rows/0/metric", "no JSON pointer"},
      {"/rows/0/metric", "/a~", "/rows/0/metric", "no JSON pointer"},
      {"/rows/0/metric", "", "/rows/0/metric", "no JSON pointer"}};
  for (const auto& [pointer, value, place, remedy] : mistakes) {
    CAPTURE(pointer, value.dump());
    input::Json json = script_study();
    json[input::Json::json_pointer(pointer)] = value;
    check_refused_study(json, place, remedy);
  }
}

TEST_CASE("a study has experiments or a script") {
  input::Json both = script_study();
  both["experiments"] = study_json()["experiments"];
  input::Json neither = script_study();
  neither.erase("script");
  for (const auto& [json, problem] :
       {std::pair{both, "has both 'experiments' and 'script'; give one of them"},
        std::pair{neither, "has neither experiments nor a script; give one of both"}}) {
    const StudyFolder folder(json);
    check_refused([&] { folder.load(); }, (folder.path() / "study.json").string(), problem);
  }
}

TEST_CASE("most keys of a study are required") {
  for (const std::string pointer :
       {"/title", "/source", "/notes", "/rows", "/experiments/0/name", "/experiments/0/config",
        "/rows/0/id", "/rows/0/what", "/rows/0/experiment", "/rows/0/run", "/rows/0/metric",
        "/rows/0/expected", "/rows/0/role", "/rows/0/tolerance", "/rows/0/source"}) {
    CAPTURE(pointer);
    const input::Json::json_pointer place(pointer);
    input::Json json = study_json();
    json[place.parent_pointer()].erase(place.back());
    check_refused_study(json, pointer, "is missing");
  }
}

TEST_CASE("a folder without a study is refused") {
  CHECK_THROWS_WITH(load_study("/nowhere"), ContainsSubstring("cannot read /nowhere/study.json"));
}

TEST_CASE("the studies of the repository fit the schema") {
  for (const std::string name : {"equarx_paper", "validation", "real_activations",
                                 "published/mscclpp", "published/nccl", "published/quickreduce"}) {
    CAPTURE(name);
    const Study study = load_study(kStudies / name);
    CHECK_FALSE(study.experiments.empty());
    for (const StudyRow& row : study.rows) CHECK_FALSE(row.source.empty());
  }
}

TEST_CASE("the schemas of studies and sweeps have the same axes") {
  const auto schema = [](std::string_view name) {
    const auto files = input::embedded_schemas();
    return input::Json::parse(std::ranges::find(files, name, &input::EmbeddedFile::name)->text);
  };
  const input::Json study = schema("study.schema");
  const input::Json sweep = schema("sweep.schema");
  const input::Json& experiment = study["properties"]["experiments"]["items"]["properties"];
  CHECK(study["definitions"] == sweep["definitions"]);
  CHECK(experiment["vary"]["items"] == sweep["properties"]["axes"]["items"]);
  CHECK(experiment["exclude"]["items"] == sweep["properties"]["exclude"]["items"]);
}

TEST_CASE(
    "the study of the paper calibrates two parameters and elements per scale to a row each, and "
    "attention's preset to two") {
  const Study study = load_study(kStudies / "equarx_paper");
  CHECK(study.rows.size() >= 11);
  CHECK(std::ranges::count(study.rows, Role::calibration, &StudyRow::role) == 5);
}

TEST_CASE("the study of real activations has the same collectives for both kinds of values") {
  const Study study = load_study(kStudies / "real_activations");
  REQUIRE(study.experiments.size() == 1);
  const sweep::SweepPoints& points = study.experiments[0].points;
  REQUIRE(points.size() == 2);
  CHECK(points.axes(0).at("/tensor/values").at("distribution") == "normal");
  const input::Json axes = points.axes(1);
  for (const input::Json& file : axes.at("/tensor/values").at("files"))
    CHECK(fs::exists(fs::path(EQUARX_SOURCE_DIR) / file.get<std::string>()));
  CHECK(study.rows.empty());
}

}  // namespace
}  // namespace equarx::study::json_test
