#include "experiments/predict/table.hpp"

#include "base/input/json.hpp"
#include "experiments/predict/predictor.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::predict::table_test {
namespace {

using input::Json;
using testing::check_refused;

Json config() {
  return {{"hardware", "h100"},
          {"topology", {{"switch", 8}}},
          {"tensor", {{"shape", {1024}}, {"dtype", "bf16"}}},
          {"collectives",
           {{{"label", "plain"}, {"algorithm", "auto"}, {"protocol", "auto"}},
            {{"label", "fp8"}, {"algorithm", "two-shot"}, {"format", "fp8-e4m3"}}}}};
}

Table table_of(const Json& json, const Grid& grid, const std::string& label = "") {
  return make_table(json, grid, {.label = label});
}

}  // namespace

TEST_CASE("sizes are lists and doubling ranges") {
  CHECK(read_sizes("1 KiB..8 KiB,3 MB") ==
        std::vector<std::uint64_t>{1024, 2048, 4096, 8192, 3'000'000});
  CHECK(read_sizes("1 KiB..3 KiB") == std::vector<std::uint64_t>{1024, 2048});
  CHECK(read_sizes("5 B") == std::vector<std::uint64_t>{5});
  check_refused([] { read_sizes(""); }, "--bytes", "");
  check_refused([] { read_sizes("1 KiB,"); }, "--bytes", "");
  check_refused([] { read_sizes("0 B..1 GiB"); }, "--bytes", "whole number of bytes");
  check_refused([] { read_sizes("0.3 B"); }, "--bytes", "whole number of bytes");
  check_refused([] { read_sizes("4 KiB..1 KiB"); }, "--bytes", "swap");
  check_refused([] { read_sizes("1 GB/s"); }, "--bytes", "");
  std::string many = "1 B";
  for (int i = 0; i < 1000; ++i) many += ",1 B";
  check_refused([&] { read_sizes(many); }, "--bytes", "more than 1000 sizes");
}

TEST_CASE("rows are the predictions at all points, in the order of the axes") {
  const Grid grid{{"all-reduce", "all-gather"}, {4096, 8192}, {2, 8}};
  const Table table = table_of(config(), grid, "plain");
  REQUIRE(table.rows.size() == 8);
  CHECK(table.left_out == 0);
  CHECK(table.chips == 8);
  const Predictor predictor(Json{{"hardware", "h100"}, {"topology", {{"switch", 8}}}});
  std::size_t at = 0;
  for (const std::string& kind : grid.collectives)
    for (const std::uint32_t ranks : grid.ranks)
      for (const std::uint64_t bytes : grid.bytes) {
        const TableRow& row = table.rows[at++];
        CHECK(row.query.collective == kind);
        CHECK(row.prediction->ranks == ranks);
        CHECK(row.query.bytes == bytes);
        CHECK(row.prediction->time_s == predictor.predict(row.query)->time_s);
        CHECK(row.prediction->protocol != "");
      }
}

TEST_CASE("rows that cannot run are left out, and a table without rows is refused") {
  const Table table = table_of(config(), {{"all-reduce", "all-to-all"}, {65536}, {4}}, "fp8");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.left_out == 1);
  CHECK_THAT(table.obstacle, ContainsSubstring("two-shot"));
  check_refused(
      [] {
        table_of(config(), {{"all-to-all"}, {65536}, {4}}, "fp8");
      },
      "/collectives/0/algorithm", "two-shot");
  check_refused(
      [] {
        table_of(config(), {{"all-sum"}, {65536}, {4}});
      },
      "--collectives", "all-reduce");
  check_refused(
      [] {
        table_of(config(), {{}, {65536}, {4}}, "int8");
      },
      "--collective", "use one of plain, fp8");
}

TEST_CASE("CSV has a line for every row, with empty cells for parts left out") {
  const Grid grid{{}, {65536}, {2}};
  const std::string whole = to_csv(table_of(config(), grid));
  CHECK_THAT(whole, Catch::Matchers::StartsWith(
                        "collective,dtype,format,algorithm,protocol,ranks,bytes,time_us,low_us,"
                        "high_us,sqnr_db\nall-reduce,bf16,bf16,"));
  CHECK_THAT(whole, ContainsSubstring("\nall-reduce,bf16,fp8-e4m3,two-shot,,2,65536,"));
  const std::string times =
      to_csv(make_table(config(), grid, {.label = "fp8", .errors = false, .intervals = false}));
  CHECK_THAT(times, Catch::Matchers::EndsWith(",,,\n"));
  const std::string exact = to_csv(table_of(config(), {{"all-gather"}, {65536}, {2}}, "plain"));
  CHECK_THAT(exact, Catch::Matchers::EndsWith(",inf\n"));
}

TEST_CASE("the table of NCCL's performance has its names, elements and milliseconds") {
  const Table table = table_of(config(), {{"all-to-all", "all-gather"}, {65536}, {2}}, "plain");
  const std::string text = to_nccl_perf(table);
  CHECK_THAT(text, Catch::Matchers::StartsWith("framework,version,device,op_name,kernel_source,"
                                               "nccl_dtype,num_gpus,message_size,latency\n"));
  CHECK_THAT(text, ContainsSubstring(",h100,alltoall,direct,half,2,32768,"));
  const std::string last = text.substr(text.rfind(',') + 1);
  CHECK(std::stod(last) == Approx(table.rows.back().prediction->time_s * 1e3).epsilon(1e-5));
  check_refused(
      [] {
        to_nccl_perf(table_of(config(), {{}, {65536}, {2}}));
      },
      "--collective", "name one collective");
  Json wide = config();
  wide["tensor"]["dtype"] = "fp32";
  CHECK_THAT(testing::message_of([&] {
               to_nccl_perf(table_of(wide, {{}, {65536}, {2}}, "plain"));
             }),
             ContainsSubstring("nccl_perf.txt has no 'fp32'; use bf16"));
}

}  // namespace equarx::predict::table_test
