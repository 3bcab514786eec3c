#include "experiments/result/all_metrics.hpp"

#include <set>

#include "experiments/result/run_metrics.hpp"
#include "tests/catch.hpp"

namespace equarx::result::all_metrics_test {
namespace {

template <typename Object>
void check_alike(const Metrics<Object>& metrics) {
  std::set<std::string> keys;
  for (const Metric<Object>& metric : metrics) {
    const MetricInfo& info = metric.info();
    CAPTURE(info.key);
    CHECK(keys.insert(info.key).second);
    CHECK_FALSE(info.meaning.empty());
    const MetricInfo* const known = find_metric(info.key);
    REQUIRE(known != nullptr);
    CHECK(known->unit == info.unit);
    CHECK(known->title == info.title);
    CHECK(known->place == info.place);
    CHECK(known->compared == info.compared);
  }
}

TEST_CASE("keys are distinct, and a key of runs and variants has one unit and one title") {
  check_alike(run_metrics());
  check_alike(variant_metrics());
  check_alike(simulation_metrics());
}

TEST_CASE("a metric of variants alone is found, an unknown one is not") {
  REQUIRE(find_metric("exposed_s") != nullptr);
  CHECK(find_metric("exposed_s")->unit == Unit::time);
  CHECK(find_metric("exposed") == nullptr);
}

}  // namespace
}  // namespace equarx::result::all_metrics_test
