#include "experiments/config/step_when.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::config::step_when_test {
namespace {

using testing::changed;
using testing::good_step;

input::Json with_rule(const std::string& rule) {
  input::Json json = good_step();
  json["variants"][1]["quantize"] = input::Json::array({input::parse_json(rule)});
  return json;
}

std::vector<StepKind> kinds(const std::string& rule) {
  return read_step_config(with_rule(rule)).variants[1].kinds;
}

void check_refused(const std::string& rule, const std::string& place, const std::string& words) {
  CAPTURE(rule);
  testing::check_refused([&] { read_step_config(with_rule(rule)); }, place, words);
}

double share_of_all(const std::vector<StepKind>& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), 0.0,
                         [](double sum, const StepKind& kind) { return sum + kind.share; });
}

TEST_CASE("all steps are alike by default") {
  for (const std::string rule :
       {R"({"format": "int8"})", R"({"when": "always"})", R"({"when": {"every": 1}})"}) {
    REQUIRE(kinds(rule).size() == 1);
    CHECK(kinds(rule)[0].share == 1.0);
    CHECK_FALSE(kinds(rule)[0].skips(0));
    CHECK(always_communicates(kinds(rule)));
  }
}

TEST_CASE("one of k steps has the collective, the others do not") {
  const std::vector<StepKind> made = kinds(R"({"when": {"every": 4}})");
  REQUIRE(made.size() == 2);
  CHECK(made[0].share == 0.25);
  CHECK_FALSE(made[0].skips(0));
  CHECK(made[1].share == 0.75);
  CHECK(made[1].skips(0));
  CHECK_FALSE(always_communicates(made));
}

TEST_CASE("several rules count the same steps") {
  const std::vector<StepKind> made = kinds_of({When{2, {}}, When{4, {}}, When{3, {}}});
  CHECK(share_of_all(made) == Approx(1.0));
  REQUIRE(made.size() == 6);  // 4 implies 2; with and without 3
  CHECK(made[0].skipped == std::vector<bool>{false, false, false});
  CHECK(made[0].share == Approx(1.0 / 12));
  for (const StepKind& kind : made) CHECK_FALSE((kind.skipped[0] && !kind.skipped[1]));
}

TEST_CASE("a share of the other chips is the mean of the numbers around it") {
  const std::vector<StepKind> made = kinds(R"({"when": {"uploads": 0.5}})");  // of 3 chips
  REQUIRE(made.size() == 2);
  CHECK(made[0].uploads_of(0) == 2U);
  CHECK(made[1].uploads_of(0) == 1U);
  CHECK(made[0].share == Approx(0.5));
  const std::vector<StepKind> third = kinds(R"({"when": {"uploads": 0.3333333333333333}})");
  REQUIRE(third.size() == 1);
  CHECK(third[0].uploads_of(0) == 1U);
}

TEST_CASE("numbers of chips by step, given or from a file, are shares of the steps") {
  const std::vector<StepKind> made = kinds(R"({"when": {"uploads": [3, 0, 1, 0], "every": 2}})");
  CHECK(share_of_all(made) == Approx(1.0));
  REQUIRE(made.size() == 4);  // three numbers of chips, and none in every other step
  CHECK(made[0].uploads_of(0) == 3U);
  CHECK(made[0].share == Approx(0.125));
  CHECK(made[3].skips(0));
  CHECK(made[3].share == Approx(0.5));
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "when_test.json";
  std::ofstream(path) << "[3, 0, 1, 0]";
  const StepConfig read =
      read_step_config(with_rule(R"({"when": {"uploads": ")" + path.string() + R"("}})"));
  std::filesystem::remove(path);
  CHECK(read.variants[1].kinds.size() == 3);
  const input::Json json = to_json(read);
  CHECK(json["variants"][1]["quantize"][0]["when"]["uploads"] == input::parse_json("[3, 0, 1, 0]"));
  input::check_schema(json, "step");
  CHECK(read_step_config(json).variants[1].kinds.size() == 3);
}

TEST_CASE("collectives with fewer chips run through a server") {
  const StepConfig config = read_step_config(with_rule(R"({"when": {"uploads": 1}})"));
  CHECK(config.variants[1].collectives[0].algorithm->name == "server");
}

TEST_CASE("a wrong when is refused, with its place") {
  const std::string when = "/variants/1/quantize/0/when";
  check_refused(R"({"when": "never"})", when, "every");
  check_refused(R"({"when": {}})", when, "is empty");
  check_refused(R"({"when": {"every": 0}})", when + "/every", "1");
  check_refused(R"({"when": {"evry": 2}})", when, "every");
  check_refused(R"({"when": {"uploads": 0}})", when + "/uploads", "1e-9");
  check_refused(R"({"when": {"uploads": [4]}})", when + "/uploads/0", "3");
  check_refused(R"({"when": {"uploads": []}})", when + "/uploads", "chips that send");
  check_refused(R"({"when": {"uploads": "nowhere.json"}})", when + "/uploads", "nowhere.json");
  check_refused(R"({"algorithm": "torus", "when": {"uploads": 0.5}})",
                "/variants/1/quantize/0/algorithm", "use \"server\"");
}

TEST_CASE("steps need weights and activations always") {
  input::Json json = with_rule(R"({"when": {"every": 2}})");
  json["step"]["tasks"][2]["collective"]["kind"] = "all-gather";
  testing::check_refused([&] { read_step_config(json); }, "/variants/1/quantize/0/when",
                         "for sums");
  json["step"]["tasks"][2]["collective"]["kind"] = "reduce-scatter";
  CHECK_NOTHROW(read_step_config(json));
  json["variants"][1]["quantize"][0]["when"] = {{"uploads", 0.5}};
  testing::check_refused([&] { read_step_config(json); }, "/variants/1/quantize/0/when/uploads",
                         "AllReduces");
}

TEST_CASE("values and tuning need all chips in all steps") {
  input::Json json = with_rule(R"({"when": {"uploads": 0.5}})");
  json["values"] = input::Json::array({input::Json::object()});
  testing::check_refused([&] { read_step_config(json); }, "/values", "equarx.Lazy");
  testing::check_refused(
      [&] { step_form(read_step_config(with_rule(R"({"when": {"every": 2}})"))); }, "/variants/1",
      "remove \"when\"");
}

TEST_CASE("too many kinds of step are refused") {
  CHECK_THROWS_AS(kinds_of({When{99'991, {}}, When{99'989, {}}}), input::InputError);
  CHECK_THROWS_AS(kinds_of({When{2, {}}, When{3, {}}, When{5, {}}, When{7, {}}, When{11, {}},
                            When{13, {}}, When{1, {{2, 0.5}, {1, 0.5}}}}),
                  input::InputError);
}

}  // namespace
}  // namespace equarx::config::step_when_test
