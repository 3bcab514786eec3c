// Collectives, algorithms and faults at the command line.
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::collectives_test {
namespace {

using nlohmann::json;

/// Runs a full simulation of a ring of 8 chips, without numerics.
json run(const std::string& collective, const std::string& algorithm,
         const std::vector<std::string>& overrides = {}) {
  const TemporaryDirectory directory;
  const json config = {{"hardware", "tpu-v5e"},
                       {"topology", {{"ring", 8}}},
                       {"tensor", {{"shape", {8, 4096}}}},
                       {"timed_as", "step"},
                       {"collective", collective},
                       {"collectives", {{{"algorithm", algorithm}}}},
                       {"numerics", "off"},
                       {"simulation", "full"}};
  std::vector<std::string> command = {"run", directory.write("config.json", config.dump()),
                                      "--json", "--links"};
  for (const std::string& text : overrides) {
    command.emplace_back("--set");
    command.push_back(text);
  }
  return json::parse(output_of(equarx_sim(command)))["runs"][0];
}

std::uint64_t bytes_of_links(const json& run) {
  std::uint64_t bytes = 0;
  for (const json& link : run["links"]) bytes += link["bytes"].get<std::uint64_t>();
  return bytes;
}

TEST_CASE("total link bytes equal messages times hops") {
  constexpr std::uint64_t kTensor = 2 * 8 * 4096;
  constexpr std::uint64_t kShard = kTensor / 8;
  constexpr std::uint64_t kHopsToAll = 1 + 2 + 3 + 4 + 3 + 2 + 1;  // on a ring of 8
  const std::vector<std::tuple<std::string, std::string, std::uint64_t>> cases = {
      {"all-reduce", "ring", 8 * 2 * 7 * kShard},
      {"reduce-scatter", "ring", 8 * 7 * kShard},
      {"all-gather", "ring", 8 * 7 * kShard},
      {"all-reduce", "torus", 8 * 2 * 7 * kShard},
      {"all-reduce", "one-shot", 8 * kHopsToAll * kTensor},
      {"all-reduce", "two-shot", 2 * 8 * kHopsToAll * kShard},
      {"reduce-scatter", "direct", 8 * kHopsToAll * kShard},
      {"all-gather", "direct", 8 * kHopsToAll * kShard},
      {"all-to-all", "direct", 8 * kHopsToAll * kShard},
      {"broadcast", "direct", kHopsToAll * kTensor},
      {"broadcast", "ring", 7 * kTensor},
      {"all-reduce", "recursive-doubling", 8 * (1 + 2 + 4) * kTensor},
      // Halves over one hop, quarters over two, eighths over four; then in reverse.
      {"all-reduce", "halving-doubling", 2 * 8 * (4 + 2 * 2 + 4) * kShard}};
  for (const auto& [collective, algorithm, bytes] : cases) {
    CAPTURE(collective, algorithm);
    CHECK(bytes_of_links(run(collective, algorithm)) == bytes);
  }
}

TEST_CASE("links have a utilisation below 1 and the names of their chips") {
  for (const std::string algorithm : {"ring", "equarx", "one-shot", "two-shot"}) {
    const json result = run("all-reduce", algorithm);
    CHECK(result["links"].size() == 16);
    double most = 0.0;
    for (const json& link : result["links"]) {
      const auto use = link["utilisation"].get<double>();
      CHECK(use > 0.0);
      CHECK(use <= 1.0 + 1e-9);
      CHECK(use == Approx(link["busy_s"].get<double>() / result["time_s"].get<double>()));
      CHECK(link["name"] == link["from"].get<std::string>() + "->" + link["to"].get<std::string>());
      most = std::max(most, use);
    }
    CHECK(most > 0.1);
  }
}

TEST_CASE("links of representative chips cover those of every chip") {
  const json result = run("all-reduce", "ring", {"/simulation=auto"});
  CHECK(result["simulation"] == "symmetric");
  CHECK(result["links"].size() == 2);
  CHECK_FALSE(result["links"][0].contains("from"));
  CHECK(result["links"][0]["name"] == "every chip's link forward");
}

TEST_CASE("option --links requires --json") {
  const json result =
      json::parse(output_of(equarx_sim(on_small_example("run", {"--json"}))))["runs"][0];
  CHECK_FALSE(result.contains("links"));
  check_refusal(equarx_sim({"run", kExample, "--links"}), "--links requires --json");
}

TEST_CASE("the table names the collective") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"all-reduce", "AllReduce"},
      {"reduce-scatter", "ReduceScatter"},
      {"all-gather", "AllGather"},
      {"all-to-all", "AllToAll"},
      {"broadcast", "Broadcast"}};
  for (const auto& [collective, name] : cases)
    CHECK_THAT(output_of(equarx_sim(on_small_example(
                   "run", {"--set", "/collective=" + collective, "--set",
                           R"(/collectives=[{"algorithm": "auto", "label": "bf16"}])"}))),
               Catch::Matchers::StartsWith(name + " of 128.0 KiB of bf16 on each of 8 x"));
}

TEST_CASE(
    "auto reports its choice in the table, and its candidates in the verbose one and in JSON") {
  const std::vector<std::string> choose = {"--set", "/collectives/0/algorithm=auto"};
  CHECK_THAT(
      output_of(equarx_sim(on_small_example("run", choose))),
      ContainsSubstring("\n  bf16: auto selected ") && !ContainsSubstring("\n    one-shot "));
  std::vector<std::string> verbose = choose;
  verbose.emplace_back("--verbose");
  CHECK_THAT(output_of(equarx_sim(on_small_example("run", verbose))),
             ContainsSubstring("\n  bf16: auto selected ") &&
                 ContainsSubstring("\n    one-shot ") &&
                 ContainsSubstring("\n    halving-doubling "));
  std::vector<std::string> as_json = choose;
  as_json.emplace_back("--json");
  const json one = json::parse(output_of(equarx_sim(on_small_example("run", as_json))))["runs"][0];
  CHECK(one["candidates"].size() == 6);
  CHECK(one["algorithm"] != "auto");
}

TEST_CASE("a link that fails is a result, not an error") {
  const std::vector<std::string> fault = {
      "--set", R"j(/faults={"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "2 us"}]})j"};
  const std::string table = output_of(equarx_sim(on_small_example("run", fault)));
  CHECK_THAT(table, ContainsSubstring("fails at ") && ContainsSubstring("did not arrive") &&
                        ContainsSubstring("is down"));
  std::vector<std::string> as_json = fault;
  as_json.emplace_back("--json");
  const json one = json::parse(output_of(equarx_sim(on_small_example("run", as_json))))["runs"][0];
  CHECK(one["time_s"].is_null());
  CHECK(one["failure"]["time_s"].get<double>() >= 2e-6);
}

TEST_CASE("the output of show with faults runs to the same result") {
  const std::vector<std::string> changes = {
      "--set", R"j(/faults={"links": [{"between": ["(0,0)", "(0,1)"], "bandwidth_factor": 0.5}]})j",
      "--set", "/collective=all-gather",
      "--set", R"(/collectives=[{"algorithm": "torus", "format": "int8", "label": "bf16"}])"};
  const TemporaryDirectory directory;
  const std::string shown = output_of(equarx_sim(on_small_example("show", changes)));
  std::vector<std::string> as_json = changes;
  as_json.emplace_back("--json");
  CHECK(output_of(equarx_sim({"run", directory.write("shown.json", shown), "--json"})) ==
        output_of(equarx_sim(on_small_example("run", as_json))));
}

}  // namespace
}  // namespace equarx::testing::collectives_test
