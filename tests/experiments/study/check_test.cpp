#include "experiments/study/check.hpp"

#include <tuple>

#include "base/input/json.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study::check_test {
namespace {

using namespace testing;

void check(const input::Json& json) {
  const Study study = StudyFolder(json).load();
  check_study(study, StudyPoints(study));
}

TEST_CASE("a valid study passes") { CHECK_NOTHROW(check(study_json())); }

TEST_CASE("rows with unknown names are refused with their pointer") {
  const std::vector<std::tuple<std::string, input::Json, std::string>> mistakes = {
      {"experiment", "size", "there is no experiment 'size'; available: sizes"},
      {"at", input::Json::object(), "experiment 'sizes' has no point; give one value of each axis"},
      {"at",
       {{"/tensor/bytes", "128 KiB"}},
       "has no point /tensor/bytes=\"128 KiB\"; give one value of each axis, as written there: "
       "/tensor/bytes, /topology/slice"},
      {"at", {{"/tensor/bytes", "131072 B"}, {"/topology/slice", "4x2"}}, "has no point"},
      {"at", {{"/tensor/bytes", "128 KiB"}, {"/topology/slices", "4x2"}}, "has no point"},
      {"run", "bf61", "experiment 'sizes' has no run 'bf61'; available: bf16, int8"},
      {"metric", "spedup", "a run has no number 'spedup'; did you mean 'speedup'?"},
      {"metric", "quality", "a run has no number 'quality'; use one of time_s, speedup, "},
      {"metric", "label", "a run has no number 'label'"},
      {"metric", "a~b", "a run has no number 'a~b'"},
      {"metric", "", "a run has no number ''"},
      {"metric", "compute_s", "a run has no number 'compute_s'"}};
  for (const auto& [key, value, remedy] : mistakes) {
    CAPTURE(key, value.dump());
    input::Json json = study_json();
    json["rows"][0][key] = value;
    check_refused([&] { check(json); }, "/rows/0/" + key + ": row 'a'", remedy);
  }
}

TEST_CASE("errors cannot be expected without computed values") {
  input::Json json = study_json();
  json["rows"][0]["metric"] = "numerics/mse";
  CHECK_NOTHROW(check(json));
  json["experiments"][0]["vary"].push_back({{"key", "/numerics"}, {"values", {"off"}}});
  json["rows"][0]["at"]["/numerics"] = "off";
  check_refused([&] { check(json); }, "/rows/0/metric", "has no number 'numerics/mse'");
}

TEST_CASE("one point that is no configuration is enough to refuse a study") {
  input::Json json = study_json();
  json["rows"] = input::Json::array();
  json["experiments"][0]["vary"][0]["values"] = {"64 KiB", "a lot"};
  check_refused([&] { check(json); },
                R"(experiment 'sizes' /tensor/bytes="a lot" /topology/slice="2x2")",
                "/tensor/bytes: ");
}

TEST_CASE("axes that no configuration has, or that others undo, are refused where they stand") {
  input::Json json = study_json();
  json["rows"] = input::Json::array();
  json["experiments"][0]["vary"][1] = {{"key", "/a/b/c"}, {"values", {1}}};
  check_refused([&] { check(json); }, "/experiments/0/vary/1", "/a: unknown key 'a'");
  json["experiments"][0]["vary"][1] = {{"key", "/tensor/shape"}, {"values", {{64, 64}}}};
  check_refused([&] { check(json); }, "/experiments/0/vary/0", "is overridden by a later axis");
  json["experiments"][0]["vary"].erase(1);
  json["experiments"][0]["config"] = {{"hardwear", 1}};
  check_refused([&] { check(json); }, "/experiments/0/config", "hardwear");
}

}  // namespace
}  // namespace equarx::study::check_test
