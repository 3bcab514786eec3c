#include <cstdint>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/output_file.hpp"
#include "base/units/quantity.hpp"
#include "importers/chakra/import.hpp"
#include "importers/msccl/msccl_export.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

constexpr const char* kChakraTraces = "chakra";
constexpr const char* kMscclSchedule = "msccl";

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

void export_schedule(const ExportArguments& arguments) {
  constexpr const char* kToStandardOutput = "-";
  const bool prints = arguments.output.empty() || arguments.output == kToStandardOutput;
  const ConfigFile file = read_config_file(arguments.config);
  if (!prints) check_not_read(arguments.output, arguments.config.path, file.config);
  const std::string text = naming_file(arguments.config.path, [&] {
    return imports::export_msccl(file.config, arguments.collective);
  });
  prints ? print(text) : write_whole(arguments.output, text);
}

}  // namespace

void export_config(const ExportArguments& arguments) {
  if (arguments.kind != kChakraTraces && arguments.kind != kMscclSchedule)
    throw input::InputError("", fmt::format("unknown export format '{}'; use {} or {}",
                                            arguments.kind, kChakraTraces, kMscclSchedule));
  if (arguments.kind == kMscclSchedule) return export_schedule(arguments);
  if (!arguments.collective.empty())
    throw input::InputError("", "--collective: applies to export msccl only; remove it");
  export_chakra(arguments);
}

}  // namespace equarx::cli
