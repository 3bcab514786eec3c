#include "tools/cli/app.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/output/provenance.hpp"
#include "tools/cli/attention_command.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/contract_command.hpp"
#include "tools/cli/exchange_options.hpp"
#include "tools/cli/experts_command.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/matmul_command.hpp"
#include "tools/cli/plan_command.hpp"
#include "tools/cli/serve_command.hpp"
#include "tools/cli/vectors_command.hpp"

namespace equarx::cli {
namespace {

// Each add_<subcommand> adds a subcommand whose callback owns its parsed arguments.

void add_topology_options(CLI::App& command, TopologyArguments& arguments) {
  command
      .add_option("CONFIG", arguments.config.path,
                  "Experiment configuration to take hardware and topology from; alternatively use "
                  "--slice, --mesh, --torus, --ring, --fully-connected, --switch or --file")
      ->type_name(kFile)
      ->transform(or_installed());
  add_overrides(command, arguments.config.overrides);
  command
      .add_option("--hardware", arguments.hardware,
                  "Built-in chip or hardware file (default: tpu-v5e)")
      ->type_name(kChip);
  command.add_option("--slice", arguments.slice, "Slice shape offered for the chip, like 4x4")
      ->type_name("SHAPE");
  command.add_option("--mesh", arguments.mesh, "Grid without wraparound, like 4x4x4")
      ->type_name("SHAPE");
  command.add_option("--torus", arguments.torus, "Grid with wraparound, like 4x4x4")
      ->type_name("SHAPE");
  command
      .add_option("--wraparound", arguments.wraparound,
                  "Wraparound per axis of the torus, like true,false (default: all true)")
      ->type_name("AXES");
  command.add_option("--ring", arguments.ring, "Number of chips in a ring")->type_name("CHIPS");
  command
      .add_option("--fully-connected", arguments.fully_connected,
                  "Number of chips, each linked to all others")
      ->type_name("CHIPS");
  command.add_option("--switch", arguments.on_switch, "Number of chips on one switch")
      ->type_name("CHIPS");
  command.add_option("--file", arguments.file, "Graph file (configs/schema/topology.schema.json)")
      ->type_name(kFile)
      ->transform(or_installed());
  command.add_option("--svg", arguments.svg, "Draw the topology and its ring to this SVG file")
      ->type_name(kFile);
  command.add_flag("--json", arguments.json, "Print one JSON object instead of a table");
}

void add_tensor_options(CLI::App& command, QuantizeArguments& arguments) {
  command.add_option("FILE", arguments.file, ".npy (f4, f2, bf16 as u2) or .safetensors file")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command.add_option("--tensor", arguments.tensor, "Name of the tensor in a .safetensors file")
      ->type_name("NAME");
  command
      .add_option(
          "--format", arguments.format,
          "Format: int8, int4, fp8-e4m3, mxfp4, nvfp4, ..., or a stored format by name or file "
          "(docs/stored_formats.md)")
      ->transform(or_installed())
      ->capture_default_str()
      ->type_name("NAME");
  command
      .add_option("--importance", arguments.importance,
                  "With the file of a format: .npy file with the importance of each element")
      ->type_name(kPath);
  command
      .add_option("--inputs", arguments.inputs,
                  "With the file of a format: .npy file with the inputs of the layer, a row for "
                  "each token")
      ->type_name(kPath);
  command
      .add_option("--hessian", arguments.hessian,
                  "Instead of --inputs: .npy file with their Hessian X^T X, up to a factor")
      ->type_name(kPath);
  command.add_option("--scale", arguments.scale, "Scale type (default: the format's)")
      ->type_name("TYPE");
  command
      .add_option("--scale-rounding", arguments.scale_rounding,
                  "Rounding of e8m0 scales: floor, up or even (default: floor)")
      ->type_name("MODE");
  command
      .add_option("--layout", arguments.layout,
                  "Scale layout: strided or contiguous (default: the format's); with the file of a "
                  "format: layout of -o FILE.safetensors, such as gptq, awq or pack-quantized")
      ->type_name("NAME");
  command.add_option("--block", arguments.block, "Elements per scale of the contiguous layout")
      ->type_name("COUNT");
  command
      .add_option("--elements-per-scale", arguments.elements_per_scale,
                  "Elements per scale of the strided layout (default: 128)")
      ->type_name("COUNT");
  command.add_option("--rounding", arguments.rounding, "Rounding mode: nearest or stochastic")
      ->type_name("MODE");
  command
      .add_option("--output,-o", arguments.output,
                  "Write the dequantized tensor to this file (.npy, float32), or codes and scales "
                  "in a --layout (.safetensors)")
      ->type_name(kFile);
}

void add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      app.add_subcommand("run", "Run an experiment and print its results as a table");
  command->footer(kRunFooter);
  add_config(*command, arguments->config);
  add_price(*command, arguments->config.overrides);
  command->add_flag(
      "--uncertainty", arguments->uncertainty,
      "Add 68 % intervals: Monte Carlo over the parameter uncertainty of the chip (200 "
      "samples, or as in /uncertainty)");
  command->add_flag("--sensitivity", arguments->sensitivity,
                    "Add sensitivities of times to each chip parameter, largest first");
  command->add_flag("-v,--verbose", arguments->verbose,
                    "Also print tiling, symmetry, engine and busiest links");
  CLI::Option* json =
      command->add_flag("--json", arguments->json,
                        "Print one JSON object instead (configs/schema/result.schema.json)");
  command
      ->add_flag("--links", arguments->links,
                 "With --json: bytes, busy time and utilisation of every link direction; of all "
                 "chips if /simulation is \"full\"")
      ->needs(json);
  CLI::Option* trace =
      command
          ->add_option("--trace", arguments->trace,
                       "Write a trace to this file, for ui.perfetto.dev and 'plot.py gantt'")
          ->type_name(kFile);
  command
      ->add_option("--trace-run", arguments->trace_run,
                   "With --trace: label of the only collective to trace (default: all)")
      ->type_name("LABEL")
      ->needs(trace);
  CLI::Option* tensors = command
                             ->add_option("--output-tensors", arguments->tensors,
                                          "Write each collective's output tensors and the exact "
                                          "sum: .npy files in this folder, or "
                                          "a single file if the name ends in .safetensors")
                             ->type_name(kFolder);
  command
      ->add_flag("--output-inputs", arguments->inputs,
                 "With --output-tensors: also write the input of each rank")
      ->needs(tensors);
  command->callback([arguments] { run(*arguments); });
}

void add_show(CLI::App& app) {
  const auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* command =
      app.add_subcommand("show", "Print the configuration with all defaults filled in");
  add_config(*command, *arguments);
  command->callback([arguments] { show(*arguments); });
}

void add_validate(CLI::App& app) {
  const auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* command = app.add_subcommand("validate", "Check the configuration without running it");
  add_config(*command, *arguments);
  command->callback([arguments] { validate(*arguments); });
}

constexpr unsigned kFewestJobs = 1;
constexpr unsigned kMostJobs = 1024;

/// Options of commands that fill a folder with the results of many points.
template <typename Arguments>
void add_results_options(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--jobs,-j", arguments.jobs,
                  "Points to compute in parallel (default: number of cores)")
      ->type_name("COUNT")
      ->check(CLI::Range(kFewestJobs, kMostJobs));
  command.add_flag("--retry", arguments.retry, "Recompute failed points");
  command.add_flag("--fresh", arguments.fresh, "Move existing results aside and start over");
}

