// Reading of XLA programs: text to module, module to flow, and text to result, each for two sizes. Times
// per instruction should be alike: their ratio is 1 if nothing grows faster than the program.
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/common/program_report.hpp"
#include "importers/hlo/flow.hpp"
#include "importers/hlo/import.hpp"
#include "importers/hlo/parser.hpp"

namespace equarx {
namespace {

/// A chain of alternating matmuls and all-reduces, with layouts and metadata as written by XLA.
std::string module_of(std::int64_t instructions) {
  std::string text =
      "HloModule chain, is_scheduled=true, num_partitions=16\n\n%add (a: f32[], b: f32[]) -> f32[] "
      "{\n"
      "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n\n"
      "ENTRY %main (i: bf16[128,128]) -> bf16[128,128] {\n"
      "  %i.0 = bf16[128,128]{1,0:T(8,128)(2,1)} parameter(0)\n";
  for (std::int64_t i = 1; i < instructions; ++i)
    text += i % 2 == 1 ? fmt::format(
                             "  %i.{} = bf16[128,128]{{1,0:T(8,128)(2,1)}} dot(%i.{}, %i.0), "
                             "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, "
                             "metadata={{op_name=\"jit(f)/dot_general\" source_file=\"m.py\"}}\n",
                             i, i - 1)
                       : fmt::format(
                             "  %i.{} = bf16[128,128]{{1,0:T(8,128)(2,1)}} all-reduce(%i.{}), "
                             "channel_id={}, replica_groups=[4,4]<=[4,4]T(1,0), "
                             "use_global_device_ids=true, to_apply=%add\n",
                             i, i - 1, i);
  return text + "}\n";
}

void parse(benchmark::State& state) {
  const std::string text = module_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(hlo::parse_module(text));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void flow(benchmark::State& state) {
  const hlo::Module module = hlo::parse_module(module_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(hlo::make_flow(module));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

/// From text to the table of one variant; all collectives differ by name.
void import_and_run(benchmark::State& state) {
  const std::string text = module_of(state.range(0));
  imports::HloOptions options;
  options.topology = "4x4";
  for (auto _ : state) {
    const imports::ImportedProgram program = imports::import_hlo(text, options);
    const step::StepResult result = step::run_step(
        step::make_plan(config::read_step_config(program.step)), [](const std::string&) {});
    benchmark::DoNotOptimize(imports::to_table(program, result));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

constexpr std::int64_t kSmall = 4'000;
constexpr std::int64_t kLarge = 40'000;
BENCHMARK(parse)->Arg(kSmall)->Arg(kLarge)->Unit(benchmark::kMillisecond);
BENCHMARK(flow)->Arg(kSmall)->Arg(kLarge)->Unit(benchmark::kMillisecond);
BENCHMARK(import_and_run)->Arg(kSmall)->Arg(kLarge)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace equarx

BENCHMARK_MAIN();
