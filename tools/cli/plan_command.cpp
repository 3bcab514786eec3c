#include "tools/cli/plan_command.hpp"

#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/threads.hpp"
#include "base/output/output_file.hpp"
#include "base/units/quantity.hpp"
#include "experiments/capacity/capacity.hpp"
#include "experiments/capacity/report.hpp"
#include "experiments/config/machine_names.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/comma_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_options.hpp"
#include "tools/cli/help_texts.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/progress_line.hpp"

namespace equarx::cli {
namespace {

using input::InputError;

/// Arguments of `plan`.
struct PlanArguments {
  std::string model;
  std::uint64_t isl = 1024;
  std::uint64_t osl = 256;
  std::string ttft = "1 s";
  std::string tpot = "50 ms";
  double percentile = 90.0;
  std::string chips = "tpu-v5e,tpu-v6e,h100";
  std::string sizes = "1,2,4,8,16";
  std::string precisions = "bf16,fp8,zeroquant,weight-only-int4";
  std::string kv = "bf16,int8-row";
  std::string collectives = "bf16,int8";
  std::vector<std::string> prices;
  double requests_per_s = 0.0;  ///< 0: not given
  std::string output;           ///< empty: none
  bool json = false;
};

double limit(const std::string& text, const char* option) {
  try {
    const double seconds = units::parse(text, units::Dimension::time);
    if (seconds > 0.0) return seconds;
    throw InputError(option, fmt::format("\"{}\" is not above 0", text));
  } catch (const std::invalid_argument& error) {
    throw InputError(option, error.what());
  }
}

std::uint32_t size(const std::string& text) {
  constexpr std::uint32_t kMost = 1024;
  std::uint32_t chips = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), chips);
  if (error != std::errc{} || end != text.data() + text.size() || chips == 0 || chips > kMost)
    throw InputError(
        "--sizes",
        fmt::format("'{}' is not a number of chips from 1 to {}; use 1,2,4,8", text, kMost));
  return chips;
}

/// A price of a chip, like "$1.2/h".
double dollars_per_hour(const std::string& text) {
  try {
    const double price = units::parse(text, units::Dimension::price);
    if (price > 0.0) return price;
    throw InputError("--price", fmt::format("\"{}\" is not above 0", text));
  } catch (const std::invalid_argument& error) {
    throw InputError("--price", error.what());
  }
}

capacity::Request request_of(const PlanArguments& arguments) {
  capacity::Request request{.model = arguments.model,
                            .prompt = arguments.isl,
                            .output = arguments.osl,
                            .ttft_s = limit(arguments.ttft, "--ttft"),
                            .tpot_s = limit(arguments.tpot, "--tpot"),
                            .percentile = arguments.percentile / 100.0,
                            .precisions = split_at_commas(arguments.precisions),
                            .kv = split_at_commas(arguments.kv),
                            .collectives = split_at_commas(arguments.collectives)};
  for (const std::string& chip : split_at_commas(arguments.chips))
    request.chips.push_back(config::chip_name(chip));
  request.sizes.clear();
  for (const std::string& one : split_at_commas(arguments.sizes))
    request.sizes.push_back(size(one));
  for (const std::string& price : arguments.prices) {
    const std::size_t equals = price.find('=');
    if (equals == std::string::npos)
      throw InputError("--price", fmt::format("'{}' names no chip; use tpu-v5e='$1.2/h'", price));
    request.dollars_per_hour[config::chip_name(price.substr(0, equals))] =
        dollars_per_hour(price.substr(equals + 1));
  }
  if (arguments.requests_per_s > 0.0) request.requests_per_s = arguments.requests_per_s;
  return request;
}

void plan_capacity(const PlanArguments& arguments) {
  const capacity::Request request = request_of(arguments);
  std::optional<output::OutputFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);
  const capacity::Plan plan = [&] {
    ProgressLine line;
    return capacity::plan(request, {.threads = os::default_threads(),
                                    .part = [&](const std::string& part) { line.show(part); },
                                    .progress = [&](double share) { line.share(share); }});
  }();
  print(arguments.json ? capacity::to_json(plan).dump(2) + "\n" : capacity::to_text(plan));
  if (!file) return;
  if (plan.ranked.empty())
    throw InputError("--output", "nothing meets the limits, so there is no configuration to write");
  file->stream() << capacity::configuration(request, plan.ranked.front())->dump(2) << '\n';
  file->keep();
}

void add_choices(CLI::App& command, PlanArguments& arguments) {
  command.add_option("--chips", arguments.chips, "Built-in chips or hardware files, by commas")
      ->type_name("CHIPS")
      ->capture_default_str();
  command.add_option("--sizes", arguments.sizes, "Numbers of chips of a replica, by commas")
      ->type_name("COUNTS")
      ->capture_default_str();
  command.add_option("--precisions", arguments.precisions, "Schemes of the weights (docs/gemm.md)")
      ->type_name("NAMES")
      ->capture_default_str();
  command
      .add_option("--kv", arguments.kv,
                  "Formats of the KV cache: bf16 or stored formats, by commas")
      ->type_name("NAMES")
      ->capture_default_str();
  command
      .add_option("--collectives", arguments.collectives, "Formats of the AllReduces, by commas")
      ->type_name("NAMES")
      ->capture_default_str();
}

}  // namespace

void add_plan(CLI::App& app) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand(
      "plan", "Plan capacity: chips and formats that serve a load within limits of latency");
  command->footer(kPlanFooter);
  command
      ->add_option("--model", arguments->model,
                   "Built-in model, model file, or config.json of Hugging Face")
      ->type_name("NAME")
      ->transform(or_installed())
      ->required();
  command->add_option("--isl", arguments->isl, "Tokens of a prompt")
      ->type_name("TOKENS")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24))
      ->capture_default_str();
  command->add_option("--osl", arguments->osl, "Tokens of an output")
      ->type_name("TOKENS")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{1} << 24))
      ->capture_default_str();
  command->add_option("--ttft", arguments->ttft, "Limit of the time to first token")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--tpot", arguments->tpot, "Limit of the time per output token")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--percentile", arguments->percentile,
                   "Percentage of requests that meet both limits")
      ->type_name("PERCENT")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  add_choices(*command, *arguments);
  command
      ->add_option("--price", arguments->prices,
                   "Price of a chip, like tpu-v5e='$1.2/h' (default: the chip's); may be repeated")
      ->type_name("CHIP=PRICE")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--requests-per-s", arguments->requests_per_s,
                   "Load of all replicas: also states how many are needed")
      ->type_name("RATE")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--output,-o", arguments->output,
                   "Write the configuration of the best candidate, for 'equarx-sim serve'")
      ->type_name(kFile);
  command->add_flag("--json", arguments->json, "Print one JSON object instead of a table");
  command->callback([arguments] { plan_capacity(*arguments); });
}

}  // namespace equarx::cli
