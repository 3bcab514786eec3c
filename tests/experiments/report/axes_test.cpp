#include "experiments/report/axes.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::report::axes_test {
namespace {

/// One row per configuration, without axes.
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

TEST_CASE("only settings that differ between configurations become axes") {
  ReportResults results = results_of({{{"hardware", "a"}, {"tensor", {{"bytes", "1 MiB"}}}},
                                      {{"hardware", "a"}, {"tensor", {{"bytes", "2 MiB"}}}}});
  complete_axes(results);
  CHECK(results.rows[0].axes == input::Json{{"/tensor/bytes", "1 MiB"}});
  CHECK(results.rows[1].axes == input::Json{{"/tensor/bytes", "2 MiB"}});
}

TEST_CASE("settings of collectives do not become axes") {
  ReportResults results = results_of({{{"baseline", "x"}, {"collectives", {{{"label", "x"}}}}},
                                      {{"baseline", "y"}, {"collectives", {{{"label", "y"}}}}}});
  complete_axes(results);
  for (const ReportRow& row : results.rows) CHECK(row.axes->empty());
}

TEST_CASE("an axis of one row becomes an axis of all rows whose configuration has it") {
  ReportResults results = results_of({{{"n", 1}}, {{"n", 2}}, {{"m", 3}}});
  results.rows[0].axes = input::Json{{"/n", 1}};
  complete_axes(results);
  CHECK((*results.rows[1].axes)["/n"] == 2);
  CHECK_FALSE(results.rows[2].axes->contains("/n"));
}

/// Two runs of one configuration with these axes: "bf16" and another.
ReportResults pair_with_axes(const std::string& label, const input::Json& axes) {
  ReportResults results = results_of(
      {{{"n", 1}, {"collectives", {{{"label", "bf16"}}, {{"label", label}, {"format", "int4"}}}}}});
  results.rows.push_back(results.rows[0]);
  for (ReportRow& row : results.rows) row.axes = axes;
  results.rows[0].run = input::Json{{"label", "bf16"}};
  results.rows[1].run = input::Json{{"label", label}};
  complete_axes(results);
  return results;
}

TEST_CASE("an axis of malformed collectives is kept") {
  ReportResults results = results_of({{{"collectives", {"q", true, 1}}}});
  results.rows[0].axes = input::Json{{"/collectives/q/format", "int4"}};
  results.rows[0].run = input::Json{{"label", "q"}};
  complete_axes(results);
  CHECK(results.rows[0].axes->contains("/collectives/q/format"));
}

TEST_CASE("an axis of one collective is dropped from the others") {
  for (const std::string pointer : {"/collectives/q/format", "/collectives/1/format"}) {
    CAPTURE(pointer);
    const input::Json axes = {{"/n", 1}, {pointer, "int4"}};
    const ReportResults results = pair_with_axes("q", axes);
    CHECK(results.rows[0].axes == input::Json{{"/n", 1}});
    CHECK(results.rows[1].axes == axes);
  }
}

TEST_CASE("a collective renamed by an axis is found by either label") {
  const input::Json axes = {{"/collectives/q/format", "int4"},
                            {"/collectives/q/label", "four bits"}};
  const ReportResults results = pair_with_axes("four bits", axes);
  CHECK(results.rows[0].axes->empty());
  CHECK(results.rows[1].axes == axes);
}

TEST_CASE(
    "an axis of an unknown collective stays with all rows, and so do axes of failed "
    "points") {
  const input::Json axes = {{"/collectives/unknown/format", "int4"}};
  CHECK(pair_with_axes("q", axes).rows[0].axes == axes);
  ReportResults failed = results_of({{{"collectives", {{{"label", "q"}}}}}});
  failed.rows[0].axes = input::Json{{"/collectives/q/format", "int4"}};
  complete_axes(failed);
  CHECK_FALSE(failed.rows[0].axes->empty());
}

TEST_CASE("rows with equal axes get further axes where their configurations differ") {
  ReportResults results = results_of({{{"n", 1}, {"hardware", "a"}},
                                      {{"n", 1}, {"hardware", "b"}},
                                      {{"n", 2}, {"hardware", "b"}, {"other", 1}}});
  for (std::size_t i = 0; i < 3; ++i)
    results.rows[i].axes = input::Json{{"/n", (*results.sources[i].config)["n"]}};
  complete_axes(results);
  CHECK(results.rows[0].axes == input::Json{{"/n", 1}, {"/hardware", "a"}});
  CHECK(results.rows[1].axes == input::Json{{"/n", 1}, {"/hardware", "b"}});
  CHECK(results.rows[2].axes == input::Json{{"/n", 2}, {"/hardware", "b"}});
}

TEST_CASE("values are formatted as text") {
  using input::Json;
  CHECK(in_words(Json{{"mesh", "3x3"}}) == "mesh 3x3");
  CHECK(in_words(Json{{"graph", "g.json"}, {"n", {1, 2}}}) == "graph g.json, n 1 x 2");
  CHECK(in_words(Json::array({512, 1024})) == "512 x 1024");
  CHECK(in_words(Json::array({true, "a", 3})) == "true, a, 3");
  CHECK(in_words(Json::array({Json{{"link", 3}}, Json{{"chip", 4}}})) == "link 3, chip 4");
  CHECK(in_words(Json::object()) == "{}");
  CHECK(in_words(Json::array()) == "[]");
  CHECK(in_words("text") == "text");
  CHECK(in_words(nullptr) == "null");
}

}  // namespace
}  // namespace equarx::report::axes_test
