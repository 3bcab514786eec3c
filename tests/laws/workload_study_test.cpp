// What a study's points.csv says of workloads.
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/input/json.hpp"
#include "experiments/study/report.hpp"
#include "experiments/study/study.hpp"
#include "tests/catch.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::study {
namespace {

namespace fs = std::filesystem;
using testing::good_config;
using testing::TemporaryFile;
using testing::tiny_model;
using testing::with;
using testing::workload_config;

using Row = std::map<std::string, std::string>;

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all;
  std::string field;
  std::istringstream stream(line + ',');
  while (std::getline(stream, field, ',')) all.push_back(field);
  return all;
}

/// points.csv of the configurations; no field of theirs has a comma.
std::vector<Row> points_of(const std::vector<input::Json>& configs) {
  Study study{.title = "a study", .source = "made up", .notes = {}, .experiments = {}, .rows = {}};
  for (const input::Json& config : configs)
    study.experiments.push_back(
        {.name = "e" + std::to_string(study.experiments.size()), .config = config, .axes = {}});
  const TemporaryFile place("");
  const fs::path folder = place.path() + ".study";
  write_report(run_study(study, [](const std::string&) {}), folder);
  std::istringstream lines(input::read_file((folder / "points.csv").string()));
  fs::remove_all(folder);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> head = fields(line);
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = fields(line);
    REQUIRE(cells.size() == head.size());
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = cells[i];
  }
  return rows;
}

double number(const Row& row, const std::string& column) { return std::stod(row.at(column)); }

TEST_CASE("points of workloads say what was done, and their parts make up the time") {
  const TemporaryFile model(tiny_model().dump());
  input::Json decode = workload_config(model.path());
  decode["workload"] = {
      {"model", model.path()}, {"phase", "decode"}, {"context", 300}, {"batch", 2}};
  const std::vector<Row> rows =
      points_of({workload_config(model.path()),
                 with(workload_config(model.path()), "/numerics", "on"), decode});
  REQUIRE(rows.size() == 6);
  for (const Row& row : rows) {
    CHECK(row.at("model") == "tiny");
    CHECK(number(row, "compute_s") == Approx(number(row, "matrix_s") + number(row, "attention_s") +
                                             number(row, "elementwise_s")));
    CHECK(number(row, "time_s") == Approx(number(row, "compute_s") + number(row, "allreduce_s")));
    CHECK(number(row, "time_s") == Approx(number(row, "payload_s") + number(row, "scales_s") +
                                          number(row, "overhead_s") + number(row, "bubbles_s")));
  }
  CHECK(rows[0].at("phase") == "prefill");
  CHECK(rows[0].at("tokens") == "256");
  CHECK(rows[0].at("batch") == "1");
  CHECK(rows[0].at("mse").empty());
  CHECK(number(rows[3], "mse") > 0.0);
  CHECK(rows[4].at("phase") == "decode");
  CHECK(rows[4].at("tokens") == "300");
  CHECK(rows[4].at("batch") == "2");
}

TEST_CASE("points of bare collectives leave the columns of workloads empty") {
  for (const Row& row : points_of({good_config()}))
    for (const std::string column : {"model", "phase", "tokens", "batch", "compute_s", "matrix_s",
                                     "attention_s", "elementwise_s", "allreduce_s"})
      CHECK(row.at(column).empty());
}

}  // namespace
}  // namespace equarx::study
