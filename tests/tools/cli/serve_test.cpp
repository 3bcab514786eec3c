#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::testing::serve_test {
namespace {

using nlohmann::json;

const std::string kServed =
    std::string(EQUARX_CONFIGS_DIR) + "/experiments/serve_llama3.1_70b_v6e_8.json";

/// A quick load on one chip.
json small_config() {
  return json::parse(R"({
    "hardware": "tpu-v6e", "topology": {"slice": "1x1"},
    "serving": {"model": "llama3.1-8b",
                "load": {"requests_per_s": 4, "requests": 20, "prompt": 200, "output": 10}}
  })");
}

CommandResult serve(const json& config, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"serve", "-"});
  return equarx_sim(more, {.input = config.dump()});
}

/// Checks that serving a changed configuration is refused with a place and a remedy.
void check_value(const std::string& pointer, const json& value, const std::string& place,
                 const std::string& remedy) {
  CAPTURE(pointer, value.dump());
  json config = small_config();
  config[json::json_pointer(pointer)] = value;
  const CommandResult result = serve(config);
  check_refusal(result, "standard input: " + place + ": ");
  check_refusal(result, remedy);
}

TEST_CASE("serve prints a table") {
  const std::string table = output_of(serve(small_config()));
  for (const char* const part : {"llama3.1-8b on 1 x tpu-v6e", "20 requests, 4/s",
                                 "time to first token (TTFT)", "Throughput", "per chip: weights"})
    CHECK_THAT(table, ContainsSubstring(part));
}

TEST_CASE("serve runs the experiment of its page, with keys set on the command line") {
  const json result = json::parse(
      output_of(equarx_sim({"serve", kServed, "--json", "--set", "/serving/load/requests=30",
                            "--set", "/serving/load/requests_per_s=2"})));
  CHECK(result["requests"] == 30);
  CHECK(result["config"]["serving"]["load"]["requests_per_s"] == 2);
  CHECK(result["chips"] == 8);
  CHECK(result["interpolation_error"] <= 0.01);
  CHECK_FALSE(result.contains("requests_list"));
}

TEST_CASE("serve --requests adds the times of every request") {
  const json result = json::parse(output_of(serve(small_config(), {"--json", "--requests"})));
  REQUIRE(result["requests_list"].size() == 20);
  for (const json& request : result["requests_list"])
    CHECK(request["ttft_s"].get<double>() <= request["latency_s"].get<double>());
}

TEST_CASE("serve --resolved prints what runs alike, and resolves to itself") {
  const std::string resolved = output_of(serve(small_config(), {"--resolved"}));
  CHECK(output_of(serve(json::parse(resolved), {"--resolved"})) == resolved);
  CHECK(output_of(serve(json::parse(resolved))) == output_of(serve(small_config())));
}

TEST_CASE("serve --trace writes events of steps and requests") {
  const TemporaryDirectory files;
  const std::string path = (files.path() / "trace.json").string();
  output_of(serve(small_config(), {"--trace", path}));
  const json events = json::parse(content_of(path))["traceEvents"];
  std::size_t requests = 0;
  for (const json& event : events)
    if (event["ph"] == "X" && event["name"] == "to first token") ++requests;
  CHECK(requests == 20);
}

TEST_CASE("serve reads a trace of requests, and does not overwrite it") {
  const TemporaryDirectory files;
  const std::string trace = files.write("requests.csv", "arrival_s,prompt,output\n0,10,2\n1,9,3\n");
  json config = small_config();
  config["serving"]["load"] = {{"trace", trace}};
  CHECK(json::parse(output_of(serve(config, {"--json"})))["requests"] == 2);
  check_refusal(serve(config, {"--trace", trace}), trace);
  CHECK(content_of(trace).starts_with("arrival_s"));
}

TEST_CASE("serve refuses invalid traces of requests with their line") {
  const TemporaryDirectory files;
  const auto check_trace = [&](const std::string& text, const std::string& part) {
    json config = small_config();
    config["serving"]["load"] = {{"trace", files.write("requests.csv", text)}};
    check_refusal(serve(config), part);
  };
  check_trace("arrival_s,prompt,output\n0,10,2\n-1,9,3\n",
              "requests.csv, line 3: the arrival -1 is negative");
  check_trace("arrival_s,prompt\n0,10\n",
              "requests.csv, line 1: there is no column of the output; name it \"output\"");
  check_trace("arrival_s,prompt,output\n", "lists no request");
  json config = small_config();
  config["serving"]["load"] = {{"trace", "/no/such.csv"}};
  check_refusal(serve(config), "/no/such.csv");
}

TEST_CASE("serve refuses invalid configurations with place and remedy") {
  check_value("/serving/load", json::object(), "/serving/load", "add \"requests_per_s\"");
  check_value("/serving/load/concurrency", 3, "/serving/load", "concurrency");
  check_value("/serving/load/prompt", 200000, "/serving/load", "takes up to 131072");
  check_value("/serving/load/rate", 4, "/serving/load/rate", "requests_per_s");
  check_value("/serving/phase", "decode", "/serving/phase", "remove it");
  check_value("/serving/batch", 4, "/serving/batch", "remove it");
  check_value("/serving/model", "llama3.1-405b", "/serving/model", "use more chips");
  check_value("/workload", json::object(), "/workload", "");
  check_value("/serving/kv", "int9-row", "/serving/kv", "");
}

TEST_CASE("serve refuses a request whose KV cache never fits") {
  json config = small_config();
  config["serving"]["load"] = {
      {"requests_per_s", 1}, {"requests", 2}, {"prompt", 120000}, {"output", 10000}};
  config["serving"]["attention"] = {{"method", "fused"}};
  config["serving"]["scheduler"] = {{"memory", 0.6}};
  check_refusal(serve(config),
                "standard input: /serving/load: has a request of 120000 + 10000 "
                "tokens, whose KV cache of");
}

TEST_CASE("validate checks served models, and that all requests fit") {
  CHECK(output_of(equarx_sim({"validate", "-"}, {.input = small_config().dump()})) ==
        "standard input: valid\n");
  json config = small_config();
  config["serving"]["load"]["prompt"] = 200000;
  check_refusal(equarx_sim({"validate", "-"}, {.input = config.dump()}),
                "/serving/load: has a request of 200000 + 10 tokens");
}

TEST_CASE("serve and run refer to each other") {
  const CommandResult run = equarx_sim({"run", "-"}, {.input = small_config().dump()});
  check_refusal(run, "equarx-sim serve");
  json config = small_config();
  config.erase("serving");
  check_refusal(serve(config), "/serving");
}

}  // namespace
}  // namespace equarx::testing::serve_test
