#include "importers/profile/report.hpp"

#include <cmath>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/importers/profile/traces.hpp"

namespace equarx::imports::profile_report_test {
namespace {

using Catch::Matchers::WithinRel;
using input::Json;
using profile::testing::args_of;
using profile::testing::kernel;
using profile::testing::run_of;
using profile::testing::trace_of;

/// AllReduces of 1 MiB of FP32 on four ranks that take 100, 200 and 300 us, the first half
/// hidden, and a message.
ImportedProfile profile_of_sums() {
  const std::string args = args_of("allreduce", 1 << 18, 1 << 18, "Float", 4, "[0, 1, 2, 3]");
  const std::string name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
  const std::string text = trace_of({kernel(name, 0, 100, args), kernel("gemm", 50, 50),
                                     kernel(name, 100, 200, args), kernel(name, 300, 300, args),
                                     kernel("ncclDevKernel_SendRecv(x)", 600, 400,
                                            args_of("send", 64, 64, "Float", 4, "[0, 1, 2, 3]"))},
                                    run_of(0, 4));
  ProgramOptions options;
  options.hardware = "h100";
  options.topology = "switch:4";
  options.formats = {"int8", "fp8-e4m3"};
  return import_profile(
      Profiler::kineto, {"dir/sums.json"}, [&](const std::string&) { return text; }, options);
}

step::StepResult result_of(const ImportedProfile& profile) {
  return step::run_step(step::make_plan(config::read_step_config(profile.program.step)),
                        [](const std::string&) {});
}

TEST_CASE("JSON has recorded times, bus bandwidth and simulated times of a row") {
  const ImportedProfile profile = profile_of_sums();
  const step::StepResult result = result_of(profile);
  const Json json = to_json(profile, result);
  CHECK(json["profile"]["name"] == "sums.json");
  CHECK_THAT(json["profile"]["span_s"].get<double>(), WithinRel(1000e-6, 1e-9));
  CHECK_THAT(json["profile"]["communication_s"].get<double>(), WithinRel(1000e-6, 1e-9));
  CHECK_THAT(json["profile"]["exposed_s"].get<double>(), WithinRel(950e-6, 1e-9));
  REQUIRE(json["collectives"].size() == 2);
  const Json& row = json["collectives"][0];
  CHECK(row["times"] == 3);
  CHECK_THAT(row["recorded"]["median_s"].get<double>(), WithinRel(200e-6, 1e-9));
  // 2 (4 - 1) / 4 times 1 MiB in 200 us
  CHECK_THAT(row["bus_bandwidth"].get<double>(), WithinRel(1.5 * 1048576 / 200e-6, 1e-9));
  CHECK_THAT(row["simulated_s"].get<double>(),
             WithinRel(result.runs[0].groups.at(0).isolated_s, 1e-12));
  CHECK_THAT(row["ratio"].get<double>(),
             WithinRel(row["simulated_s"].get<double>() / 200e-6, 1e-9));
  REQUIRE(row["formats"].size() == 2);
  CHECK(row["formats"][1]["label"] == "fp8-e4m3");
  const Json& message = json["collectives"][1];
  CHECK(message["obstacle"] == "unsupported kind");
  CHECK(message["simulated_s"].is_null());
  CHECK(message["formats"].empty());
}

TEST_CASE("the table has a row per kind, a total, the warning and what is not simulated") {
  const ImportedProfile profile = profile_of_sums();
  const std::string table = to_table(profile, result_of(profile));
  CHECK_THAT(table, ContainsSubstring("sums.json: 4 collectives of 2 kinds recorded on 1 of 4 "
                                      "chips\n") &&
                        ContainsSubstring("1.000 ms of collectives in 1.000 ms; 950.0 us (95 %) "
                                          "exposed") &&
                        ContainsSubstring("Simulated on 4 x h100, switch") &&
                        ContainsSubstring("Warning: times recorded on one chip include waiting") &&
                        ContainsSubstring("  Not simulated: send (1 x): unsupported kind.\n"));
  const std::size_t total = table.find("\n  total");
  REQUIRE(total != std::string::npos);
  // 3 MiB in 3 times the median of 200 us; the message is in no total
  CHECK_THAT(table.substr(total, table.find('\n', total + 1) - total),
             ContainsSubstring("3.000 MiB") && ContainsSubstring("600.0 us"));
}

}  // namespace
}  // namespace equarx::imports::profile_report_test
