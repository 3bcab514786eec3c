#include "experiments/serve/trace.hpp"

#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/support/served.hpp"

namespace equarx::serve::trace_test {
namespace {

using testing::served_config;
using testing::TemporaryFile;
using testing::tiny_model;

input::Json traced(const ServeResult& result) {
  std::ostringstream out;
  write_trace(out, result);
  return input::parse_json(out.str());
}

TEST_CASE("a trace has all steps and requests, which do not overlap on a track") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "2x2");
  json["mesh"] = {{"data", 2}, {"tensor", 2}};
  const ServeResult result = serve(config::read_serving(json), {.steps = true});
  std::map<std::string, std::size_t> slices;
  std::map<std::string, std::size_t> tokens;
  std::map<std::pair<int, int>, double> ended;
  const input::Json trace = traced(result);
  for (const input::Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const std::string category = event["cat"];
    ++slices[category];
    const auto track = std::pair(event["pid"].get<int>(), event["tid"].get<int>());
    CHECK(event["ts"].get<double>() >= ended[track] - 1e-3);
    ended[track] = event["ts"].get<double>() + event["dur"].get<double>();
    if (category != "step") continue;
    tokens["prompt"] += event["args"]["prompt_tokens"].get<std::size_t>();
    tokens["decode"] += event["args"]["decode_tokens"].get<std::size_t>();
  }
  CHECK(slices["step"] == result.outcome.totals.steps);
  CHECK(slices["request"] == 2 * 40);
  CHECK(tokens["prompt"] == 40 * 100);
  CHECK(tokens["decode"] == 40 * 19);
}

TEST_CASE("replicas of both pools have names in a trace") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "1x1");
  json["serving"]["prefill"] = {{"bandwidth", "1 GB/s"}};
  const input::Json trace = traced(serve(config::read_serving(json), {.steps = true}));
  std::string names;
  for (const input::Json& event : trace["traceEvents"])
    if (event["name"] == "process_name") names += event["args"]["name"].get<std::string>() + "; ";
  CHECK(names == "replica 0; prefill replica 0; requests; ");
}

}  // namespace
}  // namespace equarx::serve::trace_test
