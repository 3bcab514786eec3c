#include "experiments/calibrate/kernel_times.hpp"

#include <fmt/format.h>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "models/workloads/roofline.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::calibrate::kernel_times_test {
namespace {

using Catch::Contains;

hardware::Chip h100() { return config::load_chip("h100", ""); }

std::vector<TimedKernel> timed(const std::string& text, double overhead_s = 0.0,
                               const std::string& extension = ".jsonl",
                               const hardware::Chip& chip = h100()) {
  const testing::TemporaryDirectory folder;
  return time_kernels(folder.write("list" + extension, text), overhead_s, chip);
}

TEST_CASE(
    "a kernel takes its roofline and the timer, and at least its bytes or FLOPs at the peak") {
  const auto kernels = timed(R"({"kernel": "gemm", "m": 4096, "k": 4096, "n": 4096}
{"kernel": "pass", "bytes": 1073741824, "time": "400 us", "back_to_back": true}
)",
                             5e-6);
  REQUIRE(kernels.size() == 2);
  const workloads::ComputeRates rates = workloads::compute_rates(h100());
  const double flops = 2.0 * 4096 * 4096 * 4096;
  CHECK(kernels[0].simulated_s ==
        Approx(workloads::roofline(kernels[0].row.operation, rates).seconds + 5e-6));
  CHECK(kernels[0].bound_s == Approx(flops / h100().matrix_rate_bf16.value));
  CHECK_FALSE(kernels[0].row.measured_s);
  CHECK(kernels[1].simulated_s ==
        Approx(workloads::roofline(kernels[1].row.operation, rates).seconds));
  CHECK(kernels[1].bound_s == Approx(1073741824.0 / h100().hbm_bandwidth.value));
  CHECK(kernels[1].row.measured_s == 400e-6);
}

TEST_CASE("weights under a scheme have its bits and are decoded") {
  const auto kernels = timed(
      "kernel,m,k,n,precision\n"
      "gemm,1,8192,8192,bf16\n"
      "gemm,1,8192,8192,weight-only-int4\n"
      "gemm,1,8192,8192,fp8\n",
      0.0, ".csv");
  constexpr double kWeights = 8192.0 * 8192;
  CHECK(kernels[0].row.operation.weight_bytes == kWeights * 2);
  CHECK(kernels[1].row.operation.weight_bytes == kWeights * 4.25 / 8);
  CHECK(kernels[1].row.operation.decoded_weights == kWeights);
  CHECK(kernels[2].row.operation.products == hardware::MatrixType::fp8);
  CHECK(kernels[1].simulated_s < kernels[0].simulated_s);
}

TEST_CASE("fewer bits are never slower, on any chip and for any number of rows") {
  for (const input::EmbeddedFile& file : input::embedded_hardware())
    for (const int rows : {1, 16, 128, 4096}) {
      CAPTURE(file.name, rows);
      std::string list = "kernel,m,k,n,precision\n";
      for (const char* scheme :
           {"weight-only-3bit", "weight-only-int4", "weight-only-int8", "bf16"})
        list += fmt::format("gemm,{},8192,8192,{}\n", rows, scheme);
      const auto kernels = timed(list, 0.0, ".csv", config::load_chip(std::string(file.name), ""));
      for (std::size_t i = 1; i < kernels.size(); ++i)
        CHECK(kernels[i - 1].simulated_s <= kernels[i].simulated_s);
      CHECK(kernels[0].row.operation.weight_bytes == 8192.0 * 8192 * 3.125 / 8 + 8 * 4);
    }
}

TEST_CASE("a scheme may be an object, and needs the unit's rate") {
  const auto kernels = timed(
      R"({"kernel": "gemm", "m": 1, "k": 256, "n": 256, "precision": {"weights": "gptq-int4-g128", "unit": "fp16"}})");
  CHECK(kernels[0].row.operation.weight_bytes == 256 * 256 / 2 + 512 * (16 + 4) / 8);
  CHECK_THROWS_WITH(
      timed(R"({"kernel": "gemm", "m": 1, "k": 256, "n": 256, "precision": "abq-w2a8"})"),
      Contains("add \"matrix_rate_int1\""));
  CHECK_THROWS_WITH(
      timed(R"({"kernel": "gemm", "m": 1, "k": 100, "n": 256, "precision": "gptq-w4a16"})"),
      Contains("groups of 128 do not divide rows of 100"));
}

TEST_CASE("the table has a line for each kernel, and the errors of measured ones by kind") {
  const auto kernels = timed(
      R"({"kernel": "gemm", "what": "mine", "m": 4096, "k": 4096, "n": 4096, "time": "300 us"}
{"kernel": "gemm", "role": "fit", "m": 4096, "k": 4096, "n": 4096, "time": "250 us"}
{"kernel": "sort", "rows": 8, "length": 1024}
)");
  const std::string table = to_table(kernels, h100());
  CHECK_THAT(table, Contains("3 kernels on h100") && Contains("mine") && Contains("predicted") &&
                        Contains("fitted") && Contains("gemm of bf16") && Contains("rms"));
  const auto unmeasured = timed(R"({"kernel": "sort", "rows": 8, "length": 1024})");
  CHECK_THAT(to_table(unmeasured, h100()), !Contains("rms"));
  const input::Json json = study_json(kernels, h100(), "a lab");
  CHECK(json["rows"][0]["role"] == "prediction");
  CHECK(json["rows"][0]["expected"] == 300e-6);
  CHECK(json["rows"][0]["question"] == "kernel");
  CHECK(json["rows"][1]["role"] == "calibration");
  CHECK_FALSE(json["rows"][2].contains("expected"));
}

TEST_CASE("lists that cannot be timed are refused at their line") {
  const auto refuse = [](const std::string& text, const std::string& remedy) {
    CHECK_THROWS_WITH(timed(text), Contains("list.jsonl: ") && Contains(remedy));
  };
  refuse(R"({"kernel": "gemm", "m": 16, "k": 16})", "line 1: /n: is missing");
  refuse(
      R"({"kernel": "gemm", "m": 4096, "k": 4096, "n": 4096, "time": "300 us", "role": "guess"})",
      "fit");
  refuse(R"({"kernel": "gemm", "m": 4096, "k": 4096, "n": 4096, "time": "3 us"})",
         "above the peak of");
  refuse(R"({"kernel": "gemm", "m": 1, "k": 16, "n": 16, "type": "fp8", "precision": "fp8"})",
         "remove \"type\"");
  refuse(R"({"kernel": "gemm", "m": 1, "k": 16, "n": 16, "precision": "int5"})",
         "weight-only-int4");
  refuse("\n", "has no rows");
}

}  // namespace
}  // namespace equarx::calibrate::kernel_times_test
