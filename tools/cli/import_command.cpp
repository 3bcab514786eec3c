#include "tools/cli/import_command.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/files.hpp"
#include "base/output/output_file.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/format_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/chakra/import.hpp"
#include "importers/common/audit_report.hpp"
#include "importers/common/program_report.hpp"
#include "importers/hlo/import.hpp"
#include "importers/msccl/msccl.hpp"
#include "importers/msccl/msccl_report.hpp"
#include "importers/msccl/msccl_time.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/import_profile.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

constexpr std::string_view kHlo = "hlo";
constexpr std::string_view kKineto = "kineto";
constexpr std::string_view kXprof = "xprof";
constexpr std::string_view kChakra = "chakra";
constexpr std::string_view kMsccl = "msccl";
constexpr const char* kStandardOutput = "-";

double read_bytes(const char* option, const std::string& text) {
  return input::at(option, [&] { return units::parse(text, units::Dimension::bytes); });
}

std::string program_text(const std::string& path) {
  return path == kStandardInput ? read_text(path) : imports::read_program(path);
}

void check_options(const ImportArguments& arguments) {
  constexpr std::array kKinds = {kHlo, kKineto, kXprof, kChakra, kMsccl};
  if (std::ranges::find(kKinds, arguments.kind) == kKinds.end())
    throw input::InputError("", fmt::format("unknown import format '{}'; use one of {}",
                                            arguments.kind, fmt::join(kKinds, ", ")));
  if (!arguments.more_files.empty() && arguments.kind != kKineto)
    throw input::InputError("", fmt::format("import {} takes one file; remove '{}'", arguments.kind,
                                            arguments.more_files.front()));
  for (const auto& [option, kinds] : arguments.given_of_kind)
    if (std::ranges::find(kinds, arguments.kind) == kinds.end())
      throw input::InputError("", fmt::format("{}: applies to import {} only; remove it", option,
                                              fmt::join(kinds, ", ")));
}

std::uint64_t read_whole_bytes(const char* option, const std::string& text, double least,
                               double most) {
  const double bytes = read_bytes(option, text);
  if (!(bytes >= least && bytes <= most) || bytes != std::floor(bytes))
    throw input::InputError(
        "", fmt::format("{}: '{}' must be a whole number of bytes from {} to {}", option, text,
                        units::bytes_text(least), units::bytes_text(most)));
  return static_cast<std::uint64_t>(bytes);
}

imports::MscclOptions msccl_options(const ImportArguments& arguments) {
  constexpr double kMostBytes = 1e15;
  constexpr double kLeastBuffer = 4096.0;
  constexpr double kMostBuffer = 1073741824.0;
  imports::MscclOptions options;
  if (!arguments.hardware.empty()) options.hardware = arguments.hardware;
  options.topology = arguments.topology;
  options.bytes = read_whole_bytes("--bytes", arguments.bytes, 1.0, kMostBytes);
  options.format = arguments.format;
  options.buffer = read_whole_bytes("--buffer", arguments.buffer, kLeastBuffer, kMostBuffer);
  return options;
}

std::string schedule_text(const std::string& path) {
  return path == kStandardInput ? read_text(path) : imports::read_schedule_text(path);
}

void import_schedule(const ImportArguments& arguments) {
  const imports::MscclSchedule made = naming_file(
      arguments.file, [&] { return imports::read_msccl(schedule_text(arguments.file)); });
  std::optional<imports::MscclTime> time;
  if (!arguments.only_check)
    time = naming_file(arguments.file, [&] {
      return naming_options("", [&] { return time_msccl(made, msccl_options(arguments)); });
    });
  if (arguments.json) return print(input::json_text(to_json(made, time), 2) + "\n");
  print(time ? to_table(made, *time) : summary_text(made));
}

numerics::ElementFormat read_dtype(const std::string& text) {
  std::vector<std::string_view> names;
  for (const numerics::ElementFormat format : numerics::kTensorFormats) {
    names.push_back(numerics::name(format));
    if (names.back() == text) return format;
  }
  throw input::InputError(
      "", fmt::format("--dtype: '{}' is not known; use one of {}", text, fmt::join(names, ", ")));
}

imports::ImportedProgram read_chakra(const ImportArguments& arguments) {
  imports::ChakraImportOptions options;
  read_options(arguments, options);
  options.dtype = read_dtype(arguments.dtype);
  options.recorded_times = arguments.recorded_times;
  if (!arguments.groups.empty()) options.groups = read_text(arguments.groups);
  return naming_options("", [&] {
    return imports::import_chakra(std::filesystem::path(arguments.file).filename().string(),
                                  imports::read_traces(arguments.file), options);
  });
}

