#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/files.hpp"
#include "base/output/output_file.hpp"
#include "base/output/provenance.hpp"
#include "experiments/advise/report.hpp"
#include "experiments/advise/step_report.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/report/pictures.hpp"
#include "experiments/report/report.hpp"
#include "experiments/result/json.hpp"
#include "importers/hlo/import.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/gates_command.hpp"
#include "tools/cli/import_command.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/plotted_result.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/requested_machines.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

/// Default error limit; about the SQNR of int8 over a hundred chips, which most models tolerate.
constexpr const char* kDefaultSqnr = "30 dB";

tune::TuneOptions read_options(const AdviseArguments& arguments) {
  const bool unlimited = arguments.max_nmse.empty() && arguments.min_sqnr.empty();
  tune::TuneOptions options;
  options.limits = tune::read_limits(
      {arguments.max_nmse, unlimited ? kDefaultSqnr : arguments.min_sqnr, arguments.max_time});
  options.promises = contract::read_promises(split_at_commas(arguments.contract));
  options.formats = split_at_commas(arguments.formats);
  options.budget_s = tune::read_time("--budget", arguments.budget);
  return options;
}

advise::Advice advise_on(const config::ExperimentConfig& config, const tune::TuneOptions& options) {
  ProgressLine line;
  return advise::advise(config, options, [&](const std::string& text) { line.show(text); });
}

/// Prints an advice, draws it, and writes the compared runs as a page, with the advice above
/// them.
class Output {
 public:
  /// Opens page and picture before the advice is computed. @throws InputError if they cannot be
  /// written
  explicit Output(const AdviseArguments& arguments)
      : arguments_(arguments),
        notice_(arguments.report.empty() ? arguments.plot : arguments.report),
        picture_(open_plot("advice", arguments.plot, arguments.config.path)) {
    if (arguments.report.empty()) return;
    output::check_not_input(arguments.report, std::array{arguments.config.path});
    page_.emplace(arguments.report);
  }

  void write(const std::string& text, const input::Json& json, const input::Json& compared) {
    print(arguments_.json ? json.dump(2) + "\n" : text);  // first: survives a full disk
    if (page_) {
      page_->stream() << page(arguments_, compared, text);
      page_->keep();
    }
    if (picture_) picture_->draw(json);
  }

 private:
  static std::string page(const AdviseArguments& arguments, const input::Json& compared,
                          const std::string& advice);

  const AdviseArguments& arguments_;
  StopNotice notice_;
  std::optional<PlottedResult> picture_;
  std::optional<output::OutputFile> page_;
};

std::string Output::page(const AdviseArguments& arguments, const input::Json& compared,
                         const std::string& advice) {
  constexpr std::size_t kMostPictures = 24;
  report::ReportInput page{
      .title =
          "Advice for " + std::filesystem::path(name_of(arguments.config.path)).filename().string(),
      .results = report::read_result("advice", compared),
      .pictures = {},
      .version = std::string(output::version()),
      .advice = advice};
  report::fill_in_parameters(page.results);
  page.pictures = report::make_pictures(page.results, kMostPictures);
  return make_report(page);
}

/// Infeasible machines are rows of the table. @throws InputError if all are infeasible
std::vector<advise::MachineAdvice> advise_on_all(const AdviseArguments& arguments,
                                                 const tune::TuneOptions& options) {
  std::vector<advise::MachineAdvice> machines;
  bool any = false;
  for (const RequestedMachine& requested :
       requested_machines(arguments.config, arguments.chips, arguments.slices)) {
    advise::MachineAdvice machine{requested.chip, requested.topology, std::nullopt, {}};
    try {
      machine.advice = advise_on(read_config_file(requested.config).config, options);
      any = true;
    } catch (const input::InputError& error) {
      machine.why_not = error.what();
    }
    machines.push_back(std::move(machine));
  }
  if (!any)
    throw input::InputError(
        "", fmt::format("no requested chip and slice can run: {}", machines.front().why_not));
  return machines;
}

