#include "tools/cli/exchange_options.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"

namespace equarx::cli {
namespace {

/// Options that apply to some import kinds only.
struct OptionsOfKind {
  std::vector<std::string> kinds;
  std::vector<CLI::Option*> options = {};
};

void add_mesh_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--mesh", arguments.mesh,
                      "all but msccl: mesh axes of the program, slowest first, like "
                      "data=2,model=8 (default: derived from its groups)")
          ->type_name("AXES"),
      command
          .add_option(
              "--device-order", arguments.device_order,
              "all but msccl: chips of the program's devices: jax (create_device_mesh), machine "
              "(device i is chip i), or their numbers, like 0,1,3,2 (default: jax on grids, "
              "machine on GPUs)")
          ->type_name("ORDER"),
      command
          .add_option("--formats", arguments.formats,
                      "all but msccl: also simulate quantized collectives, a variant per format, "
                      "like int8,mxfp8-e4m3")
          ->type_name(kFormats)
          ->capture_default_str(),
      command
          .add_option("--min-bytes", arguments.min_bytes,
                      "all but msccl: keep smaller collectives unquantized")
          ->type_name("BYTES")
          ->capture_default_str()};
}

void add_program_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--output,-o", arguments.output,
                      "hlo, chakra: write the step's configuration to this file; - prints only the "
                      "configuration")
          ->type_name(kFile),
      command.add_flag("--only-read", arguments.only_read,
                       "hlo, chakra: summarize the program without simulating it")};
}

void add_hlo_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--trip-count", arguments.trip_counts,
                      "hlo: trip count of loops without a known one, like 32, or of a single loop, "
                      "like while.5=32; may be repeated")
          ->type_name("COUNT")
          ->expected(1)
          ->take_all(),
      command
          .add_option("--chips", arguments.chips,
                      "hlo: chips that the program is for, if its header has no num_partitions "
                      "(default: as many as its collectives name)")
          ->type_name("CHIPS"),
      command
          .add_option(
              "--custom-call", arguments.custom_calls,
              "hlo: FLOPs, and optionally HBM bytes, of a custom-call by target or name, like "
              "my_kernel=1.5e12 or my_kernel=1.5e12:2e9; may be repeated")
          ->type_name("NAME=FLOPS")
          ->expected(1)
          ->take_all(),
      command.add_flag("--audit", arguments.audit,
                       "hlo: list collectives that move too many bytes, round too often, repeat "
                       "themselves or hold up the core, with the time that a remedy saves")};
}

void add_chakra_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {command
                         .add_option("--groups", arguments.groups,
                                     "chakra: JSON file of communicator groups, as for ASTRA-sim")
                         ->type_name(kFile),
                     command
                         .add_option("--dtype", arguments.dtype,
                                     "chakra: element type of communicated tensors, like fp32")
                         ->type_name("TYPE")
                         ->capture_default_str(),
                     command.add_flag("--recorded-times", arguments.recorded_times,
                                      "chakra: use the recorded durations of compute nodes")};
}

void add_msccl_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {command
                         .add_option("--bytes", arguments.bytes,
                                     "msccl: size of the whole buffer, as counted by nccl-tests")
                         ->type_name("BYTES")
                         ->capture_default_str(),
                     command
                         .add_option("--buffer", arguments.buffer,
                                     "msccl: buffer size of the Simple protocol, NCCL_BUFFSIZE")
                         ->type_name("BYTES")
                         ->capture_default_str(),
                     command
                         .add_option("--format", arguments.format,
                                     "msccl: wire format, like int8 (an extension; default: FP32)")
                         ->type_name("FORMAT"),
                     command.add_flag("--only-check", arguments.only_check,
                                      "msccl: validate the schedule without simulating it")};
}

