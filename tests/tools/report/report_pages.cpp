// Usage: report_pages FOLDER: writes the pages for the browser tests.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "base/input/json.hpp"
#include "experiments/report/pictures.hpp"
#include "experiments/report/report.hpp"
#include "tests/support/reports.hpp"

namespace {

using namespace equarx;
using input::Json;
using report::ReportInput;

const std::string kHostile =
    "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = "
    "2'>\"'&amp;{{data}}<!--<script>]]>\xe2\x80\xa8$x$";

constexpr const char* kParameters = R"({
  "link_bandwidth": {"value": "45 GB/s", "class": "datasheet", "source": "a table of specifications"},
  "hop_latency": {"value": "360 ns", "class": "measured", "source": "an AllReduce of 8 B"},
  "step_sync_time": {"value": "860 ns", "class": "calibrated", "source": "fitted to one figure"},
  "dma_queue": {"value": 16, "class": "assumed", "source": "deep enough"}})";

std::string svg(const std::string& colour) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"360\" height=\"120\" viewBox=\"0 0 360 "
      "120\">"
      "<script>window.hurt = 3</script><rect width=\"360\" height=\"120\" fill=\"white\"/>"
      "<line x1=\"60\" y1=\"60\" x2=\"300\" y2=\"60\" stroke=\"{}\" stroke-width=\"6\"/>"
      "<circle cx=\"60\" cy=\"60\" r=\"25\"/><circle cx=\"300\" cy=\"60\" r=\"25\"/></svg>",
      colour);
}

class Pages {
 public:
  explicit Pages(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

  void write(const std::string& name, const ReportInput& input) const {
    std::ofstream(folder_ / (name + ".html"), std::ios::binary) << make_report(input);
  }

  report::ReportResults read(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return report::read_results(std::vector{path});
  }

 private:
  std::filesystem::path folder_;
};

/// 80 rows, a failed point, a truncated last line, pictures, parameters.
void write_small(const Pages& pages) {
  const std::string failed =
      R"({"point": 40, "key": "00000000000000ff", "version": "0.1.0", "axes": {"/tensor/bytes": "1 B", )"
      R"("/topology/slice": "4x2"}, "error": "/tensor/bytes: 1 B is not a whole number of elements"})";
  ReportInput input{.title = "AllReduce on TPU v5e slices",
                    .results = pages.read("small.jsonl", testing::synthetic_sweep(80) + failed +
                                                             "\n{\"point\": 49, \"ke"),
                    .pictures = {{"4x2, bf16", svg("navy"), 2},
                                 {"4x2, full-loop int8", svg("teal"), 3},
                                 {"2x2", svg("black"), std::nullopt, {0, 4}}},
                    .version = "0.1.0"};
  for (report::ReportSource& source : input.results.sources)
    source.parameters = Json::parse(kParameters);
  pages.write("small", input);
}

/// 16 rows of an uncalibrated chip, all but the first with intervals of -10 % to +20 %.
void write_intervals(const Pages& pages) {
  std::istringstream lines(testing::synthetic_sweep(16));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    Json point = Json::parse(line);
    Json& run = point["run"];
    run["calibrated"] = false;
    if (!text.empty())
      run["uncertainty"] = {{"samples", 200},
                            {"time_low_s", 0.9 * run["time_s"].get<double>()},
                            {"time_high_s", 1.2 * run["time_s"].get<double>()},
                            {"speedup_low", 0.9 * run["speedup"].get<double>()},
                            {"speedup_high", 1.2 * run["speedup"].get<double>()}};
    point["config"]["hardware"] = "tpu-v4";
    text += point.dump() + '\n';
  }
  pages.write("intervals", {.title = "Intervals",
                            .results = pages.read("intervals.jsonl", text),
                            .pictures = {},
                            .version = "0.1.0"});
}