void add_reproduce(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App* command = app.add_subcommand(
      "reproduce",
      "Run a study and compare it, row by row, with reported figures or closed-form results");
  command->footer(kReproduceFooter);
  command
      ->add_option("STUDY", arguments->study,
                   "Study of experiments/studies, or a folder with a study.json "
                   "(configs/schema/study.schema.json)")
      ->type_name(kFolder)
      ->transform(or_named_study())
      ->required();
  command
      ->add_option("--output,-o", arguments->output,
                   "Folder for results.jsonl, results.csv, rows.csv and study.json (default: "
                   "results/<name of the study>)")
      ->type_name(kFolder);
  command->add_flag("--strict", arguments->strict,
                    "Exit with 1 if any row is outside its tolerance, except for known misses");
  add_results_options(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = reproduce(*arguments); });
}

void add_quantize(CLI::App& app) {
  const auto arguments = std::make_shared<QuantizeArguments>();
  CLI::App* command =
      app.add_subcommand("quantize", "Quantize a tensor file once and report the error");
  command->footer(kQuantizeFooter);
  add_tensor_options(*command, *arguments);
  command->callback([arguments] { quantize(*arguments); });
}

void add_dequantize(CLI::App& app) {
  const auto arguments = std::make_shared<DequantizeArguments>();
  CLI::App* command = app.add_subcommand(
      "dequantize", "Decode a quantized weight of a checkpoint, and compare it with the original");
  command->footer(kDequantizeFooter);
  command->add_option("FILE", arguments->file, ".safetensors file")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command->add_option("--tensor", arguments->tensor, "Name of the weight (default: the only one)")
      ->type_name("NAME");
  command
      ->add_option("--layout", arguments->layout,
                   "Layout: gptq, gptq-v2, awq, pack-quantized, int-quantized, float-quantized, "
                   "mxfp4-pack-quantized, nvfp4-pack-quantized or modelopt-nvfp4 (default: by "
                   "names of the tensors)")
      ->type_name(kLayout);
  command
      ->add_option("--original", arguments->original,
                   "Compare with this tensor (.npy or .safetensors)")
      ->type_name(kPath);
  command
      ->add_option("--original-tensor", arguments->original_tensor,
                   "Name of the tensor in --original")
      ->type_name("NAME");
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the decoded tensor to this file (.npy, float32)")
      ->type_name(kFile);
  command->callback([arguments] { dequantize(*arguments); });
}

