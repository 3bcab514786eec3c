#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

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
  CHECK(answers[1]["error"]["kind"] == "input");
  CHECK(answers[1]["error"]["pointer"] == "request/konfig");
  CHECK(answers[2].contains("result"));
}

TEST_CASE("requests of other forms are refused with their place") {
  const json config = small_config("direct");
  const auto place_of = [](const json& request) {
    const json answer = answers_to({request}).front();
    CHECK(answer.at("error").at("kind") == "input");
    return answer.at("error").at("pointer").get<std::string>();
  };
  CHECK(place_of({{"config", config}, {"folder", "/no such folder"}}) == "request/folder");
  CHECK(place_of({{"config", config}, {"folder", 3}}) == "request/folder");
  CHECK(place_of({{"config", config}, {"overrides", "none"}}) == "request/overrides");
  CHECK(place_of({{"config", config}, {"overrides", json::array({json::array({"/a"})})}}) ==
        "request/overrides/0");
  CHECK(place_of({{"config", config}, {"links", "yes"}}) == "request/links");
  CHECK(place_of({{"config", config}, {"tensors", 1}}) == "request/tensors");
  CHECK(place_of({{"config", config}, {"shell", "true"}}) == "request/shell");
  CHECK(place_of(json::array()) == "request");
}

/// A request with some bytes replaced, removed or doubled; without line ends.
std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  for (std::size_t change = below(6) + 1; change > 0; --change) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0: text[at] = static_cast<char>(below(256)); break;
      case 1: text.erase(at, below(20)); break;
      case 2: text.insert(at, text.substr(below(text.size()), below(30))); break;
      default: text[at] = "{}[]\",:0-e"[below(11)];
    }
    if (text.empty()) text = "?";
  }
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST_CASE("answer survives 300 mutated requests, with one response to each") {
  constexpr int kRequests = 300;
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): reproducible
  json config = small_config("direct");
  config["numerics"] = "off";
  const std::string request = json{{"config", config}, {"links", false}, {"folder", "/tmp"}}.dump();
  std::string lines;
  for (int i = 0; i < kRequests; ++i) lines += mutated(request, random) + "\n";
  std::istringstream printed(output_of(equarx_sim({"answer"}, {.input = lines + request + "\n"})));
  std::string line;
  std::getline(printed, line);  // version
  for (int i = 0; i < kRequests; ++i) {
    REQUIRE(std::getline(printed, line));
    const json answer = json::parse(line);
    CAPTURE(i, line);
    if (answer.contains("error")) CHECK(answer["error"]["kind"] == "input");
    CHECK(answer.contains("error") != answer.contains("result"));
  }
  std::getline(printed, line);
  CHECK(json::parse(line).contains("result"));
}

TEST_CASE("a request that is too long is refused, and the next one answered") {
  const std::string line = std::string(65 * 1024 * 1024, ' ') + "\n";
  const std::string request = json{{"config", small_config("direct")}}.dump() + "\n";
  std::istringstream printed(output_of(equarx_sim({"answer"}, {.input = line + request})));
  std::string version;
  std::string refusal;
  std::string result;
  std::getline(printed, version);
  std::getline(printed, refusal);
  std::getline(printed, result);
  CHECK_THAT(json::parse(refusal)["error"]["message"].get<std::string>(),
             ContainsSubstring("64 MiB"));
  CHECK(json::parse(result).contains("result"));
}

TEST_CASE("option --help does not list answer") {
  CHECK_THAT(output_of(equarx_sim({"--help"})), !ContainsSubstring("answer "));
}

}  // namespace
}  // namespace equarx::testing::answer_test
