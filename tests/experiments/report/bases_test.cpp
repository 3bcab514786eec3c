#include "experiments/report/bases.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::report::bases_test {
namespace {

input::Json config_of(const std::string& hardware, int bytes, const std::string& format) {
  return {{"hardware", hardware},
          {"tensor", {{"bytes", bytes}}},
          {"collectives",
           {{{"label", "plain"}, {"format", "bf16"}}, {{"label", "q"}, {"format", format}}}}};
}

/// Adds a row of a sweep over /tensor/bytes.
void add(ReportResults& results, const std::string& base, const input::Json& config) {
  results.sources.push_back({.version = "1", .key = "k", .base = base, .config = config});
  ReportRow row;
  row.source = results.sources.size() - 1;
  row.axes = config.is_null() ? input::Json::object()
                              : input::Json{{"/tensor/bytes", config["tensor"]["bytes"]}};
  results.rows.push_back(row);
}

TEST_CASE("differences of bases become axes, except for keys varied by axes") {
  ReportResults results;
  add(results, "old", config_of("tpu-v5e", 1, "int8"));
  add(results, "old", config_of("tpu-v5e", 2, "int8"));
  add(results, "new", config_of("tpu-v6e", 3, "int8"));  // no value of the axis in common
  add(results, "new", config_of("tpu-v6e", 4, "int8"));
  add(results, "old", {});  // it failed
  add_axes_of_bases(results);
  CHECK(results.rows[0].axes == input::Json{{"/tensor/bytes", 1}, {"/hardware", "tpu-v5e"}});
  CHECK(results.rows[3].axes == input::Json{{"/tensor/bytes", 4}, {"/hardware", "tpu-v6e"}});
  CHECK(results.rows[4].axes == input::Json{{"/hardware", "tpu-v5e"}});
}

TEST_CASE("collectives are compared by label, at any position") {
  ReportResults results;
  input::Json turned = config_of("a", 1, "int4");
  std::swap(turned["collectives"][0], turned["collectives"][1]);
  add(results, "old", config_of("a", 1, "int8"));
  add(results, "new", turned);
  add_axes_of_bases(results);
  CHECK(results.rows[0].axes ==
        input::Json{{"/tensor/bytes", 1}, {"/collectives/q/format", "int8"}});
  CHECK(results.rows[1].axes ==
        input::Json{{"/tensor/bytes", 1}, {"/collectives/q/format", "int4"}});
}

TEST_CASE("a collective of only one base makes no axis") {
  ReportResults results;
  input::Json more = config_of("a", 1, "int8");
  more["collectives"].push_back({{"label", "new"}, {"format", "int4"}});
  add(results, "old", config_of("a", 1, "int8"));
  add(results, "new", more);
  add_axes_of_bases(results);
  for (const ReportRow& row : results.rows) CHECK(row.axes == input::Json{{"/tensor/bytes", 1}});
}

TEST_CASE("a key of only one base is an axis of its rows only") {
  ReportResults results;
  input::Json more = config_of("a", 1, "int8");
  more["faults"] = {{"slow", 2}};
  add(results, "old", config_of("a", 1, "int8"));
  add(results, "new", more);
  add_axes_of_bases(results);
  CHECK_FALSE(results.rows[0].axes->contains("/faults/slow"));
  CHECK((*results.rows[1].axes)["/faults/slow"] == 2);
}

TEST_CASE("a key that became an axis stays one column") {
  ReportResults results;
  add(results, "old", config_of("a", 1, "int8"));
  add(results, "new", config_of("b", 1, "int8"));
  (*results.rows[1].axes)["/hardware"] = "b";
  add_axes_of_bases(results);
  CHECK_FALSE(results.rows[0].axes->contains("/hardware"));  // added by complete_axes()
}

}  // namespace
}  // namespace equarx::report::bases_test
