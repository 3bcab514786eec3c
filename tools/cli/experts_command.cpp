#include "tools/cli/experts_command.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/input/json.hpp"
#include "experiments/config/stored_json.hpp"
#include "experiments/inspect/experts.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/stored_command.hpp"

namespace equarx::cli {
namespace {

/// Name of the format without encoding.
constexpr const char* kPlain = "bf16";

/// Arguments of `experts`.
struct ExpertsArguments {
  std::string activations;  ///< empty: drawn
  std::string dispatch = "e4m3-row128";
  std::string combine = kPlain;
  inspect::ExpertsRequest request;
  bool json = false;
};

std::optional<stored::StoredFormat> format_of(const std::string& name, const char* option) {
  if (name == kPlain) return std::nullopt;
  return config::load_stored_format(name, option);
}

void exchange(ExpertsArguments& arguments) {
  const experts::ExchangeFormats formats{.dispatch = format_of(arguments.dispatch, "--dispatch"),
                                         .combine = format_of(arguments.combine, "--combine")};
  if (!arguments.activations.empty())
    arguments.request.activations = open_tensor(arguments.activations, "", "a file of its own");
  const inspect::ExpertsReport report =
      naming_options("", [&] { return inspect::exchange(arguments.request, formats); });
  print(arguments.json ? to_json(report).dump(2) + "\n" : to_table(report));
}

}  // namespace

void add_experts(CLI::App& app) {
  const auto arguments = std::make_shared<ExpertsArguments>();
  CLI::App* command = app.add_subcommand(
      "experts", "Exchange tokens of experts in a format and report the error of their sums");
  command->footer(kExpertsFooter);
  command
      ->add_option("--activations", arguments->activations,
                   "Tokens: .npy or .safetensors file, [tokens, width]; none: drawn")
      ->type_name(kPath)
      ->transform(or_installed());
  const auto add_format = [&](const char* name, std::string& format, const char* meaning) {
    command->add_option(name, format, meaning)
        ->transform(or_installed())
        ->type_name("NAME")
        ->capture_default_str();
  };
  add_format("--dispatch", arguments->dispatch,
             "Format of tokens on their way to experts (docs/stored_formats.md), or bf16");
  add_format("--combine", arguments->combine, "Format of results on their way back");
  const auto add_count = [&](const char* name, std::uint32_t& count, int most,
                             const char* meaning) {
    command->add_option(name, count, meaning)
        ->check(CLI::Range(1, most))
        ->type_name("COUNT")
        ->capture_default_str();
  };
  add_count("--experts", arguments->request.experts, 4096, "Experts of the layer");
  add_count("--top-k", arguments->request.top_k, 4096, "Experts of a token");
  add_count("--hidden", arguments->request.hidden, 1 << 16, "Inner width of an expert");
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command->callback([arguments] { exchange(*arguments); });
}

}  // namespace equarx::cli