void add_sweep(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<SweepArguments>();
  CLI::App* command = app.add_subcommand(
      "sweep", "Run all combinations of values of some keys in parallel and store the results");
  command->footer(kSweepFooter);
  command
      ->add_option("SWEEP", arguments->file,
                   "Configuration and axes (configs/schema/sweep.schema.json)")
      ->type_name(kFile)
      ->transform(or_installed())
      ->required();
  add_overrides(*command, arguments->overrides, "the base's");
  command
      ->add_option(
          "--output,-o", arguments->output,
          "Folder for results.jsonl and results.csv (default: results/<name of the sweep>, with "
          "--shard a folder in it)")
      ->type_name(kFolder);
  add_results_options(*command, *arguments);
  command
      ->add_option("--shard", arguments->shard,
                   "Compute only part I of N; concatenate their results.jsonl to merge them")
      ->type_name("I/N");
  command->add_flag("--yes", arguments->yes, "Allow more than 100,000 points");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Print the number of points and of missing points without computing any");
  command->callback([arguments, &exit_code] { exit_code = sweep(*arguments); });
}

void add_report(CLI::App& app) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand(
      "report", "Write results as a self-contained HTML page with table, charts and pictures");
  command
      ->add_option(
          "RESULTS", arguments->results,
          "Results of 'run --json' (with --links for pictures), of 'serve --json' and 'plan "
          "--json', and of 'sweep', in any mix")
      ->type_name(kPath)
      ->required();
  command->add_option("--output,-o", arguments->output, "The HTML file")
      ->type_name(kFile)
      ->capture_default_str();
  command->add_option("--title", arguments->title, "Title of the page (default: the file names)");
  command->callback([arguments] { report(*arguments); });
}

/// Limits on the result of `tune` and `advise`.
template <typename Arguments>
void add_limits(CLI::App& app, Arguments& arguments) {
  app.add_option("--max-nmse", arguments.max_nmse, "Error limit: squared error / squared signal")
      ->type_name("NUMBER");
  app.add_option("--min-sqnr", arguments.min_sqnr, "Error limit in decibels, like '30 dB'")
      ->type_name("DECIBELS");
  app.add_option("--max-time", arguments.max_time, "Time limit, like '100 us'")->type_name("TIME");
  app.add_option("--contract", arguments.contract,
                 "Promises that the collective must keep, like fp32-sums,same-bits-on-all-ranks "
                 "(docs/contract.md)")
      ->type_name("PROMISES");
}

void add_budget(CLI::App& app, std::string& budget) {
  app.add_option(
         "--budget", budget,
         "Time budget, like '2 min'; allows candidates that need more than 10 s or 2 GiB each, "
         "cheap ones first")
      ->type_name("TIME");
}

void add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare two results of 'run --json': differences of configurations and results");
  command->footer(kCompareFooter);
  command->add_option("A", arguments->a, "Result of 'run --json'")->type_name(kPath)->required();
  command->add_option("B", arguments->b, "Result of 'run --json'; ratios are B / A")
      ->type_name(kPath)
      ->required();
  command->add_flag("--json", arguments->json,
                    "Print one JSON object instead of a table (docs/results.md)");
  command->callback([arguments] { compare(*arguments); });
}