/// Options of HLO programs, given for a configuration.
void check_no_program_options(const AdviseArguments& arguments) {
  const ImportArguments& program = arguments.program;
  const char* const option = first_given({{!program.hardware.empty(), "--hardware"},
                                          {!program.topology.empty(), "--topology"},
                                          {!program.mesh.empty(), "--mesh"},
                                          {!program.device_order.empty(), "--device-order"},
                                          {!program.trip_counts.empty(), "--trip-count"}});
  if (option != nullptr)
    throw input::InputError(
        "", fmt::format("{} applies to HLO programs, but {} is a configuration; set its keys by "
                        "--set instead",
                        option, name_of(arguments.config.path)));
}

/// Options of single collectives, given for a step.
void check_step_options(const AdviseArguments& arguments) {
  const char* const option =
      first_given({{!arguments.chips.empty(), "--chips"}, {!arguments.slices.empty(), "--slices"}});
  if (option != nullptr)
    throw input::InputError("", fmt::format("{} applies to collectives, as the mesh of a step "
                                            "depends on its machine; run advise for each machine",
                                            option));
}

/// Imports an HLO program as a step.
imports::ImportedProgram read_program(const AdviseArguments& arguments, const std::string& text) {
  if (!arguments.config.overrides.empty())
    throw input::InputError("",
                            "--set and --unset apply to configurations, but this is an HLO "
                            "program; 'equarx-sim import hlo -o' makes one of it");
  ImportArguments program = arguments.program;
  program.file = arguments.config.path;
  program.formats.clear();
  return read_hlo(program, text);
}

void advise_on_one(const AdviseArguments& arguments, const config::StepConfig& config) {
  check_step_options(arguments);
  print_warnings(config);
  const tune::TuneOptions options = read_options(arguments);
  Output output(arguments);
  const advise::StepAdvice advice = naming_file(arguments.config.path, [&] {
    ProgressLine line;
    return advise::advise_step(config, options, [&](const std::string& text) { line.show(text); });
  });
  const input::Json made = to_json(advice);
  output.write(to_text(advice), made, made);
}

void advise_on_one(const AdviseArguments& arguments, const config::ExperimentConfig& config) {
  print_warnings(config);
  const tune::TuneOptions options = read_options(arguments);
  Output output(arguments);
  const advise::Advice advice = advise_on(config, options);
  output.write(to_text(advice), to_json(advice), result::to_json(advice.compared, {.links = true}));
}

}  // namespace

void advise(const AdviseArguments& arguments) {
  if (arguments.gates) return print_gates(arguments);
  if (!arguments.ranks.empty())
    throw input::InputError("--ranks", "is for --gates; add it, or set /topology");
  const std::string text = read_text(arguments.config.path);
  if (imports::is_program(text)) {
    const imports::ImportedProgram program = read_program(arguments, text);
    advise_on_one(arguments, config::read_step_config(program.step));
    for (const auto& [note, count] : program.notes)
      print_message(fmt::format("equarx-sim: note: {} ({} x)\n", note, count));
    return;
  }
  check_no_program_options(arguments);
  const input::JsonValue json = read_json(arguments.config, text);
  const config::Config config = read_any(arguments.config.path, json);
  if (std::holds_alternative<config::StepConfig>(config) ||
      (arguments.chips.empty() && arguments.slices.empty()))
    return std::visit([&](const auto& one) { advise_on_one(arguments, one); }, config);
  if (!arguments.report.empty())
    throw input::InputError("", "--report applies to one machine; remove --chips and --slices");
  const tune::TuneOptions options = read_options(arguments);
  const StopNotice notice(arguments.plot);
  std::optional<PlottedResult> picture = open_plot("advice", arguments.plot, arguments.config.path);
  const std::vector<advise::MachineAdvice> machines = advise_on_all(arguments, options);
  print(arguments.json ? to_json(machines).dump(2) + "\n" : to_table(machines));
  if (picture) picture->draw(to_json(machines));
}

}  // namespace equarx::cli
