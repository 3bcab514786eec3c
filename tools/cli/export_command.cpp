#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/output_file.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/predict/table.hpp"
#include "experiments/predict/xla_table.hpp"
#include "importers/chakra/import.hpp"
#include "importers/msccl/msccl_export.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/requested_machines.hpp"

namespace equarx::cli {
namespace {

constexpr const char* kChakraTraces = "chakra";
constexpr const char* kMscclSchedule = "msccl";
constexpr const char* kCsvTable = "csv";
constexpr const char* kNcclPerfTable = "nccl-perf";
constexpr const char* kXlaTable = "xla";
constexpr const char* kToStandardOutput = "-";

void write_whole(const std::string& path, const std::string& bytes) {
  output::OutputFile file(path);
  file.stream() << bytes;
  file.keep();
}

bool has_formats(const config::StepConfig& config) {
  for (const config::StepVariant& variant : config.variants)
    for (const config::CollectiveConfig& collective : variant.collectives)
      if (collective.format.scaled) return true;
  return false;
}

void export_chakra(const ExportArguments& arguments) {
  if (arguments.output.empty())
    throw input::InputError("", "--output: is required: the path prefix of the traces");
  const input::JsonValue json = read_json(arguments.config);
  const config::Config read = read_any(arguments.config.path, json);
  if (!std::holds_alternative<config::StepConfig>(read))
    throw input::InputError(
        "", fmt::format("{}: is not a step; traces are exported from configurations with "
                        "\"step\" or \"workload\" (docs/steps.md)",
                        name_of(arguments.config.path)));
  const auto& config = std::get<config::StepConfig>(read);
  const imports::ChakraExport traces =
      naming_file(arguments.config.path, [&] { return imports::ChakraExport(config); });
  double bytes = 0.0;
  for (std::uint32_t chip = 0; chip < traces.chips(); ++chip) {
    const std::string trace = traces.trace(chip);
    bytes += static_cast<double>(trace.size());
    write_whole(imports::trace_path(arguments.output, chip), trace);
  }
  const std::string groups = arguments.output + ".groups.json";
  write_whole(groups, traces.groups());
  const std::size_t tasks = config.graph.tasks.size();
  print(fmt::format("{} to {}: {}, {} in total\n{}\n", imports::trace_path(arguments.output, 0),
                    imports::trace_path(arguments.output, traces.chips() - 1),
                    config.permutes.empty() ? fmt::format("{} nodes each", tasks)
                                            : fmt::format("nodes of {} tasks", tasks),
                    units::bytes_text(bytes), groups));
  if (has_formats(config))
    print("Traces do not support formats: collectives have unquantized sizes.\n");
}

/// Writes the text that `make` returns for the configuration to a file or to standard output.
template <typename Make>
void write_text(const ExportArguments& arguments, Make&& make) {
  const bool prints = arguments.output.empty() || arguments.output == kToStandardOutput;
  const ConfigFile file = read_config_file(arguments.config);
  if (!prints) check_not_read(arguments.output, arguments.config.path, file.config);
  const std::string text = std::forward<Make>(make)(file);
  prints ? print(text) : write_whole(arguments.output, text);
}

void export_schedule(const ExportArguments& arguments) {
  write_text(arguments, [&](const ConfigFile& file) {
    return naming_file(arguments.config.path,
                       [&] { return imports::export_msccl(file.config, arguments.collective); });
  });
}

/// Numbers of ranks of a table: all chips where groups are no machines of their own.
std::vector<std::uint32_t> ranks_of(const config::TopologyConfig& topology,
                                    const std::string& ranks) {
  if (!config::joins_all_alike(topology) && ranks.empty()) return {0};
  return numbers_of_ranks(ranks, config::count_chips(topology));
}

predict::Table table_of(const ExportArguments& arguments, const ConfigFile& file) {
  constexpr const char* kSizes = "1 KiB..1 GiB";
  const bool whole = arguments.kind == kCsvTable;
  ProgressLine line;
  line.show("predicting");
  predict::Grid grid{split_at_commas(arguments.collectives),
                     predict::read_sizes(arguments.bytes.empty() ? kSizes : arguments.bytes),
                     ranks_of(file.config.topology, arguments.ranks)};
  return predict::make_table(file.json, grid,
                             {.label = arguments.collective,
                              .errors = whole,
                              .intervals = whole,
                              .share = [&](double done) { line.share(done); }});
}

void export_table(const ExportArguments& arguments) {
  if (!arguments.device.empty() && arguments.kind != kXlaTable)
    throw input::InputError("", "--device: applies to export xla only; remove it");
  write_text(arguments, [&](const ConfigFile& file) {
    const predict::Table table = table_of(arguments, file);
    if (table.left_out > 0)
      print_message(fmt::format("equarx-sim: {} of {} rows cannot run: {}\n", table.left_out,
                                table.left_out + table.rows.size(), table.obstacle));
    if (arguments.kind == kXlaTable) return predict::to_xla_table(table, arguments.device);
    return arguments.kind == kCsvTable ? predict::to_csv(table) : predict::to_nccl_perf(table);
  });
}

}  // namespace

void export_config(const ExportArguments& arguments) {
  const bool is_table = arguments.kind == kCsvTable || arguments.kind == kNcclPerfTable ||
                        arguments.kind == kXlaTable;
  if (arguments.kind != kChakraTraces && arguments.kind != kMscclSchedule && !is_table)
    throw input::InputError(
        "", fmt::format("unknown export format '{}'; use {}, {}, {}, {} or {}", arguments.kind,
                        kChakraTraces, kMscclSchedule, kCsvTable, kNcclPerfTable, kXlaTable));
  if (is_table) return export_table(arguments);
  const char* const option = first_given({{!arguments.collectives.empty(), "--collectives"},
                                          {!arguments.bytes.empty(), "--bytes"},
                                          {!arguments.ranks.empty(), "--ranks"},
                                          {!arguments.device.empty(), "--device"}});
  if (option != nullptr)
    throw input::InputError("", fmt::format("{}: applies to tables only; remove it", option));
  if (arguments.kind == kMscclSchedule) return export_schedule(arguments);
  if (!arguments.collective.empty())
    throw input::InputError("", "--collective: does not apply to export chakra; remove it");
  export_chakra(arguments);
}

}  // namespace equarx::cli
