#include "experiments/report/pictures.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/reports.hpp"

namespace equarx::report::pictures_test {
namespace {

/// Row of a run on this number of chips, with or without utilisation of links.
void add_row(ReportResults& results, const std::string& slice, bool with_links) {
  ReportSource source;
  source.config = testing::synthetic_config("1 MiB", slice, 1);
  results.sources.push_back(source);
  ReportRow row;
  row.source = results.sources.size() - 1;
  row.run = input::Json{{"label", "int8"}};
  if (with_links)
    for (const auto& [from, to] : {std::pair("(0,0)", "(0,1)"), std::pair("(0,1)", "(1,1)"),
                                   std::pair("(1,1)", "(1,0)"), std::pair("(1,0)", "(0,0)")}) {
      (*row.run)["links"].push_back({{"from", from}, {"to", to}, {"utilisation", 0.75}});
      (*row.run)["links"].push_back({{"from", to}, {"to", from}, {"utilisation", 0.25}});
    }
  results.rows.push_back(row);
}

TEST_CASE("a topology is drawn once, and once for every run with links") {
  ReportResults results;
  add_row(results, "2x2", false);
  add_row(results, "2x2", false);
  add_row(results, "2x2", true);
  const std::vector<ReportPicture> pictures = make_pictures(results, 10);
  REQUIRE(pictures.size() == 2);
  CHECK(pictures[0].title == "slice 2x2");
  CHECK_FALSE(pictures[0].row);
  CHECK(pictures[1].title == "slice 2x2, int8");
  CHECK(pictures[1].row == 2U);
  for (const ReportPicture& picture : pictures)
    CHECK(picture.sources == std::vector<std::size_t>{0, 1, 2});
  for (const ReportPicture& picture : pictures) CHECK_THAT(picture.svg, ContainsSubstring("<svg"));
  CHECK(results.notes.empty());
}

TEST_CASE("variants of a step have pictures of streams, and the step one of its topology") {
  ReportResults results;
  const input::Json step = testing::synthetic_step();
  results.sources.push_back({.config = step["config"]});
  for (const input::Json& variant : step["variants"]) results.rows.push_back({.run = variant});
  const std::vector<ReportPicture> pictures = make_pictures(results, 10);
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[0].title == "streams of bf16");
  CHECK(pictures[0].row == 0U);
  CHECK(pictures[1].title == "slice 2x2");
  CHECK_FALSE(pictures[1].row);
  CHECK(pictures[1].sources == std::vector<std::size_t>{0});
  CHECK(pictures[2].title == "streams of int8");
  CHECK(pictures[2].row == 1U);
  CHECK(make_pictures(results, 1).size() == 1);
  (*results.rows[0].run)["tasks"] = input::Json::array({{{"name", "of another program"}}});
  CHECK(make_pictures(results, 10).size() == 2);
}

TEST_CASE("links in an unknown format are left out of the picture") {
  const input::Json strange = input::Json::parse(
      R"json([[{"from": "(0,0)", "to": {}}], [{"from": 1, "to": "(0,0)"}], [{"from": "(0,0)"}],
          [{"from": "(0,0)", "to": "(1,0)", "utilisation": "much"}], [1], "links", 2, null])json");
  for (const input::Json& links : strange) {
    ReportResults results;
    add_row(results, "2x2", false);
    (*results.rows[0].run)["links"] = links;
    const std::vector<ReportPicture> pictures = make_pictures(results, 1);
    REQUIRE(pictures.size() == 1);
    CHECK_FALSE(pictures[0].row);
  }
}

TEST_CASE("pictures beyond the limit are left out, with a note") {
  ReportResults results;
  for (const std::string slice : {"2x2", "4x2", "4x4"}) add_row(results, slice, false);
  CHECK(make_pictures(results, 1).size() == 1);
  REQUIRE(results.notes.size() == 1);
  CHECK_THAT(results.notes[0], ContainsSubstring("2 more runs have no picture"));
}

TEST_CASE("a chip with a changed parameter has a picture, and its own parameters") {
  ReportResults results;
  add_row(results, "2x2", false);
  (*results.sources[0].config)["hardware"] = {{"based_on", "tpu-v5e"}, {"hop_latency", "1 us"}};
  CHECK(make_pictures(results, 1).size() == 1);
  fill_in_parameters(results);
  const input::Json& parameters = results.sources[0].parameters;
  CHECK(parameters["hop_latency"]["value"] == "1 us");
  CHECK(parameters["hop_latency"]["class"] == "assumed");
}

TEST_CASE("parameters are filled in for known chips only") {
  ReportResults results;
  add_row(results, "2x2", false);
  add_row(results, "2x2", false);
  (*results.sources[1].config)["hardware"] = "no-such-chip";
  fill_in_parameters(results);
  CHECK(results.sources[0].parameters->contains("link_bandwidth"));
  CHECK(results.sources[1].parameters->is_null());
}

}  // namespace
}  // namespace equarx::report::pictures_test
