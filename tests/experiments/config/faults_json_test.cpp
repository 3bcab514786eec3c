#include "experiments/config/faults_json.hpp"

#include <string>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::faults_json_test {
namespace {

using testing::check_refused;

/// 4 x 4 chips, with faults.
input::Json with_faults(const input::Json& faults) {
  input::Json json = input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"torus": "4x4"}, "tensor": {"bytes": "256 KiB"},
    "collectives": [{"algorithm": "ring"}]})");
  json["faults"] = faults;
  return json;
}

TEST_CASE("a fault without effect survives a round trip") {
  for (const auto& [key, value] :
       {std::pair<std::string, input::Json>{"bandwidth_factor", 1.0}, {"extra_latency", "0 us"}}) {
    const input::Json fault = {{"between", {"(0,0)", "(0,1)"}}, {key, value}};
    const input::Json printed = to_json(read_config(with_faults({{"links", {fault}}})));
    CHECK(printed["faults"]["links"][0]["bandwidth_factor"] == 1.0);
    CHECK(to_json(read_config(printed)) == printed);
  }
}

TEST_CASE("impossible faults are refused with their pointer") {
  const auto refuse = [](const std::string& faults, const std::string& place,
                         const std::string& remedy) {
    CAPTURE(faults);
    check_refused([&] { read_config(with_faults(input::parse_json(faults))); }, place, remedy);
  };
  refuse("[]", "/faults", "expected an object");
  refuse(R"({"link": []})", "/faults/link", "did you mean 'links'?");
  refuse(R"({"links": {}})", "/faults/links", "expected an array");
  refuse(R"({"links": [7]})", "/faults/links/0", "expected an object");
  refuse(R"({"links": [{}]})", "/faults/links/0/between", "is missing");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,1)"]}]})j", "/faults/links/0", "changes nothing");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,2)"], "fails_at": "1 us"}]})j",
         "/faults/links/0/between", "no link joins (0,0) and (0,2)");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,0)"], "fails_at": "1 us"}]})j",
         "/faults/links/0/between", "no link joins");
  refuse(R"j({"links": [{"between": ["(0,0)", "(9,1)"], "fails_at": "1 us"}]})j",
         "/faults/links/0/between/1", "there is no chip '(9,1)'");
  refuse(R"j({"links": [{"between": ["(0,0)"], "fails_at": "1 us"}]})j", "/faults/links/0/between",
         "the names of two chips");
  const auto refuse_link = [&](const std::string& key, const std::string& value,
                               const std::string& remedy) {
    refuse(
        fmt::format(R"j({{"links": [{{"between": ["(0,0)", "(0,1)"], "{}": {}}}]}})j", key, value),
        "/faults/links/0/" + key, remedy);
  };
  refuse_link("bandwidth_factor", "0", R"(like "fails_at": "0 s")");
  refuse_link("bandwidth_factor", "-1", "is not a factor from 1e-09 to");
  refuse_link("bandwidth_factor", "1e300", "is not a factor from 1e-09 to");
  refuse_link("bandwidth_factor", "1e-10", "is not a factor from 1e-09 to");
  refuse_link("bandwidth_factor", R"("0.5")", "number");
  refuse_link("bandwidth_factor", "null", "number");
  refuse_link("extra_latency", "1", "like");
  refuse_link("extra_latency", R"("1 GB")", "is not a unit of a time");
  refuse_link("extra_latency", R"("-1 us")", "negative");
  refuse_link("fails_at", R"("-1 us")", "negative");
  refuse_link("fails_at", R"("nan s")", "like");
  refuse_link("fail_at", R"("1 us")", "did you mean 'fails_at'?");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "1 us"},
                        {"between": ["(0,1)", "(0,0)"], "bandwidth_factor": 0.5}]})j",
         "/faults/links/1", "repeats /faults/links/0");
  refuse(R"j({"chips": [{"chip": "(0,0)"}]})j", "/faults/chips/0/slowdown", "is missing");
  refuse(R"j({"chips": [{"slowdown": 2}]})j", "/faults/chips/0/chip", "is missing");
  refuse(R"j({"chips": [{"chip": "(4,0)", "slowdown": 2}]})j", "/faults/chips/0/chip",
         "there is no chip '(4,0)'");
  refuse(R"j({"chips": [{"chip": ["(0,0)"], "slowdown": 2}]})j", "/faults/chips/0/chip",
         "expected the name of a chip");
  refuse(R"j({"chips": [{"chip": "(0,0)", "slowdown": 0}]})j", "/faults/chips/0/slowdown",
         "0 is not a factor from 1e-09 to");
  refuse(R"j({"chips": [{"chip": "(0,0)", "slowdown": 2}, {"chip": "(0,0)", "slowdown": 3}]})j",
         "/faults/chips/1", "repeats /faults/chips/0");
}

}  // namespace
}  // namespace equarx::config::faults_json_test