/// Two slices that a network joins, of a chip with a changed parameter.
void write_network(const Pages& pages) {
  Json config = testing::synthetic_config("1 MiB", "4x4", 1);
  config["hardware"] = {{"based_on", "tpu-v5e"}, {"link_bandwidth", "90 GB/s"}};
  config["topology"]["network"] = {
      {"slices", 2}, {"bandwidth", "12.5 GB/s"}, {"latency", "10 us"}, {"chips_per_port", 1}};
  const Json result = {{"program", "equarx-sim"},
                       {"version", "0.1.0"},
                       {"config_hash", "00000000000000cc"},
                       {"config", config},
                       {"parameters", Json::parse(kParameters)},
                       {"runs", Json::array({testing::synthetic_run(false, 1 << 20, 32, 1),
                                             testing::synthetic_run(true, 1 << 20, 32, 1)})}};
  pages.write("network", {.title = "Two slices",
                          .results = pages.read("network.json", result.dump()),
                          .pictures = {},
                          .version = "0.1.0"});
}

/// 240 rows: sizes, slices, and microshards of one collective, which the baseline lacks.
void write_sweep(const Pages& pages) {
  pages.write("sweep", {.title = "Three axes",
                        .results = pages.read("sweep.jsonl", testing::synthetic_sweep(240)),
                        .pictures = {},
                        .version = "0.1.0"});
}

/// Result of a prefill in the format of `run --json`: two runs and two operations.
void write_workload(const Pages& pages) {
  Json result = {{"program", "equarx-sim"},
                 {"version", "0.1.0"},
                 {"config_hash", "00000000000000aa"},
                 {"config", testing::synthetic_config("1 MiB", "4x2", 1)},
                 {"parameters", Json::parse(kParameters)},
                 {"operations", Json::parse(R"([
    {"name": "attention_output", "kind": "matrix", "count": 62, "time_s": 3e-3, "flops": 699e9,
     "hbm_bytes": 1048576, "roof": "matrix"},
    {"name": "softmax", "kind": "attention", "count": 62, "time_s": 1e-3, "flops": 0, "hbm_bytes": 2097152,
     "roof": "hbm"}])")}};
  for (const bool quantized : {false, true}) {
    Json run = testing::synthetic_run(quantized, 1 << 20, 8, 1);
    run.update({{"time_s", quantized ? 6.2e-3 : 8.3e-3},
                {"compute_s", 4.1e-3},
                {"matrix_s", 3.1e-3},
                {"attention_s", 1e-3},
                {"elementwise_s", 0.0},
                {"allreduce_s", quantized ? 2.1e-3 : 4.2e-3}});
    result["runs"].push_back(run);
  }
  pages.write("workload", {.title = "A prefill",
                           .results = pages.read("workload.json", result.dump()),
                           .pictures = {},
                           .version = "0.1.0"});
}

/// Result of a step: two variants, with their streams.
void write_step(const Pages& pages) {
  ReportInput input{.title = "A step",
                    .results = pages.read("step.json", testing::synthetic_step().dump()),
                    .pictures = {},
                    .version = "0.2.0"};
  input.pictures = report::make_pictures(input.results, 10);
  pages.write("step", input);
}

void write_hostile(const Pages& pages) {
  Json line =
      Json::parse(testing::synthetic_sweep(2).substr(0, testing::synthetic_sweep(2).find('\n')));
  line["run"]["label"] = kHostile;
  line["axes"] = {{"/" + kHostile, kHostile}};
  line["version"] = kHostile;
  line["config"][kHostile] = kHostile;
  line["config"]["__proto__"] = {{"polluted", true}};
  ReportInput input{.title = kHostile,
                    .results = pages.read("hostile.jsonl", line.dump() + "\n"),
                    .pictures = {{kHostile, svg("red"), 0}},
                    .version = kHostile};
  input.results.sources[0].parameters = {
      {kHostile, {{"value", kHostile}, {"class", kHostile}, {"source", kHostile}}}};
  input.results.notes.push_back(kHostile);
  pages.write("hostile", input);
}

void write_large(const Pages& pages) {
  constexpr std::size_t kRows = 10'000;
  pages.write("large", {.title = "Ten thousand rows",
                        .results = pages.read("large.jsonl", testing::synthetic_sweep(kRows)),
                        .pictures = {},
                        .version = "0.1.0"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: report_pages FOLDER\n";
    return EXIT_FAILURE;
  }
  const Pages pages(argv[1]);
  write_small(pages);
  write_intervals(pages);
  write_network(pages);
  write_sweep(pages);
  write_workload(pages);
  write_step(pages);
  write_hostile(pages);
  write_large(pages);
  return EXIT_SUCCESS;
}