void add_tune(CLI::App& app) {
  const auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand(
      "tune",
      "Find the best algorithms, formats and tilings for a collective or a step's collectives");
  command->footer(kTuneFooter);
  add_config(*command, arguments->config);
  add_limits(*command, *arguments);
  command
      ->add_option("--formats", arguments->formats,
                   "Formats to search, like int8,fp8-e4m3 (default: bf16, fp32 and all scaled "
                   "formats but int6 "
                   "and FNUZ)")
      ->type_name(kFormats);
  add_budget(*command, arguments->budget);
  command->add_flag(
      "--layouts", arguments->layouts,
      "Search layouts of a training step over its chips instead: degrees of parallelism, "
      "microbatches, schedules");
  command
      ->add_option("--axes", arguments->axes,
                   "With --layouts: mesh axes to use, like tensor,pipeline,data (default: all)")
      ->type_name("AXES");
  command
      ->add_option("--layout", arguments->layout,
                   "With --layouts: lengths of some axes, like tensor=4,pipeline=8")
      ->type_name("LENGTHS");
  command->add_flag("--exhaustive", arguments->exhaustive,
                    "Simulate every candidate, without pruning");
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the baseline and the best configuration to this file")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json,
                    "Print one JSON object instead of a table (docs/tuning.md)");
  command->callback([arguments] { tune(*arguments); });
}

void add_advise(CLI::App& app) {
  const auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* command = app.add_subcommand(
      "advise", "Recommend whether and how to quantize, with interval, break-even and sensitivity");
  command->footer(kAdviseFooter);
  add_config(*command, arguments->config);
  add_price(*command, arguments->config.overrides);
  add_limits(*command, *arguments);
  command
      ->add_option("--formats", arguments->formats,
                   "Scaled formats to choose from, like int8,fp8-e4m3 (default: all but int6 and "
                   "FNUZ)")
      ->type_name(kFormats);
  add_budget(*command, arguments->budget);
  command
      ->add_option("--slices", arguments->slices,
                   "Print one row per slice, like 4x2,4x4, instead of the configured topology")
      ->type_name("SLICES");
  command
      ->add_option(
          "--chips", arguments->chips,
          "Print one row per chip, like tpu-v5e,tpu-v6e, instead of the configured hardware")
      ->type_name("CHIPS");
  command->add_flag("--gates", arguments->gates,
                    "Print the tensor size from which each codec is faster than plain instead");
  command
      ->add_option("--ranks", arguments->ranks,
                   "With --gates: numbers of chips on a switch or fully connected, like 2,4,8 "
                   "(default: powers of two)")
      ->type_name("NUMBERS");
  command
      ->add_option("--hardware", arguments->program.hardware,
                   "HLO program: built-in chip or hardware file (default: tpu-v5e)")
      ->type_name(kChip);
  command
      ->add_option("--topology", arguments->program.topology,
                   "HLO program: slice, like 4x4, or kind and value, like torus:4x4x4")
      ->type_name("TOPOLOGY");
  command
      ->add_option("--mesh", arguments->program.mesh,
                   "HLO program: mesh axes, slowest first, like data=2,model=8 (default: derived "
                   "from its groups)")
      ->type_name("AXES");
  command
      ->add_option("--device-order", arguments->program.device_order,
                   "HLO program: chips of its devices, as for import hlo")
      ->type_name("ORDER");
  command
      ->add_option("--trip-count", arguments->program.trip_counts,
                   "HLO program: trip count of loops without a known one, as for import hlo")
      ->type_name("COUNT")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--report", arguments->report,
                   "Also write the advice and the compared runs to this HTML file")
      ->type_name(kFile);
  command
      ->add_option("--plot", arguments->plot,
                   "Also draw verdicts, speedups and break-even size to this .svg, .png or .pdf "
                   "file (needs Python with matplotlib)")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json, "Print one JSON object instead (docs/results.md)");
  command->callback([arguments] { advise(*arguments); });
}

void add_accuracy(CLI::App& app) {
  const auto arguments = std::make_shared<AccuracyArguments>();
  CLI::App* command = app.add_subcommand(
      "accuracy", "How far simulated figures were from measurements, by class of question");
  command->footer(kAccuracyFooter);
  command
      ->add_option("RESULTS", arguments->results,
                   "Results of studies (folders of reproduce); default: all studies, as of this "
                   "version")
      ->type_name(kFolder);
  command->add_flag("--rows", arguments->rows, "Also list every measured row");
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the rows (JSON), as in configs/accuracy/rows.json")
      ->type_name(kFile);
  command->add_option("--page", arguments->page, "Write docs/accuracy.md")->type_name(kFile);
  command->callback([arguments] { accuracy(*arguments); });
}