/// Reads a program of any kind that becomes a step.
imports::ImportedProgram read_any_program(const ImportArguments& arguments) {
  if (arguments.kind == kChakra) return read_chakra(arguments);
  return read_hlo(arguments,
                  naming_file(arguments.file, [&] { return program_text(arguments.file); }));
}

/// Findings with the times of their remedies; std::nullopt if no audit was requested.
std::optional<imports::AuditResult> audit(const ImportArguments& arguments,
                                          const imports::ImportedProgram& program,
                                          const step::StepResult& result) {
  if (!program.audit) return std::nullopt;
  ProgressLine line;
  return naming_file(arguments.file, [&] {
    return imports::run_audit(program, *program.audit, result,
                              [&](const std::string& text) { line.show(text); });
  });
}

void print_result(const ImportArguments& arguments, const imports::ImportedProgram& program,
                  const step::StepResult& result) {
  const std::optional<imports::AuditResult> findings = audit(arguments, program, result);
  if (!arguments.json)
    return print(to_table(program, result) + (findings ? to_text(*findings, program) : ""));
  input::Json json = to_json(program, result);
  if (findings) json["audit"] = to_json(*findings);
  print(input::json_text(json, 2) + "\n");
}

void import_step(const ImportArguments& arguments) {
  const bool to_standard_output = arguments.output == kStandardOutput;
  if (to_standard_output && arguments.audit)
    throw input::InputError(
        "", "--audit: prints findings, but --output - prints the configuration only; remove one");
  const StopNotice notice(to_standard_output ? "" : arguments.output);
  std::optional<output::OutputFile> file;
  if (!arguments.output.empty() && !to_standard_output) {
    output::check_not_input(arguments.output, std::array{arguments.file});
    file.emplace(arguments.output);
  }
  imports::ImportedProgram program = read_any_program(arguments);
  if (to_standard_output) return print(program.step->dump(2) + "\n");
  if (file) file->stream() << program.step->dump(2) << '\n';
  if (arguments.only_read) {
    print(summary_text(program));
  } else {
    const step::StepPlan plan =
        naming_file(arguments.file, [&] { return plan_step(program.step); });
    if (!arguments.audit) program.step = input::Json();  // takes as much memory as the plan
    const step::StepResult result = naming_file(arguments.file, [&] { return simulate(plan); });
    print_result(arguments, program, result);
  }
  if (file) file->keep();
}

}  // namespace

void read_options(const ImportArguments& arguments, imports::ProgramOptions& options) {
  if (!arguments.hardware.empty()) options.hardware = arguments.hardware;
  options.topology = arguments.topology;
  options.mesh = imports::read_lengths("--mesh", arguments.mesh);
  options.device_order = arguments.device_order;
  options.formats = split_at_commas(arguments.formats);
  for (const std::string& format : options.formats)
    config::check_format_name(std::string(config::format_name(format)), "--formats");
  options.min_bytes = read_bytes("--min-bytes", arguments.min_bytes);
}

step::StepPlan plan_step(const input::Json& json) {
  return step::make_plan(config::read_step_config(json));
}

step::StepResult simulate(const step::StepPlan& plan) {
  ProgressLine line;
  return step::run_step(plan, [&](const std::string& text) { line.show(text); });
}

imports::ImportedProgram read_hlo(const ImportArguments& arguments, std::string text) {
  imports::HloOptions options;
  read_options(arguments, options);
  options.calls = imports::read_custom_calls(arguments.custom_calls);
  options.chips = imports::read_chips(arguments.chips);
  options.audit = arguments.audit;
  options.counts = imports::read_trip_counts("--trip-count", arguments.trip_counts);
  return naming_file(arguments.file, [&] {
    return naming_options("", [&] { return imports::import_hlo(std::move(text), options); });
  });
}

void import_program(const ImportArguments& arguments) {
  check_options(arguments);
  if (arguments.kind == kMsccl) return import_schedule(arguments);
  if (arguments.kind == kKineto) return import_profile(arguments, imports::Profiler::kineto);
  if (arguments.kind == kXprof) return import_profile(arguments, imports::Profiler::xprof);
  import_step(arguments);
}

}  // namespace equarx::cli
