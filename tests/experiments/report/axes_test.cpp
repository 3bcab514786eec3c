#include "experiments/report/axes.hpp"

#include "experiments/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::report {
namespace {

/// A row for each configuration, without axes.
ReportResults results_of(std::initializer_list<input::Json> configs) {
  ReportResults results;
  for (const input::Json& config : configs) {
    results.sources.push_back({.version = "1", .key = "k", .config = config});
    ReportRow row;
    row.source = results.sources.size() - 1;
    row.axes = input::Json::object();
    results.rows.push_back(row);
  }
  return results;
}

TEST_CASE("what differs between configurations becomes an axis, what does not is none") {
  ReportResults results = results_of({{{"hardware", "a"}, {"tensor", {{"bytes", "1 MiB"}}}},
                                      {{"hardware", "a"}, {"tensor", {{"bytes", "2 MiB"}}}}});
  complete_axes(results);
  CHECK(results.rows[0].axes == input::Json{{"/tensor/bytes", "1 MiB"}});
  CHECK(results.rows[1].axes == input::Json{{"/tensor/bytes", "2 MiB"}});
}

TEST_CASE("how collectives are set tells no experiments apart") {
  ReportResults results = results_of({{{"baseline", "x"}, {"collectives", {{{"label", "x"}}}}},
                                      {{"baseline", "y"}, {"collectives", {{{"label", "y"}}}}}});
  complete_axes(results);
  for (const ReportRow& row : results.rows) CHECK(row.axes->empty());
}

TEST_CASE("an axis of one row is one of all whose configuration has it") {
  ReportResults results = results_of({{{"n", 1}}, {{"n", 2}}, {{"m", 3}}});
  results.rows[0].axes = input::Json{{"/n", 1}};
  complete_axes(results);
  CHECK((*results.rows[1].axes)["/n"] == 2);
  CHECK_FALSE(results.rows[2].axes->contains("/n"));
}

}  // namespace
}  // namespace equarx::report
