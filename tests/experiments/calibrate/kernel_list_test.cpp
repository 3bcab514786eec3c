#include "experiments/calibrate/kernel_list.hpp"

#include <functional>

#include "experiments/config/hardware_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::calibrate::kernel_list_test {
namespace {

using testing::check_refused;
using workloads::Kernel;

/// Reads `text` as a list in a file of this extension.
std::vector<Measurement> read(const std::string& text, const std::string& extension = ".jsonl",
                              const std::string& timer_overhead = "2 us") {
  const testing::TemporaryDirectory folder;
  folder.write("list" + extension, text);
  const input::Json entry = {{"file", "list" + extension},
                             {"source", "a test"},
                             {"standard_error", 0.1},
                             {"timer_overhead", timer_overhead}};
  return read_kernel_list({entry, "/kernels/0"}, config::load_chip("h100", ""), folder.path());
}

/// Checks that the second line of the list is rejected.
void check_line_refused(const std::function<void()>& action, const std::string& remedy) {
  check_refused(action, "/kernels/0/file", "line 2: ");
  check_refused(action, "/kernels/0/file", remedy);
}

const KernelTime& kernel(const Measurement& measurement) {
  return std::get<KernelTime>(measurement.of);
}

TEST_CASE("rows of a list become operations with their shapes") {
  const std::vector<Measurement> rows = read(
      R"({"kernel": "gemm", "role": "fit", "m": 16, "k": 4096, "n": 2048, "type": "fp8", "time": "9 us"}
{"kernel": "pass", "role": "check", "what": "copy", "bytes": 1048576, "time": "3.5 us"}

{"kernel": "amax", "role": "check", "bytes": 4096, "time": "3 us", "back_to_back": true}
{"kernel": "sort", "role": "fit", "rows": 4, "length": 1024, "time": "1 ms"}
{"kernel": "convolution", "role": "fit", "flops": 1e9, "bytes": 2048, "time": "1 ms"}
)");
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].role == hardware::ObservationRole::fit);
  CHECK(rows[0].measured == 9e-6);
  CHECK(rows[0].standard_error == Approx(0.9e-6));
  CHECK(rows[0].place == "list.jsonl, line 1");
  CHECK(kernel(rows[0]).group == "gemm of fp8");
  CHECK(kernel(rows[0]).outside_s == 2e-6);
  CHECK(kernel(rows[0]).operation.flops == 2.0 * 16 * 4096 * 2048);
  CHECK(kernel(rows[0]).operation.hbm_bytes() == 16 * 4096 + 4096 * 2048 + 2.0 * 16 * 2048);
  CHECK(rows[1].what == "copy");
  CHECK(kernel(rows[1]).operation.hbm_bytes() == 1048576.0);
  CHECK(kernel(rows[2]).operation.kernel == Kernel::amax);
  CHECK(kernel(rows[2]).outside_s == 0.0);
  CHECK(rows[3].place == "list.jsonl, line 5");
  CHECK(kernel(rows[3]).operation.comparisons == 4 * 1024 * 10.0);
  CHECK(kernel(rows[4]).operation.kernel == Kernel::convolution);
}

TEST_CASE("attention counts the scores that are computed") {
  const std::string shape = R"("role": "fit", "batch": 2, "heads": 8, "head": 64, "time": "1 s")";
  const std::vector<Measurement> rows =
      read(R"({"kernel": "attention", "queries": 100, )" + shape + R"(}
{"kernel": "attention", "queries": 100, "causal": true, )" +
           shape + R"(}
{"kernel": "attention-backward", "queries": 100, )" +
           shape + R"(}
{"kernel": "attention", "queries": 1, "keys": 100, "kv_heads": 2, )" +
           shape + "}\n");
  const double pair = 2.0 * 2.0 * 2 * 8 * 64;  // two products
  CHECK(kernel(rows[0]).operation.flops == pair * 100 * 100);
  CHECK(kernel(rows[1]).operation.flops == pair * 100 * 101 / 2);
  CHECK(kernel(rows[2]).operation.flops == 2.5 * pair * 100 * 100);
  CHECK(kernel(rows[0]).operation.attention_rows == 2 * 8 * 100);
  CHECK(kernel(rows[2]).operation.attention_rows == 2.5 * 2 * 8 * 100);
  CHECK(kernel(rows[3]).operation.flops == pair * 100);
  // Query and result of 8 heads, keys and values of 2.
  CHECK(kernel(rows[3]).operation.hbm_bytes() == 2.0 * 2 * 64 * (2 * 8 + 2 * 2 * 100));
}

TEST_CASE("a table has the same rows") {
  const std::vector<Measurement> rows = read(
      "kernel,role,m,k,n,type,bytes,time\ngemm,fit,16,4096,2048,bf16,,9.5 us\n"
      "pass , check,,,,,65536, 4 us\r\n",
      ".csv");
  REQUIRE(rows.size() == 2);
  CHECK(kernel(rows[0]).operation.flops == 2.0 * 16 * 4096 * 2048);
  CHECK(rows[0].measured == Approx(9.5e-6));
  CHECK(kernel(rows[1]).operation.hbm_bytes() == 65536.0);
  CHECK(rows[1].place == "list.csv, line 3");
}

TEST_CASE("wrong rows are rejected with their line") {
  struct Mistake {
    std::string row, message;
  };
  const std::string gemm = R"({"kernel": "gemm", "role": "fit", "m": 4096, "k": 4096, "n": 4096, )";
  for (const Mistake& mistake : std::vector<Mistake>{
           {R"({"kernel": "gem"})", "/role: is missing"},
           {R"({"role": "fit", "kernel": "gem"})", "did you mean 'gemm'?"},
           {R"({"role": "fit", "kernel": "gemm", "m": 1, "k": 1, "time": "9 us"})",
            "/n: is missing"},
           {gemm + R"("time": 178.4})", "unit"},
           {gemm + R"("time": "178.4 MB"})", "time"},
           {gemm + R"("time": "100 us"})", "above the peak of 989.4"},
           {gemm + R"("time": "178 us", "seconds": 1})", "unknown key 'seconds'"},
           {gemm + R"("time": "1.5 us"})", "timer overhead"},
           {gemm + R"("time": "0 us"})", "above 0"},
           {R"({"role": "fit", "kernel": "pass", "bytes": 1073741824, "time": "99 us"})",
            "above the memory bandwidth of 3.350 TB/s"},
           {"nonsense", "JSON"}}) {
    CAPTURE(mistake.row);
    check_line_refused([&] { read("\n" + mistake.row + "\n"); }, mistake.message);
  }
  check_refused([] { read("\n"); }, "/kernels/0/file", "has no rows");
  check_line_refused([] { read("kernel\n\"gemm\"\n", ".csv"); }, "quoted cell");
  check_line_refused([] { read("kernel\ngemm,fit\n", ".csv"); }, "has 2 cells");
  check_refused([] { read("", ".txt"); }, "/kernels/0/file", ".jsonl or .csv");
}

}  // namespace
}  // namespace equarx::calibrate::kernel_list_test
