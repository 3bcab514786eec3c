#include "tools/cli/serve_command.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/input/json.hpp"
#include "base/os/threads.hpp"
#include "base/output/files.hpp"
#include "base/output/output_file.hpp"
#include "experiments/config/serving_json.hpp"
#include "experiments/serve/metrics.hpp"
#include "experiments/serve/report.hpp"
#include "experiments/serve/serve.hpp"
#include "experiments/serve/trace.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

/// Arguments of `serve`.
struct ServeArguments {
  ConfigArguments config;
  std::string trace;  ///< empty: none
  bool uncertainty = false;
  bool resolved = false;
  bool requests = false;
  bool json = false;
};

serve::ServeResult run(const ServeArguments& arguments, const config::ServingConfig& config) {
  ProgressLine line;
  return naming_file(arguments.config.path, [&] {
    return serve::serve(config, {.threads = os::default_threads(),
                                 .uncertainty = arguments.uncertainty,
                                 .steps = !arguments.trace.empty(),
                                 .part = [&](const std::string& part) { line.show(part); },
                                 .progress = [&](double share) { line.share(share); }});
  });
}

void serve_load(const ServeArguments& arguments) {
  const config::ServingConfig config =
      read_serving(arguments.config.path, read_json(arguments.config));
  if (arguments.resolved) {
    print(config::to_json(config).dump(2) + "\n");
    return;
  }
  std::optional<output::OutputFile> trace;
  if (!arguments.trace.empty()) {
    output::check_not_input(arguments.trace, std::array{arguments.config.path, config.trace});
    trace.emplace(arguments.trace);
  }
  const serve::ServeResult result = run(arguments, config);
  print(arguments.json ? serve::to_json(result, arguments.requests).dump(2) + "\n"
                       : serve::to_table(result));
  if (!trace) return;
  serve::write_trace(trace->stream(), result);
  trace->keep();
}

}  // namespace

void add_serve(CLI::App& app) {
  const auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand(
      "serve", "Simulate a served model under a load: time to first token, per token, throughput");
  command->footer(kServeFooter);
  add_config(*command, arguments->config);
  command
      ->add_option("--trace", arguments->trace,
                   "Also write steps and requests to this file, for Perfetto (docs/traces.md)")
      ->type_name(kFile);
  command->add_flag("--uncertainty", arguments->uncertainty,
                    "Add 68 % intervals: the same load on machines with drawn parameters (up to "
                    "200, fewer for large loads, or as in /uncertainty)");
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command->add_flag("--requests", arguments->requests,
                    "With --json: also the times of every request");
  command->add_flag("--resolved", arguments->resolved,
                    "Print the configuration with all defaults filled in, and do not run it");
  command->callback([arguments] { serve_load(*arguments); });
}

}  // namespace equarx::cli
