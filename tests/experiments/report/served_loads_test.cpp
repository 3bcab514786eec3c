#include "experiments/report/served_loads.hpp"

#include <algorithm>
#include <string>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/capacity/report.hpp"
#include "experiments/report/columns.hpp"
#include "experiments/report/results.hpp"
#include "experiments/serve/metrics.hpp"
#include "experiments/serve/serve.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"
#include "tests/support/served.hpp"

namespace equarx::report::served_loads_test {
namespace {

using input::Json;
using testing::TemporaryFile;

Json load_at(const TemporaryFile& model, double rate) {
  Json config = testing::served_config(model.path(), "1x1");
  config["serving"]["load"]["requests_per_s"] = rate;
  return serve::to_json(serve::serve(config::read_serving(config), {}), true);
}

Json small_plan() {
  capacity::Request request = capacity::testing::small_request();
  request.sizes = {1};
  request.precisions = {"bf16", "zeroquant", "fp8"};
  return capacity::to_json(capacity::plan(request, {}));
}

ReportResults read(const Json& json) {
  const TemporaryFile file(json.dump(2));
  return read_results(std::vector<std::string>{file.path()});
}

const ReportColumn* column(const std::vector<ReportColumn>& columns, const std::string& key) {
  const auto found = std::ranges::find(columns, key, &ReportColumn::key);
  return found == columns.end() ? nullptr : &*found;
}

TEST_CASE("loads are rows with their latencies, and the rate as axis") {
  const TemporaryFile model(testing::tiny_model().dump());
  const TemporaryFile one(load_at(model, 20.0).dump(2));
  const TemporaryFile two(load_at(model, 50.0).dump(2));
  const ReportResults results = read_results(std::vector<std::string>{one.path(), two.path()});
  REQUIRE(results.rows.size() == 2);
  CHECK(results.rows[1].axes->at("/serving/load/requests_per_s") == 50.0);
  const std::vector<ReportColumn> columns = make_columns(results);
  const ReportColumn* const ttft = column(columns, "ttft/p99_s");
  REQUIRE(ttft != nullptr);
  CHECK(ttft->shown);
  CHECK(ttft->title == "TTFT, 99 %");
  CHECK(ttft->kind == ColumnKind::time);
  CHECK(column(columns, "requests_per_s")->kind == ColumnKind::number);
  CHECK(column(columns, "requests_list") == nullptr);
  CHECK(column(columns, "label")->title == "replica");
  CHECK(results.notes.empty());
}

TEST_CASE("a plan has rows for all loads of candidates, and for what is out") {
  const Json plan = small_plan();
  const ReportResults results = read(plan);
  std::size_t loads = 0;
  for (const Json& one : plan.at("ranked")) loads += one.at("points").size();
  REQUIRE(loads > 0);
  CHECK(results.rows.size() == loads + plan.at("obstacles").size());
  const ReportRow& first = results.rows.front();
  CHECK(first.run->at("label") == "1: 1 x tpu-v6e");
  CHECK(results.rows.back().does_not_fit == "has no fp8 GEMMs");
  CHECK(results.rows.back().axes->at("/serving/precision") == "fp8");
  const Json& config = results.sources[first.source].config;
  CHECK(config::read_serving(config).load.rate == first.run->at("requests_per_s").get<double>());
  const std::vector<ReportColumn> columns = make_columns(results);
  for (const char* const key : {"ttft_s", "tpot_s", "tokens_per_s_per_user",
                                "output_tokens_per_s_per_chip", "does_not_fit"}) {
    CAPTURE(key);
    REQUIRE(column(columns, key) != nullptr);
    CHECK(column(columns, key)->shown);
  }
}

TEST_CASE("the cost of a plan's load falls with its rate") {
  const Json plan = small_plan();
  const Json& best = plan.at("ranked").at(0);
  const std::size_t last = best.at("points").size() - 1;
  const std::vector<Json> points = points_of_plan(plan);
  const auto cost = [&](std::size_t point) {
    return points[point].at("run").at("cost_per_million_output_tokens_usd").get<double>();
  };
  CHECK(cost(last) == Approx(best.at("dollars_per_million_tokens").get<double>()));
  if (last > 0) CHECK(cost(0) > cost(last));
}

TEST_CASE("incomplete plans and loads are refused with their place") {
  Json plan = small_plan();
  plan["ranked"][0]["points"][0].erase("ttft_s");
  CHECK_THROWS_WITH(read(plan), ContainsSubstring("/ranked/0/points/0"));
  const TemporaryFile model(testing::tiny_model().dump());
  Json load = load_at(model, 20.0);
  load.erase("tpot");
  CHECK_THROWS_WITH(read(load), ContainsSubstring("tpot"));
}

}  // namespace
}  // namespace equarx::report::served_loads_test
