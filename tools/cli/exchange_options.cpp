#include "tools/cli/exchange_options.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/cli/app.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/export_command.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/import_command.hpp"

namespace equarx::cli {
namespace {

/// Options that files of some kinds have.
struct OptionsOfKind {
  std::vector<std::string> kinds;
  std::vector<CLI::Option*> options = {};
};

void add_program_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--mesh", arguments.mesh,
                      "hlo, chakra: axes of the program's mesh from the slowest, like "
                      "data=2,model=8; by default as its groups divide the chips")
          ->type_name("AXES"),
      command
          .add_option("--formats", arguments.formats,
                      "hlo, chakra: a variant of the step for each of these, like int8,mxfp8-e4m3")
          ->type_name(kFormats)
          ->capture_default_str(),
      command
          .add_option("--min-bytes", arguments.min_bytes,
                      "hlo, chakra: collectives of less are left as they are")
          ->type_name("BYTES")
          ->capture_default_str(),
      command
          .add_option(
              "--output,-o", arguments.output,
              "hlo, chakra: write the step's configuration into this file; - prints it, and "
              "nothing else")
          ->type_name(kFile),
      command.add_flag("--only-read", arguments.only_read,
                       "hlo, chakra: say what is in the program, and simulate nothing")};
}

void add_hlo_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--trip-count", arguments.trip_counts,
                      "hlo: how often loops run whose text does not say it, like 32, or one of "
                      "them, like while.5=32; may be repeated")
          ->type_name("COUNT")
          ->expected(1)
          ->take_all()};
}

void add_chakra_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--groups", arguments.groups,
                      "chakra: JSON file of communicator groups, as ASTRA-sim reads it")
          ->type_name(kFile),
      command
          .add_option("--dtype", arguments.dtype,
                      "chakra: what is communicated is of this type, like fp32")
          ->type_name("TYPE")
          ->capture_default_str(),
      command.add_flag("--recorded-times", arguments.recorded_times,
                       "chakra: computations take the time that was recorded")};
}

void add_msccl_options(CLI::App& command, ImportArguments& arguments, OptionsOfKind& of_kind) {
  of_kind.options = {
      command
          .add_option("--bytes", arguments.bytes,
                      "msccl: of the whole buffer, as nccl-tests counts them")
          ->type_name("BYTES")
          ->capture_default_str(),
      command
          .add_option("--buffer", arguments.buffer,
                      "msccl: what a queue of the Simple protocol has room for, NCCL_BUFFSIZE")
          ->type_name("BYTES")
          ->capture_default_str(),
      command
          .add_option("--format", arguments.format,
                      "msccl: of what is sent, like int8: an extension; by default FP32")
          ->type_name("FORMAT"),
      command.add_flag("--only-check", arguments.only_check,
                       "msccl: hold the schedule to its collective, and simulate nothing")};
}

}  // namespace

void add_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export",
                         "Write a step as execution traces of Chakra, for ASTRA-sim; or a "
                         "collective that is not quantized as a schedule of MSCCL");
  command->footer(kExportFooter);
  command
      ->add_option("KIND", arguments->kind,
                   "What to write: chakra, execution traces; msccl, a schedule in MSCCL's XML")
      ->type_name(kExportKind)
      ->required();
  add_config(*command, arguments->config);
  command
      ->add_option(
          "--collective", arguments->collective,
          "msccl: its label; by default the first of the configuration that can be written")
      ->type_name("LABEL");
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the schedule into this file, by default to standard output; of traces "
                   "what they are called before .0.et, .1.et and so on")
      ->type_name(kFile);
  command->callback([arguments] { export_config(*arguments); });
}

void add_import(CLI::App& app) {
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand(
      "import",
      "Read a program of XLA or traces of Chakra, and say what quantizing collectives would bring; "
      "or a schedule of MSCCL");
  command->footer(kImportFooter);
  command
      ->add_option(
          "KIND", arguments->kind,
          "What the file is: hlo, HLO text of XLA; chakra, execution traces; msccl, a schedule "
          "in MSCCL's XML")
      ->type_name(kKind)
      ->required();
  command
      ->add_option(
          "FILE", arguments->file,
          "The program or schedule; - for standard input. Of traces what is before .0.et, or one "
          "file")
      ->type_name(kPath)
      ->transform(or_installed())
      ->required();
  command
      ->add_option("--hardware", arguments->hardware,
                   "Built-in chip or hardware file; by default mi300x of msccl, tpu-v5e of others")
      ->type_name(kChip);
  command
      ->add_option("--topology", arguments->topology,
                   "The machine: a slice like 4x4, another kind like torus:4x4x4 or "
                   "fully-connected:8, or a JSON object")
      ->type_name("MACHINE");
  CLI::Option* json = command->add_flag(
      "--json", arguments->json, "Print one JSON object instead of a table (docs/results.md)");
  const auto kinds = std::make_shared<std::array<OptionsOfKind, 4>>(
      std::array<OptionsOfKind, 4>{{{{"hlo", "chakra"}}, {{"hlo"}}, {{"chakra"}}, {{"msccl"}}}});
  add_program_options(*command, *arguments, (*kinds)[0]);
  add_hlo_options(*command, *arguments, (*kinds)[1]);
  add_chakra_options(*command, *arguments, (*kinds)[2]);
  add_msccl_options(*command, *arguments, (*kinds)[3]);
  command->get_option("--only-read")->excludes(json);
  command->callback([arguments, kinds] {
    for (const OptionsOfKind& of : *kinds)
      for (const CLI::Option* option : of.options)
        if (option->count() > 0)
          arguments->given_of_kind.emplace_back(option->get_name(), of.kinds);
    import_program(*arguments);
  });
}

}  // namespace equarx::cli
