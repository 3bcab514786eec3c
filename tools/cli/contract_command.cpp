#include "tools/cli/contract_command.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/input/json.hpp"
#include "experiments/contract/report.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/plotted_result.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/stop_notice.hpp"

namespace equarx::cli {
namespace {

/// Arguments of `contract`.
struct ContractArguments {
  ConfigArguments config;
  bool json = false;
  bool quick = false;  ///< without other sizes and ranks
  std::string plot;    ///< picture; empty for none
};

void contract(const ContractArguments& arguments) {
  const ConfigFile file = read_config_file(arguments.config);
  print_warnings(file.config);
  const StopNotice notice(arguments.plot);
  std::optional<PlottedResult> picture =
      open_plot("contract", arguments.plot, arguments.config.path);
  const contract::Contract made = [&] {
    ProgressLine line;
    return naming_file(arguments.config.path, [&] {
      return contract::make_contract(
          file.config, {.sizes = !arguments.quick,
                        .ranks = !arguments.quick,
                        .progress = [&](const std::string& part) { line.show(part); }});
    });
  }();
  const input::Json json = to_json(made);
  print(arguments.json ? json.dump(2) + "\n" : to_text(made));
  if (picture) picture->draw(json);
}

}  // namespace

void add_contract(CLI::App& app) {
  const auto arguments = std::make_shared<ContractArguments>();
  CLI::App* command = app.add_subcommand(
      "contract", "What collectives do to numbers: types, roundings, ranges, and whose bits agree");
  command->footer(kContractFooter);
  add_config(*command, arguments->config);
  command->add_flag("--quick", arguments->quick, "Without other sizes and fewer ranks");
  command
      ->add_option("--plot", arguments->plot,
                   "Also draw times, errors, ULP and sizes to this .svg, .png or .pdf file (needs "
                   "Python with matplotlib)")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json, "Print one JSON object instead of tables");
  command->callback([arguments] { contract(*arguments); });
}

}  // namespace equarx::cli