void add_calibrate(CLI::App& app) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit parameters of a chip to measurements");
  command->footer(kCalibrateFooter);
  command
      ->add_option("FILE", arguments->file,
                   "Measurements (JSON, configs/schema/calibration.schema.json)")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command
      ->add_option("--output,-o", arguments->output,
                   "Write a hardware file with the fitted parameters and their uncertainty")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json,
                    "Print one JSON object instead of a table (docs/calibrate.md)");
  command->callback([arguments] { calibrate(*arguments); });
}

void add_kernels(CLI::App& app) {
  const auto arguments = std::make_shared<KernelsArguments>();
  CLI::App* command = app.add_subcommand(
      "kernels", "Time GEMMs, passes and attention of a list, and compare with measured times");
  command->footer(kKernelsFooter);
  command->add_option("LIST", arguments->file, "List of kernels (.jsonl or .csv)")
      ->required()
      ->type_name(kFile);
  command->add_option("--hardware", arguments->hardware, "Built-in chip or hardware file")
      ->required();
  command->add_option("--timer-overhead", arguments->timer_overhead,
                      "Part of each measured time, like \"3 us\" (default: 0)");
  command->add_option("--origin", arguments->origin, "Origin of the measured times, for --output");
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the rows as the results of a study (study.json), for accuracy")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json, "Print one JSON object instead of tables");
  command->callback([arguments] { kernels(*arguments); });
}

void add_hardware(CLI::App& app) {
  const auto arguments = std::make_shared<HardwareArguments>();
  CLI::App* command = app.add_subcommand(
      "hardware", "List the built-in chips, or show a chip's parameters with their sources");
  command->add_option("CHIP", arguments->chip, "Name of a built-in chip or path of a hardware file")
      ->type_name(kChip)
      ->transform(or_installed());
  command->add_flag("--json", arguments->json,
                    "Print JSON instead of a table; for a single chip, a hardware file");
  command->callback([arguments] { hardware(*arguments); });
}

void add_topology(CLI::App& app) {
  const auto arguments = std::make_shared<TopologyArguments>();
  CLI::App* command = app.add_subcommand(
      "topology", "Describe a topology: size, distances, bisection and the ring through all chips");
  command->footer(kTopologyFooter);
  add_topology_options(*command, *arguments);
  command->callback([arguments] { describe_topology(*arguments); });
}

void add_config_new(CLI::App& app) {
  const auto arguments = std::make_shared<ConfigNewArguments>();
  CLI::App* command =
      app.add_subcommand("config", "Write a commented configuration as a starting point");
  command->footer(kConfigFooter);
  command->add_option("ACTION", arguments->action, "Action: new")->type_name(kNew)->required();
  command->add_option("TEMPLATE", arguments->name, "Template, see below")
      ->type_name(kTemplate)
      ->required();
  command->add_option("--output,-o", arguments->output, "Write to this file, which must not exist")
      ->type_name(kFile);
  command->callback([arguments] { new_config(*arguments); });
}

/// For the Python package; hidden from help and pages (empty group).
void add_answer(CLI::App& app) {
  CLI::App* command = app.add_subcommand("answer", "Answer requests of another program");
  command->group("");
  command->callback([] { answer_requests(); });
}

}  // namespace

std::unique_ptr<CLI::App> make_app(int& exit_code) {
  auto app = std::make_unique<CLI::App>(kAbout, "equarx-sim");
  app->set_version_flag("--version", fmt::format("equarx-sim {}", output::version()));
  app->require_subcommand(1);
  add_run(*app);
  add_show(*app);
  add_validate(*app);
  add_reproduce(*app, exit_code);
  add_quantize(*app);
  add_matmul(*app);
  add_attention(*app);
  add_experts(*app);
  add_dequantize(*app);
  add_sweep(*app, exit_code);
  add_tune(*app);
  add_advise(*app);
  add_serve(*app);
  add_plan(*app);
  add_contract(*app);
  add_vectors(*app);
  add_import(*app);
  add_export(*app);
  add_accuracy(*app);
  add_kernels(*app);
  add_calibrate(*app);
  add_report(*app);
  add_compare(*app);
  add_hardware(*app);
  add_topology(*app);
  add_config_new(*app);
  add_answer(*app);
  app->footer(kFooter);  // last: subcommands made later would inherit it
  return app;
}

}  // namespace equarx::cli
