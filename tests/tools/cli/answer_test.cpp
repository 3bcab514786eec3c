#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::answer_test {
namespace {

using nlohmann::json;

/// Responses of answer, without the first line, its version.
std::vector<json> answers_to(const std::vector<json>& requests) {
  std::string lines;
  for (const json& request : requests) lines += request.dump() + "\n";
  std::istringstream printed(output_of(equarx_sim({"answer"}, {.input = lines})));
  std::vector<json> answers;
  for (std::string line; std::getline(printed, line);) answers.push_back(json::parse(line));
  REQUIRE_FALSE(answers.empty());
  const std::string version = answers.front().at("version");
  CHECK(output_of(equarx_sim({"--version"})) == "equarx-sim " + version + "\n");
  answers.erase(answers.begin());
  return answers;
}

json small_config(const std::string& engine) {
  json config = json::parse(content_of(kExample));
  config["tensor"] = {{"bytes", "128 KiB"}};
  config["collectives"][1]["minishards"] = 1;
  config["engine"] = engine;
  return config;
}

TEST_CASE("answer responds to requests in order, with the results of run, for both engines") {
  const auto answers = answers_to({{{"config", small_config("simgrid")}},
                                   {{"config", small_config("direct")}},
                                   {{"config", small_config("simgrid")}}});
  REQUIRE(answers.size() == 3);
  const std::vector<std::string> more = {"--set", "/engine=simgrid"};
  std::vector<std::string> as_json = more;
  as_json.emplace_back("--json");
  CHECK(answers[0]["result"] ==
        json::parse(output_of(equarx_sim(on_small_example("run", as_json)))));
  CHECK(answers[0]["table"] == output_of(equarx_sim(on_small_example("run", more))));
  CHECK(answers[1]["result"]["runs"][0]["engine"] == "direct");
  CHECK(answers[2] == answers[0]);
  CHECK(answers[0]["tensors"].is_null());
}

TEST_CASE("an invalid request gets an error response, and answer continues") {
  json wrong = small_config("direct");
  wrong["tensor"]["bytes"] = "2 potatoes";
  const json override = json::array({"/tensor/bytes", "128 KiB"});
  const json overridden = {{"config", wrong}, {"overrides", json::array({override})}};
  const auto answers = answers_to({{{"config", wrong}}, {{"konfig", 1}}, overridden});
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]["error"]["kind"] == "input");
  CHECK(answers[0]["error"]["pointer"] == "/tensor/bytes");
  CHECK_THAT(answers[0]["error"]["message"].get<std::string>(),
             Catch::Matchers::StartsWith("/tensor/bytes: "));
  CHECK(answers[1]["error"]["kind"] == "internal");
  CHECK(answers[2].contains("result"));
}

TEST_CASE("option --help does not list answer") {
  CHECK_THAT(output_of(equarx_sim({"--help"})), !ContainsSubstring("answer "));
}

}  // namespace
}  // namespace equarx::testing::answer_test
