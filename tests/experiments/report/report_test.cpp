#include "experiments/report/report.hpp"

#include <limits>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/reports.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::report::report_test {
namespace {

ReportInput sweep_input(std::size_t rows) {
  const testing::TemporaryDirectory folder;
  const std::vector<std::string> paths = {folder.write("sweep", testing::synthetic_sweep(rows))};
  return {.title = "t", .results = read_results(paths), .pictures = {}, .version = "0.1.0"};
}

/// Configuration of a source, reconstructed as on the page.
input::Json config_of(const input::Json& data, std::size_t source) {
  const input::Json& entry = data["sources"][source];
  if (!entry.contains("patch")) return entry["config"];
  return data["sources"][entry["base"].get<std::size_t>()]["config"].patch(entry["patch"]);
}

const input::Json& column_of(const input::Json& data, const std::string& key) {
  for (const input::Json& column : data["columns"])
    if (column["key"] == key) return column;
  throw std::logic_error("no column " + key);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("the page contains the data of the results") {
  const ReportInput input = sweep_input(100);
  const input::Json data = input::Json::parse(report_data(input));
  CHECK(data["rows"] == 100);
  const input::Json& time = column_of(data, "time_s");
  const input::Json& label = column_of(data, "label");
  const input::Json& bytes = column_of(data, "/tensor/bytes");
  for (std::size_t row = 0; row < 100; ++row) {
    const ReportRow& wanted = input.results.rows[row];
    CHECK(time["values"][row].get<double>() ==
          Approx((*wanted.run)["time_s"].get<double>()).epsilon(1e-8));
    CHECK(label["dictionary"][label["codes"][row].get<std::size_t>()] == (*wanted.run)["label"]);
    CHECK(bytes["texts"][bytes["codes"][row].get<std::size_t>()] ==
          (*wanted.axes)["/tensor/bytes"]);
    CHECK(data["row_sources"][row] == wanted.source);
  }
  CHECK(bytes["dictionary"][0] == 4096);
  for (std::size_t source = 0; source < input.results.sources.size(); ++source)
    CHECK(config_of(data, source) == input.results.sources[source].config);
}

TEST_CASE("configurations with little in common are stored in full") {
  ReportInput input = sweep_input(6);
  input.results.sources[1].config = input::Json{{"quite", "another"}};
  input.results.sources[2].config = input::Json(nullptr);
  const input::Json data = input::Json::parse(report_data(input));
  for (std::size_t source = 0; source < 3; ++source)
    CHECK(config_of(data, source) == input.results.sources[source].config);
}

TEST_CASE("repeated parameters are stored once") {
  ReportInput input = sweep_input(20);
  for (ReportSource& source : input.results.sources)
    source.parameters = input::Json{{"p", {{"value", 1}, {"class", "assumed"}, {"source", "-"}}}};
  input.results.sources[3].parameters = input::Json(nullptr);
  const input::Json data = input::Json::parse(report_data(input));
  CHECK(data["parameters"].size() == 2);
  CHECK(data["sources"][9]["parameters"] == 0);
  CHECK(data["sources"][3]["parameters"] == 1);
}

TEST_CASE("operations are stored once, and referenced by their sources") {
  ReportInput input = sweep_input(6);
  input.results.sources[1].operations = input::Json{{{"name", "qkv"}, {"time_s", 1.0}}};
  const input::Json data = input::Json::parse(report_data(input));
  CHECK(data["operations"].size() == 2);
  CHECK(data["operations"][data["sources"][1]["operations"].get<std::size_t>()][0]["name"] ==
        "qkv");
  CHECK(data["operations"][data["sources"][2]["operations"].get<std::size_t>()].is_null());
}

TEST_CASE("a failed point is stored with its axes instead of a configuration") {
  ReportInput input = sweep_input(6);
  const std::size_t source = input.results.rows[4].source;
  input.results.sources[source].config = input::Json(nullptr);
  input.results.rows[4].axes = input::Json{{"/topology", {{"mesh", "3x3"}}}};
  const input::Json data = input::Json::parse(report_data(input));
  CHECK(data["sources"][source]["axes"] == input.results.rows[4].axes);
  CHECK_FALSE(data["sources"][source == 0 ? 1 : 0].contains("axes"));
}

TEST_CASE("integers are exact, and non-finite numbers become null") {
  ReportInput input = sweep_input(2);
  (*input.results.rows[0].run)["wire_bytes_per_link"] = std::int64_t{9'007'199'254'740'991};
  (*input.results.rows[1].run)["speedup"] = 1073741824.0;
  (*input.results.rows[0].run)["speedup"] = std::numeric_limits<double>::quiet_NaN();
  const input::Json data = input::Json::parse(report_data(input));
  CHECK(column_of(data, "wire_bytes_per_link")["values"][0] == std::int64_t{9'007'199'254'740'991});
  CHECK(column_of(data, "speedup")["values"][0].is_null());
  CHECK(column_of(data, "speedup")["values"][1] == 1073741824);
}

TEST_CASE("no text of the input becomes markup or script") {
  const std::string hostile =
      "</script><!-- <script> & \" ' \\u003c {{data}} {{title}} \xe2\x80\xa8";
  ReportInput input = sweep_input(2);
  input.title = hostile;
  input.version = hostile;
  input.advice = hostile;
  input.pictures = {{hostile, "<svg>" + hostile + "</svg>"}};
  input.results.notes = {hostile};
  input.results.sources[0] = {.version = hostile,
                              .key = hostile,
                              .config = input::Json{{hostile, hostile}},
                              .parameters = input::Json{{hostile, {{"value", hostile}}}}};
  (*input.results.rows[0].run)["label"] = hostile;
  input.results.rows[0].axes = input::Json{{hostile, hostile}};
  input.results.rows[1].error = hostile;
  input.results.rows[1].file = hostile;

  const std::string data = report_data(input);
  CHECK(data.find_first_of("<>&") == std::string::npos);
  const input::Json parsed = input::Json::parse(data);
  CHECK(parsed["title"] == hostile);
  CHECK(parsed["advice"] == hostile);
  CHECK(parsed["pictures"][0]["svg"] == "<svg>" + hostile + "</svg>");
  CHECK(column_of(parsed, "label")["dictionary"][0] == hostile);

  const std::string page = make_report(input);
  const std::string plain = make_report(sweep_input(2));
  for (const char* tag : {"<script", "</script", "<!--", "<svg", "<title>"})
    CHECK(count(page, tag) == count(plain, tag));
  CHECK(count(page, "&lt;/script&gt;&lt;!-- &lt;script&gt; &amp; &quot; &#39;") == 1);  // the title
}

TEST_CASE("invalid UTF-8 in titles and names is accepted") {
  ReportInput input = sweep_input(2);
  input.title = "\xff\xfe";
  input.results.rows[0].file = "results\xff.json";
  CHECK_NOTHROW(input::Json::parse(report_data(input)));
  CHECK_NOTHROW(make_report(input));
}

TEST_CASE("a page has no external references") {
  const std::string page = make_report(sweep_input(2));
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(count(page, "Content-Security-Policy\" content=\"default-src 'none'") == 1);
  CHECK(count(page, " src=\"") == 0);
  CHECK(count(page, "<link") == 0);
  CHECK(count(page, "@import") == 0);
  CHECK(count(page, "url(") == 0);
}

TEST_CASE("a page of 10,000 rows stays below 10 MB") {
  CHECK(make_report(sweep_input(10'000)).size() < 10'000'000);
}

}  // namespace
}  // namespace equarx::report::report_test