void add_table_options(CLI::App& command, ExportArguments& arguments) {
  command
      .add_option("--collectives", arguments.collectives,
                  "tables: kinds of collectives, like all-reduce,all-gather (default: the "
                  "configured one)")
      ->type_name("KINDS");
  command
      .add_option("--bytes", arguments.bytes,
                  "tables: sizes, like '64 KiB,1 MiB', or '1 KiB..1 GiB' for doubling ones "
                  "(default: 1 KiB..1 GiB)")
      ->type_name("BYTES");
  command
      .add_option("--ranks", arguments.ranks,
                  "tables: numbers of ranks on a switch or fully connected, like 2,4,8 (default: "
                  "powers of two up to the configured number)")
      ->type_name("RANKS");
  command
      .add_option("--device", arguments.device,
                  "xla: key of the device, like sm_90 (default: by chip)")
      ->type_name("KEY");
}

}  // namespace

void add_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export",
                         "Export a step as Chakra execution traces, for ASTRA-sim, an unquantized "
                         "collective as an MSCCL schedule, or predictions as a table for other "
                         "tools");
  command->footer(kExportFooter);
  command
      ->add_option("KIND", arguments->kind,
                   "Output: chakra (execution traces), msccl (MSCCL XML schedule), or a table of "
                   "predictions: csv, nccl-perf (columns of AIConfigurator) or xla (text proto of "
                   "XLA's cost model)")
      ->type_name(kExportKind)
      ->required();
  add_config(*command, arguments->config);
  command
      ->add_option("--collective", arguments->collective,
                   "msccl, tables: label of the collective (default: the first that can be "
                   "exported, or all)")
      ->type_name("LABEL");
  add_table_options(*command, *arguments);
  command
      ->add_option(
          "--output,-o", arguments->output,
          "Output file (default: standard output); chakra: path prefix of the traces, before "
          ".0.et, .1.et, ...")
      ->type_name(kFile);
  command->callback([arguments] { export_config(*arguments); });
}

void add_import(CLI::App& app) {
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand("import",
                                         "Import an XLA program or Chakra traces and estimate the "
                                         "speedup of quantized collectives, compare recorded "
                                         "times of a profile, or simulate an MSCCL schedule");
  command->footer(kImportFooter);
  command
      ->add_option(
          "KIND", arguments->kind,
          "Input: hlo (HLO text of XLA), kineto (profiles of PyTorch), xprof (profile of XLA), "
          "chakra (execution traces) or msccl (MSCCL XML schedule)")
      ->type_name(kKind)
      ->required();
  command
      ->add_option(
          "FILE", arguments->file,
          "Program, profile or schedule, - for standard input; for traces the path prefix before "
          ".0.et, or one file")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command->add_option("MORE", arguments->more_files, "kineto: profiles of other ranks")
      ->type_name(kPath)
      ->transform(or_installed());
  command
      ->add_option("--hardware", arguments->hardware,
                   "Built-in chip or hardware file (default: h100 for kineto, mi300x for msccl, "
                   "else tpu-v5e)")
      ->type_name(kChip);
  command
      ->add_option(
          "--topology", arguments->topology,
          "Topology: a slice like 4x4, another kind like torus:4x4x4 or fully-connected:8, "
          "or a JSON object")
      ->type_name("TOPOLOGY");
  CLI::Option* json = command->add_flag(
      "--json", arguments->json, "Print one JSON object instead of a table (docs/results.md)");
  const auto kinds = std::make_shared<std::array<OptionsOfKind, 5>>(
      std::array<OptionsOfKind, 5>{{{{"hlo", "chakra"}},
                                    {{"hlo"}},
                                    {{"chakra"}},
                                    {{"msccl"}},
                                    {{"hlo", "kineto", "xprof", "chakra"}}}});
  add_mesh_options(*command, *arguments, (*kinds)[4]);
  add_program_options(*command, *arguments, (*kinds)[0]);
  add_hlo_options(*command, *arguments, (*kinds)[1]);
  add_chakra_options(*command, *arguments, (*kinds)[2]);
  add_msccl_options(*command, *arguments, (*kinds)[3]);
  command->get_option("--only-read")->excludes(json);
  command->get_option("--only-read")->excludes(command->get_option("--audit"));
  command->callback([arguments, kinds] {
    for (const OptionsOfKind& of : *kinds)
      for (const CLI::Option* option : of.options)
        if (option->count() > 0)
          arguments->given_of_kind.emplace_back(option->get_name(), of.kinds);
    import_program(*arguments);
  });
}

}  // namespace equarx::cli
