#include "experiments/report/columns.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/json_values.hpp"
#include "tests/support/reports.hpp"

namespace equarx::report::columns_test {
namespace {

using testing::boxed;

/// Rows of one source with these axes and runs.
ReportResults results_of(const std::vector<std::pair<input::Json, input::Json>>& rows) {
  ReportResults results{.sources = {{.version = "0.1.0"}}, .rows = {}, .notes = {}};
  for (const auto& [axes, run] : rows)
    results.rows.push_back({.file = "f", .axes = axes, .run = run});
  return results;
}

const ReportColumn* find(const std::vector<ReportColumn>& columns, const std::string& key) {
  const auto found = std::ranges::find(columns, key, &ReportColumn::key);
  return found == columns.end() ? nullptr : &*found;
}

ReportColumn axis_of(const std::vector<input::Json>& values) {
  std::vector<std::pair<input::Json, input::Json>> rows;
  for (const input::Json& value : values)
    rows.emplace_back(input::Json{{"/a", value}}, input::Json{{"label", "x"}});
  return make_columns(results_of(rows)).front();
}

TEST_CASE("a run's numbers and texts become columns, nested ones by their path") {
  const auto columns = make_columns(
      results_of({{input::Json::object(), testing::synthetic_run(true, 1 << 20, 8, 8)}}));
  const auto kind_of = [&](const std::string& key) {
    const ReportColumn* column = find(columns, key);
    CAPTURE(key);
    REQUIRE(column != nullptr);
    return column->kind;
  };
  CHECK(columns.front().key == "label");
  CHECK(kind_of("label") == ColumnKind::text);
  CHECK(kind_of("time_s") == ColumnKind::time);
  CHECK(kind_of("speedup") == ColumnKind::ratio);
  CHECK(kind_of("wire_bytes_per_link") == ColumnKind::bytes);
  CHECK(kind_of("breakdown/idle_s") == ColumnKind::time);
  CHECK(kind_of("numerics/sqnr_db") == ColumnKind::decibel);
  CHECK(kind_of("numerics/clipped_fraction") == ColumnKind::fraction);
  CHECK(kind_of("numerics/elements") == ColumnKind::number);
  CHECK(kind_of("numerics/ranks_identical") == ColumnKind::text);
  CHECK(find(columns, "numerics/ranks_identical")->cells[0] == "yes");
  CHECK(find(columns, "numerics/clipped_fraction")->title == "clipped fraction");
  CHECK(find(columns, "time_s")->shown);
  CHECK_FALSE(find(columns, "numerics/elements")->shown);
  CHECK(find(columns, "error") == nullptr);
  CHECK(find(columns, "version") == nullptr);
}

TEST_CASE("intervals follow their figures, and are shown if any row has them") {
  const input::Json interval = {{"samples", 200},
                                {"time_low_s", 0.9},
                                {"time_high_s", 1.2},
                                {"speedup_low", 1.5},
                                {"speedup_high", 1.75}};
  const input::Json without = {{"label", "a"}, {"time_s", 1.0}, {"speedup", 1.0}};
  input::Json with = without;
  with["uncertainty"] = interval;
  const auto columns =
      make_columns(results_of({{input::Json::object(), without}, {input::Json::object(), with}}));
  const std::vector<std::string> expected = {"label",
                                             "time_s",
                                             "uncertainty/time_low_s",
                                             "uncertainty/time_high_s",
                                             "speedup",
                                             "uncertainty/speedup_low",
                                             "uncertainty/speedup_high",
                                             "uncertainty/samples"};
  REQUIRE(columns.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(columns[i].key == expected[i]);
    CHECK(columns[i].shown == (expected[i] != "uncertainty/samples"));
  }
  CHECK(columns[2].kind == ColumnKind::time);
  CHECK(columns[2].cells == boxed({nullptr, 0.9}));
  CHECK(columns[6].kind == ColumnKind::ratio);
  CHECK(columns[6].cells == boxed({nullptr, 1.75}));
  CHECK(make_columns(results_of({{input::Json::object(), without}})).size() == 3);
}

TEST_CASE("missing values are null in their row, and lists are left out") {
  const auto columns = make_columns(results_of(
      {{input::Json::object(),
        {{"label", "a"}, {"time_s", nullptr}, {"numerics", nullptr}, {"links", {1}}}},
       {input::Json::object(),
        {{"label", "b"}, {"time_s", 2.0}, {"numerics", {{"mse", 0.5}}}, {"new_db", 3}}}}));
  CHECK(find(columns, "time_s")->cells == boxed({nullptr, 2.0}));
  CHECK(find(columns, "numerics/mse")->cells == boxed({nullptr, 0.5}));
  CHECK(find(columns, "new_db")->kind == ColumnKind::decibel);
  CHECK(find(columns, "new_db")->title == "new");
  CHECK(find(columns, "links") == nullptr);
  CHECK(find(columns, "numerics") == nullptr);
}

TEST_CASE("settings of a collective, and a baseline flag, are joined to its runs") {
  ReportResults results = results_of({{input::Json::object(), {{"label", "bf16"}}},
                                      {input::Json::object(), {{"label", "q"}}},
                                      {input::Json::object(), {{"label", "of another file"}}}});
  results.sources[0].config = input::Json{
      {"baseline", "bf16"},
      {"collectives",
       {{{"label", "bf16"}, {"format", "bf16"}},
        {{"label", "q"}, {"format", "int8"}, {"quantize", "all-gather"}, {"minishards", 4}}}}};
  const auto columns = make_columns(results);
  CHECK(find(columns, "format")->cells == boxed({"bf16", "int8", nullptr}));
  CHECK(find(columns, "quantize")->cells == boxed({nullptr, "all-gather", nullptr}));
  CHECK(find(columns, "quantize")->title == "phases quantized");
  CHECK(find(columns, "is_baseline")->cells == boxed({"yes", "no", "no"}));
  CHECK_FALSE(find(columns, "is_baseline")->shown);
  CHECK(find(columns, "minishards") == nullptr);
  results.sources[0].config = input::Json(nullptr);
  CHECK(find(make_columns(results), "format") == nullptr);
}

TEST_CASE("the time of a workload is shown with its compute and communication") {
  const auto columns = make_columns(results_of({{input::Json::object(),
                                                 {{"label", "a"},
                                                  {"time_s", 3.0},
                                                  {"compute_s", 2.0},
                                                  {"matrix_s", 1.5},
                                                  {"exposed_s", 1.0}}}}));
  for (const char* key : {"compute_s", "exposed_s"}) CHECK(find(columns, key)->shown);
  CHECK(find(columns, "compute_s")->title == "compute");
  CHECK(find(columns, "exposed_s")->title == "exposed");
  CHECK_FALSE(find(columns, "matrix_s")->shown);
}

TEST_CASE("axes for label or format of a collective are hidden, unless points failed") {
  const input::Json axes = {{"/collectives/q/format", "int8"},
                            {"/collectives/q/label", "q"},
                            {"/collectives/q/microshards", 2},
                            {"/tensor/format", "x"}};
  ReportResults results = results_of({{axes, {{"label", "q"}}}, {axes, nullptr}});
  const auto shown = [&](const std::string& key) {
    return find(make_columns(results), key)->shown;
  };
  CHECK_FALSE(shown("/collectives/q/format"));
  CHECK_FALSE(shown("/collectives/q/label"));
  CHECK(shown("/collectives/q/microshards"));
  CHECK(shown("/tensor/format"));
  results.rows[1].error = "too small";
  CHECK(shown("/collectives/q/format"));
}

TEST_CASE("an axis of objects or lists is formatted as text") {
  CHECK(axis_of({{{"mesh", "3x3"}}, {{"slice", "4x2"}}}).cells == boxed({"mesh 3x3", "slice 4x2"}));
  CHECK(axis_of({{512, 512}, {7, 3}}).cells == boxed({"512 x 512", "7 x 3"}));
}

TEST_CASE("an axis with an empty object shows the defaults that it stands for") {
  const input::Json on = {{"/uncertainty", input::Json::object()}};
  ReportResults results = results_of({{on, {{"label", "x"}}}});
  const auto cell = [&] { return make_columns(results).front().cells.front(); };
  CHECK(cell() == input::Json("on"));
  results.sources[0].config = input::Json{{"uncertainty", {{"samples", 200}, {"seed", 1}}}};
  CHECK(cell() == input::Json("samples 200, seed 1"));
  CHECK(make_columns(results).front().title == "uncertainty");
  results.sources[0].config = input::Json{{"uncertainty", input::Json::object()}};
  CHECK(cell() == input::Json("on"));
}

TEST_CASE("axes come first, and quantities are numbers with their original text") {
  const ReportColumn bytes = axis_of({"1 MiB", nullptr, "512 KiB"});
  CHECK(bytes.axis);
  CHECK(bytes.title == "a");
  CHECK(bytes.kind == ColumnKind::bytes);
  CHECK(bytes.cells == boxed({1048576.0, nullptr, 524288.0}));
  CHECK(bytes.texts == std::vector<std::string>{"1 MiB", "", "512 KiB"});
  CHECK(axis_of({"45 GB/s", "1 MB/s"}).kind == ColumnKind::bandwidth);
  CHECK(axis_of({"1 us", "2 ms"}).kind == ColumnKind::time);
  CHECK(axis_of({1, 2.5}).kind == ColumnKind::number);
  CHECK(axis_of({"4x2", "4x4"}).kind == ColumnKind::text);
}

TEST_CASE("an axis of mixed values is an axis of texts") {
  CHECK(axis_of({"1 us", "1 MiB"}).kind == ColumnKind::text);
  const ReportColumn mixed = axis_of({"auto", 8});
  CHECK(mixed.kind == ColumnKind::text);
  CHECK(mixed.cells == boxed({"auto", "8"}));
}

TEST_CASE("errors have a column if any, versions and files if they differ") {
  ReportResults results =
      results_of({{input::Json::object(), {{"label", "a"}}}, {input::Json::object(), nullptr}});
  results.rows[1].error = "why";
  results.rows[1].file = std::string("g");
  results.rows[0].point = 3;
  const auto columns = make_columns(results);
  CHECK(find(columns, "error")->cells == boxed({nullptr, "why"}));
  CHECK(find(columns, "label")->cells == boxed({"a", nullptr}));
  CHECK(find(columns, "point")->cells == boxed({3, nullptr}));
  CHECK(find(columns, "file")->cells == boxed({"f", "g"}));
  CHECK(find(columns, "version") == nullptr);
}

TEST_CASE("points that do not fit have columns of their own") {
  ReportResults results =
      results_of({{input::Json::object(), {{"label", "a"}}}, {input::Json::object(), nullptr}});
  CHECK(find(make_columns(results), "does_not_fit") == nullptr);
  results.rows[1].does_not_fit = "why";
  results.rows[1].needs_bytes = 1e11;
  const auto columns = make_columns(results);
  CHECK(find(columns, "does_not_fit")->cells == boxed({nullptr, "why"}));
  CHECK(find(columns, "needs_bytes")->cells == boxed({nullptr, 1e11}));
  CHECK(find(columns, "needs_bytes")->kind == ColumnKind::bytes);
  CHECK(find(columns, "error") == nullptr);
}

TEST_CASE("numbers of a step are titled by group, and labels are called variants") {
  const input::Json run = input::Json::parse(
      R"({"label": "int8", "time_s": 1.0, "exposed_s": 0.5, "model_flops_utilisation": 0.6,
          "groups": {"a/b": {"exposed_s": 0.25}}})");
  const std::vector<ReportColumn> columns =
      make_columns(results_of({{input::Json::object(), run}}));
  CHECK(find(columns, "label")->title == "variant");
  CHECK(find(columns, "model_flops_utilisation")->title == "MFU");
  const ReportColumn* const exposed = find(columns, "groups/a/b/exposed_s");
  REQUIRE(exposed != nullptr);
  CHECK(exposed->title == "a/b: exposed");
  CHECK(exposed->kind == ColumnKind::time);
  CHECK_FALSE(exposed->shown);
  CHECK(find(columns, "exposed_s")->shown);
}

}  // namespace
}  // namespace equarx::report::columns_test
