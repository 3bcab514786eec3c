// Overhead of the Python package: an AllReduce of arrays compared with the value executor on the
// same memory, a warm run of the default configuration without values, and the import.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <benchmark/benchmark.h>
#include <pybind11/embed.h>
#include <pybind11/numpy.h>

#include "experiments/request/request.hpp"
#include "models/values/value_executor.hpp"

namespace {

using namespace equarx;
namespace py = pybind11;

constexpr std::uint32_t kRanks = 8;
constexpr std::uint64_t kElements = 16ULL << 20;  // 64 MiB of FP32 on each rank

py::module_ package() { return py::module_::import("equarx"); }

/// One FP32 row per rank.
py::array_t<float> make_arrays() {
  const py::object generator = py::module_::import("numpy.random").attr("default_rng")(1);
  return generator.attr("standard_normal")(py::make_tuple(kRanks, kElements),
                                           py::arg("dtype") = "float32");
}

void allreduce_by_the_value_executor(benchmark::State& state) {
  const py::array_t<float> arrays = make_arrays();
  const plan::Plan plan = request::make_plan(
      {R"({"hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "tensor": {"bytes": "64 MiB", "dtype": "fp32"},
           "collectives": [{"algorithm": "equarx", "format": "int8"}]})",
       {}});
  std::vector<tensors::MemoryTensor> tensors;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    tensors.emplace_back(tensors::FileType::fp32,
                         std::as_bytes(std::span(arrays.data(rank, 0), kElements)));
  const values::TensorSource source(std::move(tensors), kElements, numerics::ElementFormat::fp32);
  std::vector<float> sum(kElements);
  values::ResultTensor result(numerics::ElementFormat::fp32,
                              std::as_writable_bytes(std::span(sum)));
  const collectives::Program& program = plan.collectives.front().candidates.front().program;
  for (auto _ : state)
    benchmark::DoNotOptimize(values::execute(program, source, {.threads = 0, .result = &result}));
}

void allreduce_by_the_package(benchmark::State& state) {
  const py::array_t<float> arrays = make_arrays();
  const py::array_t<float> out(std::vector<py::ssize_t>{static_cast<py::ssize_t>(kElements)});
  const py::dict slice(py::arg("slice") = "4x2");
  const py::object allreduce = package().attr("allreduce");
  for (auto _ : state) allreduce(arrays, "int8", py::arg("topology") = slice, py::arg("out") = out);
}

void run_without_values(benchmark::State& state) {
  const py::object run = package().attr("run");
  py::dict overrides;
  overrides["/numerics"] = "off";
  for (auto _ : state) run(EQUARX_CONFIGS_DIR "/experiments/allreduce_v5e_4x2.json", overrides);
}

/// Includes the startup of an interpreter, which the second benchmark measures alone.
void start(benchmark::State& state, const char* command) {
  for (auto _ : state)
    if (std::system(command) != 0) state.SkipWithError("Python did not start");
}

BENCHMARK(allreduce_by_the_value_executor)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(allreduce_by_the_package)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(run_without_values)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(start, interpreter_and_import, EQUARX_PYTHON " -c 'import equarx'")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(start, interpreter, EQUARX_PYTHON " -c pass")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  setenv("PYTHONPATH", EQUARX_PACKAGE_DIR, 1);
  const py::scoped_interpreter interpreter;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  benchmark::RunSpecifiedBenchmarks();
}
