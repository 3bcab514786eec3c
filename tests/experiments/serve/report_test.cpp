#include "experiments/serve/report.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/support/served.hpp"

namespace equarx::serve::report_test {
namespace {

using testing::served_config;
using testing::TemporaryFile;
using testing::tiny_model;

std::string table(const input::Json& json) {
  return to_table(serve(config::read_serving(json), {}));
}

TEST_CASE("the table has the machine, the load, latencies and memory") {
  const TemporaryFile model(tiny_model().dump());
  const std::string text = table(served_config(model.path(), "2x2"));
  for (const char* const part :
       {"tiny on 4 x tpu-v5e, slice 2x2\n", "40 requests, 50/s\n", "time to first token (TTFT)",
        "inter-token latency (ITL)", "Throughput", "decoding ", "exposed communication",
        "0 preemptions", "per chip: weights", "others are interpolated, within"})
    CHECK_THAT(text, ContainsSubstring(part));
  CHECK(text.find("Overload") == std::string::npos);
}

TEST_CASE("intervals are in the table, with their origin") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "1x1");
  CHECK(table(json).find("68 %") == std::string::npos);
  json["uncertainty"] = {{"samples", 10}};
  const std::string text = table(json);
  CHECK_THAT(text, ContainsSubstring("68 % interval"));
  CHECK_THAT(text, ContainsSubstring("the error of prefills and decoding steps, n = 10\n"));
  CHECK_THAT(text, ContainsSubstring("Measured    latencies and rates of served loads: "));
}

TEST_CASE("one chip has no simulated steps in the table") {
  const TemporaryFile model(tiny_model().dump());
  CHECK(table(served_config(model.path(), "1x1")).find("Simulated") == std::string::npos);
}

TEST_CASE("an overload is in the table, with what can be served") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "1x1");
  json["serving"]["load"]["requests_per_s"] = 1e6;
  CHECK_THAT(table(json), ContainsSubstring("Overload    1e+06 requests/s arrive, but at most"));
}

TEST_CASE("replicas, concurrency and a prefill pool are in the table") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "2x2");
  json["mesh"] = {{"data", 2}, {"tensor", 2}};
  json["serving"]["load"] = {{"concurrency", 4}, {"requests", 20}};
  json["serving"]["prefill"] = {
      {"hardware", "tpu-v5e"}, {"topology", {{"slice", "1x1"}}}, {"bandwidth", "1 GB/s"}};
  const std::string text = table(json);
  CHECK_THAT(text, ContainsSubstring("2 x tpu-v5e, slice 2x2, 2 replicas\n"));
  CHECK_THAT(text, ContainsSubstring("Prefill     on 1 x tpu-v5e"));
  CHECK_THAT(text, ContainsSubstring("20 requests, 4 in flight\n"));
  CHECK_THAT(text, ContainsSubstring("KV transfers"));
}

}  // namespace
}  // namespace equarx::serve::report_test
